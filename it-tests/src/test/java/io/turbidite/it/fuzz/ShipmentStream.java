package io.turbidite.it.fuzz;

import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.ship.Reception;
import io.turbidite.lsm.ship.Shipment;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.List;

/** The stream of a shipment is the input. */
final class ShipmentStream implements Decoder.Run {
    private final byte[] sound;

    private ShipmentStream(byte[] sound) {
        this.sound = sound;
    }

    static ShipmentStream create() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (Store store = StoreFiles.open(StoreFiles.written());
                Shipment shipment = store.openShipment()) {
            shipment.writeTo(out, 0);
        }
        return new ShipmentStream(out.toByteArray());
    }

    @Override
    public List<byte[]> seeds() {
        return List.of(sound);
    }

    @Override
    public void decode(byte[] input) {
        SimClock clock = new SimClock();
        SimDisk target = new SimDisk(1, Profile.STRICT);
        try (SimTasks tasks = new SimTasks(1, clock)) {
            Reception.receive(new ByteArrayInputStream(input), target, tasks, clock);
        }
        try (Store store = StoreFiles.open(target)) {
            store.verify();
        }
    }
}
