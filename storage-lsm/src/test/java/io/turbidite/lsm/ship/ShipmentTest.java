package io.turbidite.lsm.ship;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.SubDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.harness.BackupRound;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.harness.Workload;
import io.turbidite.lsm.version.Manifest;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A shipment that is sent while writers go on equals the oracle at its timestamp; whatever happens
 * to the stream, to the power or to the disk at the receiver, there is a whole store or none; and
 * what broke goes on.
 */
class ShipmentTest {
    private static final int ROUNDS = Tier.count(3, 10, 500);

    private final long seed = Seeds.of("ShipmentTest");

    /** A stream that does something before each chunk. */
    private static final class Wire extends OutputStream {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final Runnable before;

        Wire(Runnable before) {
            this.before = before;
        }

        @Override
        public void write(int b) {
            throw new AssertionError("a byte at a time");
        }

        @Override
        public void write(byte[] source, int offset, int length) {
            before.run();
            bytes.write(source, offset, length);
        }
    }

    private static byte[] ship(Store store) {
        try (Shipment shipment = store.openShipment()) {
            return send(shipment, 0);
        }
    }

    private static byte[] send(Shipment shipment, int received) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        var _ = shipment.writeTo(out, received);
        return out.toByteArray();
    }

    private static ShipmentReport receive(byte[] stream, Disk target) {
        SimClock clock = new SimClock();
        try (SimTasks tasks = new SimTasks(1, clock)) {
            return Reception.receive(new ByteArrayInputStream(stream), target, tasks, clock);
        }
    }

    private static SimDisk newDisk() {
        return new SimDisk(1, Profile.STRICT);
    }

    /** Whether a directory is a store; if not, it says why. */
    private boolean isStore(SimDisk disk) {
        if (disk.exists(StoreFiles.MANIFEST)) {
            return true;
        }
        if (!disk.list("").isEmpty()) {
            assertThat(disk.exists(StoreFiles.INCOMPLETE)).isTrue();
            assertThatThrownBy(() -> SimStore.open(disk.copy(), seed, BackupRound.OPTIONS))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("interrupted")
                    .message()
                    .matches(text -> text.contains("same shipment again")
                            == disk.exists(StoreFiles.SHIPMENT));
        }
        return false;
    }

    /** The component files and bitmaps in the store's directory that no manifest names. */
    private static List<String> orphans(BackupRound round) {
        round.sim.tasks.runForMicros(5_000_000); // merged components go in the background
        SimDisk disk = round.disk.copy();
        String manifest = Manifest.open(SubDisk.of(disk, "store")).state().toString();
        return disk.list("store/data").stream()
                .filter(name -> !manifest.contains("fileId="
                        + Math.max(StoreFiles.componentFileId(name), StoreFiles.bitmapFileId(name))
                        + ","))
                .toList();
    }

    @Test
    void a_shipment_under_load_equals_the_oracle_at_its_timestamp() {
        for (int i = 0; i < ROUNDS; i++) {
            BackupRound round = new BackupRound(Seeds.mix(seed, i));
            SimDisk target = newDisk();
            try (Shipment shipment = round.sim.store.openShipment()) {
                Wire wire = new Wire(() -> {
                    round.write();
                    round.write();
                });
                ShipmentReport sent = shipment.writeTo(wire, 0);
                round.sim.store.dataset(Workload.INDEXED).flush();
                round.sim.store.dataset(Workload.INDEXED).mergeAll();
                ShipmentReport received = receive(wire.bytes.toByteArray(), target);
                assertThat(received).isEqualTo(sent);
                assertThat(sent.sent()).isEqualTo(shipment.fileCount());
                assertThat(sent.bytes()).isEqualTo(shipment.bytes());
                assertThat(round.oracle.commitCount())
                        .isGreaterThan(
                                round.commits.floorEntry(sent.timestamp()).getValue());
                // it is what it was, whatever has been merged since
                assertThat(send(shipment, 0)).isEqualTo(wire.bytes.toByteArray());
            }
            round.checkBackup(target.copy(), "");
            round.checkBackup(target.crashImage(i), "");
            assertThat(target.list("")).doesNotContain(StoreFiles.SHIPMENT, StoreFiles.INCOMPLETE);
            assertThat(orphans(round)).isEmpty();
            round.workload.check(round.sim.store);
            round.sim.verify();
            round.sim.close();
            assertThat(round.disk.openHandles()).isEmpty();
            assertThat(target.openHandles()).isEmpty();
        }
    }

    @Test
    void a_stream_with_any_byte_wrong_gives_no_store() {
        byte[] stream = small();
        for (int at = 0; at < stream.length; at++) {
            byte[] damaged = stream.clone();
            damaged[at] ^= (byte) (1 << Math.floorMod(Seeds.mix(seed, at), 8));
            SimDisk target = newDisk();
            assertThatThrownBy(() -> receive(damaged, target))
                    .as("byte %d of %d", at, stream.length)
                    .isInstanceOf(CorruptionException.class);
            assertThat(isStore(target)).isFalse();
            assertThat(target.openHandles()).isEmpty();
        }
        System.out.printf("ShipmentTest: %d bytes flipped%n", stream.length);
    }

    @Test
    void a_stream_cut_anywhere_gives_no_store_and_the_whole_one_goes_on() {
        byte[] stream = small();
        long hash = 0;
        for (int length = 0; length < stream.length; length++) {
            byte[] cut = Arrays.copyOf(stream, length);
            SimDisk target = newDisk();
            assertThatThrownBy(() -> receive(cut, target))
                    .isInstanceOf(CorruptionException.class)
                    .hasMessageContaining("at its end");
            assertThat(isStore(target)).isFalse();
            if (length % 7 == 0) {
                int present = Reception.fileCount(target);
                ShipmentReport report = receive(stream, target);
                assertThat(report.kept()).isEqualTo(present);
                try (SimStore store = SimStore.open(target, seed, BackupRound.OPTIONS)) {
                    long found = store.contentHash();
                    hash = length == 0 ? found : hash;
                    assertThat(found).isEqualTo(hash);
                }
            }
        }
    }

    /** The stream of a store with one dataset, one record on disk and one in memory. */
    private byte[] small() {
        try (SimStore sim = SimStore.open(newDisk(), seed, BackupRound.OPTIONS)) {
            Dataset dataset = sim.store.createDataset(Row.blindSpec("Small"));
            dataset.upsert(new Row(1, "user", 1, null, "on disk").toMap());
            dataset.flush();
            dataset.upsert(new Row(2, "user", 2, null, "in memory").toMap());
            return ship(sim.store);
        }
    }

    @Test
    void a_power_cut_at_the_receiver_leaves_a_whole_store_or_one_that_can_go_on() {
        int whole = 0;
        int beginnings = 0;
        int kept = 0;
        for (int i = 0; i < ROUNDS; i++) {
            BackupRound round = new BackupRound(Seeds.mix(seed, 1_000 + i));
            byte[] stream = ship(round.sim.store);
            List<SimDisk> images = new ArrayList<>();
            SimDisk target = newDisk();
            target.onOperation(step -> {
                long cut = Seeds.mix(round.seed, images.size());
                Profile profile =
                        List.of(Profile.values()).get((int) Long.remainderUnsigned(cut, 3));
                images.add(target.crashImage(cut, profile));
            });
            var _ = receive(stream, target);
            for (SimDisk image : images) {
                if (isStore(image)) {
                    whole++;
                } else if (image.exists(StoreFiles.SHIPMENT) || image.list("").isEmpty()) {
                    beginnings++;
                    kept += receive(stream, image).kept();
                } else {
                    continue; // between both marks, for a moment: to be deleted
                }
                round.checkBackup(image, "");
                assertThat(image.list(""))
                        .doesNotContain(StoreFiles.SHIPMENT, StoreFiles.INCOMPLETE);
            }
            round.sim.close();
        }
        System.out.printf(
                "ShipmentTest: %d whole after a cut, %d beginnings that went on with %d files%n",
                whole, beginnings, kept);
        assertThat(whole).isPositive();
        assertThat(kept).isPositive();
    }

    @Test
    void a_broken_stream_goes_on_behind_the_last_whole_file() {
        BackupRound round = new BackupRound(Seeds.mix(seed, 2_000));
        try (Shipment shipment = round.sim.store.openShipment()) {
            byte[] all = send(shipment, 0);
            SimDisk target = newDisk();
            assertThatThrownBy(() -> receive(Arrays.copyOf(all, all.length * 2 / 3), target))
                    .isInstanceOf(CorruptionException.class);
            int present = Reception.fileCount(target);
            assertThat(present).isBetween(1, shipment.fileCount() - 1);
            round.write();
            // one that leaves out too much is refused, and changes nothing
            List<String> before = target.files();
            assertThatThrownBy(() -> receive(send(shipment, present + 1), target))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("leaves out");
            assertThat(target.files()).isEqualTo(before);
            byte[] rest = send(shipment, present);
            assertThat(rest).hasSizeLessThan(all.length);
            ShipmentReport report = receive(rest, target);
            assertThat(report.kept()).isEqualTo(present);
            assertThat(report.sent()).isEqualTo(shipment.fileCount() - present);
            round.checkBackup(target, "");
        }
        round.sim.close();
    }

    @Test
    void what_was_kept_and_is_damaged_is_received_again() {
        BackupRound round = new BackupRound(Seeds.mix(seed, 3_000));
        byte[] stream = ship(round.sim.store);
        SimDisk target = newDisk();
        assertThatThrownBy(() -> receive(Arrays.copyOf(stream, stream.length - 1), target))
                .isInstanceOf(CorruptionException.class);
        int present = Reception.fileCount(target);
        assertThat(present).isPositive();
        String last = StoreFiles.DATA + "/" + target.list(StoreFiles.DATA).getLast();
        target.flipBit(last, 200, 1);
        assertThat(receive(stream, target).kept()).isLessThan(present);
        round.checkBackup(target, "");
        round.sim.close();
    }

    @Test
    void a_directory_with_anything_else_is_refused_and_left_as_it_is() {
        BackupRound round = new BackupRound(Seeds.mix(seed, 4_000));
        byte[] stream = ship(round.sim.store);
        SimDisk precious = newDisk();
        precious.create("precious").close();
        SimDisk store = newDisk();
        SimStore.open(store, seed, BackupRound.OPTIONS).close();
        SimDisk received = newDisk();
        var _ = receive(stream, received);
        SimDisk other = newDisk();
        round.write();
        byte[] next = ship(round.sim.store);
        assertThatThrownBy(() -> receive(Arrays.copyOf(next, next.length - 1), other))
                .isInstanceOf(CorruptionException.class);
        for (SimDisk taken : List.of(precious, store, received, other)) {
            List<String> before = taken.files();
            assertThatThrownBy(() -> receive(stream, taken))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageMatching(".*(not empty|another shipment).*");
            assertThat(taken.files()).isEqualTo(before);
        }
        try (Shipment shipment = round.sim.store.openShipment()) {
            assertThatThrownBy(() -> send(shipment, shipment.fileCount() + 1))
                    .isInstanceOf(InvalidRequestException.class);
            SimDisk empty = newDisk();
            assertThatThrownBy(() -> receive(send(shipment, 1), empty))
                    .isInstanceOf(InvalidRequestException.class);
            assertThat(empty.list("")).isEmpty();
        }
        round.sim.close();
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void a_failing_disk_at_the_receiver_leaves_no_store_or_one_that_is_whole(Fault fault) {
        BackupRound round = new BackupRound(Seeds.mix(seed, 5_000));
        byte[] stream = ship(round.sim.store);
        int failed = 0;
        for (int call = 1; call < 80; call++) {
            SimDisk target = newDisk();
            target.fault(FaultScript.with(fault).call(call));
            try {
                var _ = receive(stream, target);
            } catch (StorageException expected) {
                failed++;
            }
            target.clearFaults();
            if (isStore(target)) {
                round.checkBackup(target.copy(), "");
            } else if (target.exists(StoreFiles.SHIPMENT)) {
                var _ = receive(stream, target);
                round.checkBackup(target, "");
            }
            assertThat(target.openHandles()).isEmpty();
        }
        assertThat(failed).isPositive();
        round.sim.close();
    }

    @Test
    void a_failing_disk_at_the_sender_fails_the_shipment_and_leaves_nothing() {
        int failed = 0;
        for (int call = 1; call < 40; call++) {
            BackupRound round = new BackupRound(Seeds.mix(seed, 6_000 + call % 3));
            round.disk.fault(FaultScript.with(Fault.ENOSPC)
                    .named(name -> name.startsWith("store/data"))
                    .call(call));
            try {
                byte[] _ = ship(round.sim.store);
            } catch (StorageException expected) {
                failed++;
            }
            round.disk.clearFaults();
            // the call may have been a deletion
            assertThat(orphans(round)).hasSizeLessThanOrEqualTo(1);
            round.write();
            round.workload.check(round.sim.store);
            round.sim.close();
            assertThat(round.disk.openHandles()).isEmpty();
        }
        assertThat(failed).isPositive();
    }

    @Test
    void a_sender_that_loses_power_recovers_without_the_files_of_the_shipment() {
        BackupRound round = new BackupRound(Seeds.mix(seed, 7_000));
        try (Shipment shipment = round.sim.store.openShipment()) {
            assertThat(orphans(round)).isNotEmpty();
            assertThat(shipment.fileCount()).isPositive();
            SimDisk image = round.disk.crashImage(1);
            try (SimStore store = round.openAt(image, "store")) {
                assertThat(store.contentHash())
                        .isEqualTo(round.oracle.hashAfter(round.oracle.commitCount()));
                store.verify();
            }
        }
        assertThat(orphans(round)).isEmpty();
        round.sim.close();
    }

    @Test
    void a_stream_that_fails_or_a_store_that_closes_says_so() {
        BackupRound round = new BackupRound(Seeds.mix(seed, 8_000));
        try (Shipment shipment = round.sim.store.openShipment()) {
            OutputStream broken = new OutputStream() {
                @Override
                public void write(int b) throws IOException {
                    throw new IOException("nobody listens");
                }
            };
            assertThatThrownBy(() -> shipment.writeTo(broken, 0))
                    .isInstanceOf(StorageIoException.class)
                    .hasMessageContaining("nobody listens");
            round.sim.close();
            assertThatThrownBy(() -> send(shipment, 0)).isInstanceOf(ClosedException.class);
        }
        assertThat(round.disk.openHandles()).isEmpty();
    }

    @Test
    void a_shipment_tells_that_it_was_sent() {
        BackupRound round = new BackupRound(Seeds.mix(seed, 9_000));
        try (Shipment shipment = round.sim.store.openShipment()) {
            byte[] _ = send(shipment, 0);
            assertThat(round.sim.store.events().recent())
                    .filteredOn(StoreEvent.Shipped.class::isInstance)
                    .singleElement()
                    .satisfies(event -> {
                        StoreEvent.Shipped sent = (StoreEvent.Shipped) event;
                        assertThat(sent.timestamp()).isEqualTo(shipment.timestamp());
                        assertThat(sent.bytes()).isEqualTo(shipment.bytes());
                    });
            assertThat(round.sim.store.meters().counter("shipment.bytes").sum())
                    .isEqualTo(shipment.bytes());
        }
        round.sim.close();
    }
}
