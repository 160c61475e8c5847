package io.turbidite.lsm.strategy.validation;

import io.turbidite.core.StorageException;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.KeyCopy;
import io.turbidite.lsm.memory.ChunkSource;
import io.turbidite.lsm.merge.MergeCursor;
import io.turbidite.lsm.schema.RepairOptions;
import io.turbidite.lsm.version.ComponentHandle;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * Which timestamps some key's newest version has, at or below the reach: a bit for each, from one
 * scan over all key trees. An entry of a secondary whose timestamp is none of these is invalid,
 * whatever its key is: that is told without a hash, a sort or a search, and one scan serves all
 * indexes of a partition.
 *
 * <p>The other way round it says nothing: the writes of a batch may have one timestamp, as they had
 * in earlier releases, so an entry may be invalid while another key's of its batch is valid. Those
 * are sorted and searched for as ever.
 *
 * <p><em>Confined to one thread at a time</em> while it is gathered, immutable afterwards, until
 * the owner closes it. Memory: a bit for a timestamp, out of the write memory.
 */
public final class LiveTimestamps implements AutoCloseable {
    private final long reach;
    private final TimestampSet live;
    private final List<TreeCursor> trees;
    private final EntryCursor keys;
    private final KeyCopy decided = new KeyCopy();
    private boolean isComplete;

    /**
     * What a move of the keys threw: they stand nowhere since, and a key that is passed over would
     * seem invalid.
     */
    private @Nullable StorageException lost;

    private boolean closed;
    private long pageCount;

    private LiveTimestamps(
            List<ComponentHandle> components, long base, long reach, ChunkSource memory) {
        this.reach = reach;
        this.live = TimestampSet.of(base, reach, memory);
        try (Undo undo = Undo.of(live::close)) {
            this.trees = components.stream()
                    .map(handle -> handle.component().keyCursor())
                    .toList();
            this.keys = MergeCursor.of(trees);
            undo.keep();
        }
    }

    /**
     * Begins to gather, if that pays.
     *
     * @param superseded entries of all indexes that may have been superseded, at most
     * @param options say how much memory there is, and whether such means are wanted
     * @param memory pays for the bits, until this is closed
     * @return null if it does not pay, or takes more memory than the options allow
     * @throws StorageException if there is none
     */
    public static @Nullable LiveTimestamps begin(
            KeyTrees keyTrees, long superseded, RepairOptions options, ChunkSource memory) {
        List<ComponentHandle> components = keyTrees.newerThan(-1);
        long base = keyTrees.reach();
        long keyCount = 0;
        for (ComponentHandle handle : components) {
            base = Math.min(base, handle.state().minTimestamp());
            keyCount += handle.component().entryCount();
        }
        boolean pays = options.shortcuts()
                && superseded > 0
                && TimestampSet.bytes(base, keyTrees.reach()) <= options.sortBytesMax()
                && superseded >= options.liveRatio() * keyCount;
        return pays ? new LiveTimestamps(components, base, keyTrees.reach(), memory) : null;
    }

    /**
     * Reads some more of the key trees.
     *
     * @return whether they are read to their end
     * @throws StorageException if they can't be read; from then on the same each time
     */
    public boolean advance(long entriesMax) {
        if (lost != null) {
            throw lost;
        }
        try {
            return readOn(entriesMax);
        } catch (StorageException unreadable) {
            lost = unreadable;
            throw unreadable;
        }
    }

    private boolean readOn(long entriesMax) {
        for (long i = 0; i < entriesMax && !isComplete; i++) {
            if (!keys.next()) {
                isComplete = true;
                pageCount = trees.stream().mapToLong(TreeCursor::pageCount).sum();
                keys.close();
            } else if (keys.timestamp() <= reach) {
                Slice key = keys.key();
                if (!decided.matches(key)) {
                    decided.set(key);
                    if (!keys.isAntimatter()) {
                        live.add(keys.timestamp());
                    }
                }
            }
        }
        return isComplete;
    }

    /** False: no key's newest version has this timestamp, which is at or below the reach. */
    boolean mayBeValid(long timestamp) {
        assert isComplete && !closed;
        return live.has(timestamp);
    }

    /** Pages of key trees that were read. */
    public long pageCount() {
        return pageCount;
    }

    /** Lets the key trees and the memory go: nobody may ask any more. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            if (!isComplete) {
                keys.close();
            }
        } finally {
            live.close();
        }
    }
}
