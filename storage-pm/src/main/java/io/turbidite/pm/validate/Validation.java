package io.turbidite.pm.validate;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.pm.cells.Node;
import io.turbidite.pm.postings.Judge;
import io.turbidite.pm.region.Region;

/**
 * Tells which entries of an index are stale (PERS24 §4.3).
 *
 * <p><em>Thread-safe</em> for one writer and any readers, who are inside an epoch of the region.
 * Readers change nothing. What a memory layer holds is decided there, before anybody asks here.
 *
 * <ol>
 *   <li>Whoever is in no table of stale keys has no stale entry.
 *   <li>A key's newest timestamp and count are durable before its entry is linked; the count goes
 *       down after the entry is gone.
 *   <li>One mark, one decrement: there is one writer.
 * </ol>
 */
public final class Validation implements Judge, AutoCloseable {
    /** Counts end here: a key may have more entries. */
    public static final int COUNT_MAX = VersionWord.COUNT_MAX;

    /** What is known of an entry. */
    public enum Answer {
        /** No newer version. */
        VALID,
        /** A newer version that the reader sees. */
        STALE,
        /** A newer version that the reader does not see: the primary decides at its snapshot. */
        ASK_PRIMARY
    }

    private final Region region;
    private final StaleTable stale;
    private final VersionTable versions;

    /** Keys of entries that are gone and counted still; 1 if the entry was marked. */
    private final HashedKeys gone = new HashedKeys();

    private final Slice goneKey = new Slice();
    private long horizon;

    private Validation(Region region, StaleTable stale, VersionTable versions) {
        this.region = region;
        this.stale = stale;
        this.versions = versions;
    }

    /** Writes empty tables to a region, and says where they begin. */
    public static long create(Region region) {
        return VersionTable.create(region);
    }

    /**
     * Opens the tables of a region, all checked; the table of stale keys is rebuilt on the way.
     *
     * @param account what the table of stale keys may take, and who fills empty tables
     */
    public static Validation open(Region region, MemoryBudget.Account account) {
        StaleTable stale = new StaleTable(region.memory(), region.epochs(), account);
        Validation opened = null;
        try {
            opened = new Validation(region, stale, VersionTable.open(region, stale, account));
            return opened;
        } finally {
            if (opened == null) {
                stale.clear();
            }
        }
    }

    /** Of an entry that a reader met, at its snapshot. */
    public Answer check(Slice primaryKey, long timestamp, long snapshot) {
        long hash = Node.hash(primaryKey);
        if (!stale.isComplete()) {
            return checkInRegion(primaryKey, hash, timestamp, snapshot);
        }
        long found = stale.find(primaryKey, hash);
        if (found == 0) {
            // it may have become incomplete, and empty, meanwhile
            return stale.isComplete()
                    ? Answer.VALID
                    : checkInRegion(primaryKey, hash, timestamp, snapshot);
        }
        return answer(StaleTable.timestamp(found), timestamp, snapshot);
    }

    /** The same by the table in the region alone. */
    public Answer checkInRegion(Slice primaryKey, long timestamp, long snapshot) {
        return checkInRegion(primaryKey, Node.hash(primaryKey), timestamp, snapshot);
    }

    private Answer checkInRegion(Slice primaryKey, long hash, long timestamp, long snapshot) {
        long found = versions.find(primaryKey, hash);
        return found == 0
                ? Answer.ASK_PRIMARY
                : answer(VersionWord.timestamp(found), timestamp, snapshot);
    }

    private static Answer answer(long newest, long timestamp, long snapshot) {
        if (newest == timestamp) {
            return Answer.VALID;
        }
        return newest > timestamp && newest <= snapshot ? Answer.STALE : Answer.ASK_PRIMARY;
    }

    /** How many keys have stale entries; meaningless while {@link #isComplete} is false. */
    public int staleKeyCount() {
        return stale.count();
    }

    /** Whether the table of stale keys has all of them: else the one in the region decides. */
    public boolean isComplete() {
        return stale.isComplete();
    }

    /** Bytes of the table of stale keys. */
    public long staleBytes() {
        return stale.byteSize();
    }

    /** How many keys have a version. */
    public long keyCount() {
        return versions.keyCount();
    }

    /** How many entries the table in the region believes a key has; -1 if it does not know it. */
    public int entryCount(Slice primaryKey) {
        long found = versions.find(primaryKey, Node.hash(primaryKey));
        return found == 0 ? -1 : VersionWord.count(found);
    }

    /** Where the table in the region has a key; -1 if it does not know it. */
    public long placeOf(Slice primaryKey) {
        return versions.placeOf(primaryKey, Node.hash(primaryKey));
    }

    /** The newest timestamp that the table in the region knows of a key; -1 if it knows none. */
    public long newest(Slice primaryKey) {
        long found = versions.find(primaryKey, Node.hash(primaryKey));
        return found == 0 ? -1 : VersionWord.timestamp(found);
    }

    /**
     * How many stale entries the table of stale keys believes a key has; -1 if it has not all keys.
     */
    public int staleCount(Slice primaryKey) {
        return stale.isComplete()
                ? StaleTable.staleCount(stale.find(primaryKey, Node.hash(primaryKey)))
                : -1;
    }

    // ---- the writer -----------------------------------------------------------------------------

    /**
     * The newest operation on a primary key in a layer that is absorbed, before any entry of the
     * layer is linked.
     *
     * @param hasEntry whether that operation has an entry in the index: not if it is a delete
     * @param entryCount how many entries the layer has for the key
     */
    public void absorb(Slice primaryKey, long timestamp, boolean hasEntry, int entryCount) {
        versions.absorb(primaryKey, timestamp, hasEntry, entryCount);
    }

    /** Makes durable what was absorbed; before any entry of the layer is added. */
    public void flush() {
        versions.flush();
        versions.giveBack();
    }

    /** Writes what was absorbed; it counts after {@link #publish}. */
    public void stage() {
        versions.stage();
    }

    /** Makes durable what was staged, and all else that was written in the region before. */
    public void publish() {
        versions.publish();
    }

    /** Below which nobody reads: what was superseded at or below it is garbage. */
    public void setHorizon(long timestamp) {
        horizon = timestamp;
    }

    /**
     * {@inheritDoc}
     *
     * <p>By the table in the region: the other one may have lost the key.
     */
    @Override
    public boolean isGarbage(Slice primaryKey, long timestamp) {
        long hash = Node.hash(primaryKey);
        if (stale.isComplete() && stale.find(primaryKey, hash) == 0) {
            return false;
        }
        long found = versions.find(primaryKey, hash);
        long newest = VersionWord.timestamp(found);
        return found != 0 && newest > timestamp && newest <= horizon;
    }

    /**
     * {@inheritDoc}
     *
     * <p>Counts go down at {@link #release}, or when many wait: those of one block together.
     */
    @Override
    public void collected(Slice primaryKey, boolean wasMarked) {
        if (gone.isFull(primaryKey.length())) {
            countDown();
        }
        gone.add(primaryKey, wasMarked ? 1 : 0);
    }

    private void countDown() {
        gone.sort();
        for (int place = 0; place < gone.count(); place++) {
            int index = gone.at(place);
            Slice key = gone.key(index, goneKey);
            int staleMax = versions.collected(key, gone.hash(index));
            stale.collected(key, gone.hash(index), gone.word(index) == 1, staleMax);
        }
        gone.clear();
    }

    @Override
    public void marked(Slice primaryKey) {
        stale.marked(primaryKey, Node.hash(primaryKey));
    }

    /** Counts what is gone, durably, and lets keys leave that no reader needs. */
    public void release() {
        countDown();
        region.dirty().settle();
        stale.release();
    }

    /** Gives the memory back. */
    @Override
    public void close() {
        stale.clear();
        versions.close();
    }
}
