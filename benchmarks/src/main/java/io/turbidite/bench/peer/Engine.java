package io.turbidite.bench.peer;

/** A store of tweets with a secondary index on the user, kept eagerly. <em>Confined to one thread.</em> */
public interface Engine extends AutoCloseable {
    String name();

    void upsert(Tweet tweet);

    /** Everything is on disk and no background work is left. */
    void settle();

    /** The user of the tweet with this id; -1 if there is none. The whole record is read. */
    int get(long id);

    /** Reads every record; a number that depends on all of them. */
    Answer scan();

    /** Reads every record whose user is from {@code low} to {@code high}, both included, by the index. */
    Answer byUser(int low, int high);

    /** Bytes of all files. */
    long diskBytes();

    @Override
    void close();

    /**
     * What a query found, reduced.
     *
     * @param rows records
     * @param sum of a number made of each
     */
    record Answer(long rows, long sum) {
        /** A number made of a record's id, user and length. */
        public static long of(long id, int user, int messageBytes) {
            return (id * 31 + user) * 31 + messageBytes;
        }
    }
}
