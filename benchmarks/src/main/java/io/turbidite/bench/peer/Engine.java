package io.turbidite.bench.peer;

import java.util.Map;

/**
 * A store of tweets with secondary indexes on their attributes, kept eagerly. Reads are
 * <em>confined to one thread</em>; each writing thread has a {@link Writer}.
 */
public interface Engine extends AutoCloseable {
    String name();

    /** A writer for one thread. */
    Writer newWriter();

    /** Everything is on disk and no background work is left. */
    void settle();

    /**
     * The first attribute of the tweet with this id; -1 if there is none. The whole record is read.
     */
    int get(long id);

    /** Reads every record; a number that depends on all of them. */
    Answer scan();

    /**
     * Reads every record whose first attribute is from {@code low} to {@code high}, both included,
     * by its index.
     */
    Answer byAttribute(int low, int high);

    /** Bytes of the components. */
    long diskBytes();

    /** Bytes written so far, by what for, as far as the engine tells. */
    default Map<String, Long> writtenParts() {
        return Map.of();
    }

    /** Bytes stored so far to files that are mapped, which no count of write calls knows. */
    default long storedBytes() {
        return 0;
    }

    /**
     * Bytes of zeros written so far to set space aside for the log: once in the life of a store,
     * which uses that space again and again.
     */
    default long aheadBytes() {
        return 0;
    }

    /** What the bytes of the components are, by part, as far as the engine tells. */
    default Map<String, Long> diskParts() {
        return Map.of();
    }

    @Override
    void close();

    /** Writes tweets. <em>Confined to one thread.</em> */
    @FunctionalInterface
    interface Writer {
        void upsert(Tweet tweet);
    }

    /**
     * What a query found, reduced.
     *
     * @param rows records
     * @param sum of a number made of each
     */
    record Answer(long rows, long sum) {
        /** A number made of a record's id, first attribute and length. */
        public static long of(long id, int attribute, int messageBytes) {
            return (id * 31 + attribute) * 31 + messageBytes;
        }
    }
}
