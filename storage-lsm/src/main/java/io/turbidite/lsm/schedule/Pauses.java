package io.turbidite.lsm.schedule;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;
import io.turbidite.lsm.partition.StoreCore;

/** Notes that background work pauses because it can't go on now. Stateless. */
public final class Pauses {
    private Pauses() {}

    /** How many there were in a store. */
    public static Counter count(Meters meters) {
        return meters.counter("background.pauses");
    }

    /**
     * A pause begins.
     *
     * @param work that pauses, for people
     * @param nanos until it is tried again
     */
    public static void begin(StoreCore core, String work, Throwable cause, long nanos) {
        count(core.meters()).increment();
        core.events().paused(work, cause, nanos);
    }
}
