package io.turbidite.feeds;

/** Gets the progress of a feed's run about ten times a second, on the thread that runs it. */
@FunctionalInterface
public interface FeedProgress {
    /**
     * The progress so far.
     *
     * @param records accepted by the store in this run
     * @param rejected dead letters of this run
     * @param sourceBytes how many bytes of the source's files have been read, as stored
     * @param sourceBytesTotal how many bytes the files have
     */
    void at(long records, long rejected, long sourceBytes, long sourceBytesTotal);

    /**
     * What the source reads is away for now; the run waits until it is back. Called once each time.
     *
     * @param why names the feed and what is away
     */
    default void away(String why) {}

    /** Ignores the progress. */
    static FeedProgress none() {
        return (records, rejected, sourceBytes, sourceBytesTotal) -> {};
    }
}
