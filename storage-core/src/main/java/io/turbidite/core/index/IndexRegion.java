package io.turbidite.core.index;

import io.turbidite.core.bytes.Slice;

import org.jspecify.annotations.Nullable;

import java.util.Map;
import java.util.function.Consumer;

/**
 * What a kind of index keeps of one index of one partition: entries of secondary key, primary key
 * and timestamp, and of each primary key the newest timestamp that it was told.
 *
 * <p><em>Thread-safe</em> for one writer and any readers. The writer takes in one layer of the
 * store after the other, each newer than those before ({@link #absorb}); only that changes what is
 * there. A region has no past: an entry stays until its successor is at or below the horizon, and a
 * reader passes over entries that are newer than what its own layers leave to the region.
 */
public interface IndexRegion extends AutoCloseable {
    /** Up to which timestamp the region is whole. */
    long absorbedThrough();

    /**
     * The largest timestamp that any absorption was to end with when it was opened: a cut one, and
     * one that an opening took back, count too, however often the region is opened. If the store
     * does not know so many timestamps, it is older than its region.
     */
    long foundThrough();

    /**
     * Begins to take in a layer.
     *
     * @param horizon nobody reads below it: what was superseded at or below it may go
     * @param through the layer's last timestamp; written down before anything is changed
     */
    Absorption absorb(long horizon, long through);

    /**
     * Looks after some of the keys that readers met stale entries of, if there are any and no
     * absorption is under way; for when nobody writes.
     *
     * @param horizon as of {@link #absorb}
     * @return whether it did something: there may be more
     * @throws io.turbidite.core.StorageException if it failed; then the region is not to be used
     *     any more
     */
    boolean tidy(long horizon);

    /**
     * Reads all of it and tells what is not as it must be: damage, a table that knows less than
     * there is, a page that is free and used. An absorption waits meanwhile.
     *
     * @param wrong gets each finding, in a sentence
     */
    void verify(Consumer<String> wrong);

    /** A reader of its own for each thread. */
    Reader reader();

    /**
     * About how many entries lie in a range of secondary keys, stale ones too.
     *
     * @param low at or above it; null for the smallest
     * @param high below it; null for no bound
     */
    long estimate(@Nullable Slice low, @Nullable Slice high);

    /** How many entries there are, stale ones too. */
    long entryCount();

    /** Bytes of file or memory that it takes. */
    long byteSize();

    /** What people may want to know, by name; its mode first. */
    Map<String, String> statistics();

    /** Lets everything go, cleanly unless an absorption is under way. */
    @Override
    void close();

    /**
     * A layer on its way in: first its versions, then its entries, then the end. If that does not
     * come, the region is not to be used any more but to be closed.
     */
    interface Absorption {
        /**
         * The newest operation on a primary key in the layer.
         *
         * @param hasEntry whether it has an entry: not if it is a delete
         * @param entryCount how many entries of the layer are of that primary key
         */
        void version(Slice primaryKey, long timestamp, boolean hasEntry, int entryCount);

        /** An entry of the layer: by secondary key and then by timestamp, ascending. */
        void entry(Slice secondaryKey, Slice primaryKey, long timestamp);

        /**
         * The region is whole up to a timestamp now, and as durable as its mode promises.
         *
         * @param absorbed the layer's last timestamp, as {@link IndexRegion#absorb} was told
         */
        void commit(long absorbed);
    }

    /** Finds entries. <em>Confined to one thread at a time.</em> */
    interface Reader extends AutoCloseable {
        /**
         * Finds the first secondary key at or above another that has entries, and gives those that
         * may be valid.
         *
         * @param from null for the smallest of all
         * @param inclusive false for the first key above {@code from}
         * @param until what the key must be below; null for no bound
         * @param moment what the reader sees
         * @param into gets key and entries; what was in it is forgotten
         * @return whether there is one
         */
        boolean above(
                @Nullable Slice from,
                boolean inclusive,
                @Nullable Slice until,
                Moment moment,
                RegionEntries into);

        /** The same for the last secondary key below another; null for the last of all. */
        boolean below(@Nullable Slice from, Moment moment, RegionEntries into);

        /**
         * Gives entries of one secondary key that may be valid, the newest first. Those of one
         * timestamp come together, in no order.
         *
         * @param moment what the reader sees
         * @param below entries at or above this timestamp are passed over
         * @param countMax with as many it ends, when all of the last timestamp are given
         * @param into gets key and entries; what was in it is forgotten
         * @return whether there may be more below the last one
         */
        boolean newest(
                Slice secondaryKey, Moment moment, long below, int countMax, RegionEntries into);

        /** What {@link #newest} took of this reader so far. */
        default Work work() {
            return Work.NONE;
        }

        @Override
        void close();
    }

    /**
     * What searches took.
     *
     * @param groupCount groups of entries that were read
     * @param entryCount entries among them
     * @param staleCount of these, those that are obsolete
     * @param blockCount blocks of 256 bytes
     */
    record Work(long groupCount, long entryCount, long staleCount, long blockCount) {
        /** No work. */
        public static final Work NONE = new Work(0, 0, 0, 0);

        /** What was done since an earlier look. */
        public Work since(Work before) {
            return new Work(
                    groupCount - before.groupCount,
                    entryCount - before.entryCount,
                    staleCount - before.staleCount,
                    blockCount - before.blockCount);
        }
    }

    /**
     * What a reader sees of a region.
     *
     * @param snapshot the newest timestamp
     * @param through up to where the region speaks for itself: newer entries are in the reader's
     *     layers
     */
    record Moment(long snapshot, long through) {}
}
