package io.turbidite.feeds;

/** Is told how a run of a feed gets on, on the thread that runs it, about ten times a second. */
@FunctionalInterface
public interface FeedProgress {
    /**
     * How far it is.
     *
     * @param records accepted by the store in this run
     * @param rejected dead letters of this run
     * @param sourceBytes how much of the source's files has been read, as they lie there
     * @param sourceBytesTotal of how much
     */
    void at(long records, long rejected, long sourceBytes, long sourceBytesTotal);

    /** Nobody wants to know. */
    static FeedProgress none() {
        return (records, rejected, sourceBytes, sourceBytesTotal) -> {};
    }
}
