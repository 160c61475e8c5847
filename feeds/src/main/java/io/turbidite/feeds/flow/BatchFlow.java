package io.turbidite.feeds.flow;

/**
 * The way of batches from the one who reads a source to the one who delivers: a {@link Pipeline},
 * or one that {@linkplain SpilledFlow spills} what it can't take yet. <em>Confined to the thread
 * that reads.</em>
 */
public interface BatchFlow extends AutoCloseable {
    /**
     * An empty batch to fill; waits while there is no room. The same one again until it is
     * published.
     */
    Batch claim();

    /** Whether {@link #claim} waits for nothing: there is room, or the flow has failed. */
    boolean hasRoom();

    /** Whether there is a claimed batch that is not published. */
    boolean hasClaim();

    /** Hands the claimed batch on. */
    void publish();

    /** Whether half of what may wait in memory does. */
    boolean isBehind();

    /** Whether all that was published is delivered, or the flow has failed. */
    boolean isDrained();

    /** Whether {@link #drain} waits for nothing that the store does, or the flow has failed. */
    boolean isSettled();

    /** Whether the flow has ended because the delivery failed: {@link #drain} says how. */
    boolean hasFailed();

    /**
     * Waits until all that was published is delivered, or will be by the next run. What is neither
     * is read again.
     */
    void drain();

    /**
     * Moves on what waits outside of the ring, as far as that waits for nothing. To be called
     * before each turn of reading.
     *
     * @return whether something of an earlier run is yet to be delivered: nothing may be read
     */
    default boolean moveOn() {
        return false;
    }

    /** There is nothing to read for now: what may be acknowledged is, without more coming. */
    default void rest() {}

    /** Whether {@link #moveOn} or {@link #rest} would do something now. */
    default boolean canMoveOn() {
        return false;
    }

    /** Whether nothing waits outside of the ring. */
    default boolean isPassedOn() {
        return true;
    }

    /** Records that went through files in this run. */
    default long spilledCount() {
        return 0;
    }

    /** Bytes of the batches that wait in files. */
    default long spillBytes() {
        return 0;
    }

    /** Ends the flow: {@link #drain} first. */
    @Override
    void close();
}
