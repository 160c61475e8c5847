package io.turbidite.ops.run;

/**
 * Asks after each thousand rows whether to go on, for a loop that gives nothing back in between.
 * <em>Confined to one thread at a time.</em>
 */
public final class StopLooks {
    /** Some tens of microseconds of rows that lie in memory. */
    private static final int LOOKS_BETWEEN_CHECKS = 1_024;

    private final Runnable check;
    private int looks;

    /**
     * @param check throws where whoever waits for the rows has stopped
     */
    public StopLooks(Runnable check) {
        this.check = check;
    }

    /** One more row or entry was looked at; throws what the check does. */
    public void look() {
        if (++looks % LOOKS_BETWEEN_CHECKS == 0) {
            check.run();
        }
    }
}
