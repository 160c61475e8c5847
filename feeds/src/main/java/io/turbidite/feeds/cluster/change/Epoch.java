package io.turbidite.feeds.cluster.change;

/**
 * One life of a controller. <em>Immutable.</em> It is raised at each start; the greater is the
 * later.
 *
 * @param number from 1; 0 before the first controller was heard of
 * @param process a random number of the controller's process: two controllers that started from
 *     copies of one directory have one number and are told apart by it
 */
public record Epoch(long number, long process) {
    /** Before the first. */
    public static final Epoch NONE = new Epoch(0, 0);

    /** The epoch of a controller that starts now. */
    public Epoch next(long newProcess) {
        return new Epoch(number + 1, newProcess);
    }

    @Override
    public String toString() {
        return "epoch %d (process %x)".formatted(number, process);
    }
}
