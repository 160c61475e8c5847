package io.turbidite.bench.pm;

import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.validate.Validation;

/**
 * A secondary index in a region that the figures compare: fed by absorption (versions first, then
 * entries by secondary key and timestamp) or one by one, both between {@link #begin} and {@link
 * #commit}.
 *
 * <p><em>Thread-safe</em> for one writer and any readers, who are inside an epoch of the region.
 */
interface Rival extends AutoCloseable {
    String name();

    Region region();

    Validation validation();

    /**
     * Begins to absorb a layer.
     *
     * @param horizon below which nobody reads
     */
    void begin(long horizon);

    /** The newest operation on a record in the layer; it has one entry. */
    void version(Slice primaryKey, long timestamp);

    void entry(Slice secondaryKey, Slice primaryKey, long timestamp);

    /** Whether {@link #entry} takes the entries of one secondary key newest first. */
    default boolean takesNewestFirst() {
        return false;
    }

    void commit(long timestamp);

    /** One operation, made durable at once. */
    void insert(Slice secondaryKey, Slice primaryKey, long timestamp);

    /** How many entries are there physically. */
    long entryCount();

    /** Looks after secondary keys that readers have met stale entries of, as far as it does. */
    void collect(Slice secondaryKey);

    Search search();

    @Override
    void close();

    /** Finds valid entries. <em>Confined to one thread</em>, and reused. */
    interface Search {
        /**
         * Goes before the newest entry of a key.
         *
         * @param secondaryKey must not change before the last step
         */
        void open(Slice secondaryKey, long snapshot);

        /** Goes to the next valid entry. */
        boolean next();

        Slice primaryKey();

        /** Entries read so far, stale ones too. */
        long entriesRead();

        /**
         * The newest valid entries of each secondary key of a range, as one number.
         *
         * @param from the first secondary key
         * @param to behind the last
         */
        long range(Slice from, Slice to, int limitEach, long snapshot);
    }
}
