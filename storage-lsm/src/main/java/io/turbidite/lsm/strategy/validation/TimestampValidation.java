package io.turbidite.lsm.strategy.validation;

import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.CandidateBatch;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.lsm.btree.PointCursor;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.VersionSearch;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;

import java.util.List;

/**
 * Tells which entries of a secondary index are valid, by the key trees alone (LUO19 §4.3, timestamp
 * validation; design §4 rule 1):
 *
 * <ol>
 *   <li>Keys ascend, so that each key tree is read from front to back by a stateful cursor.
 *   <li>For each, layers are searched from the newest on, but for those that cover nothing above
 *       what the entry has been checked for: they can't hold its successor.
 *   <li>The first that has a version at or below the snapshot decides: the entry is valid if that
 *       is matter with exactly its timestamp.
 *   <li>If none has: it is valid if a layer that was passed over covers its timestamp. Otherwise
 *       its version is gone, with the anti-matter that hid it.
 * </ol>
 *
 * <p><em>Confined to one thread</em>, for one batch: it pins a version for as long as it lives.
 */
public final class TimestampValidation implements AutoCloseable {
    /**
     * What searches fill in, with memory off the heap that it takes a short query longer to get,
     * and the collector to free, than to validate a handful of candidates. Nothing stays in it
     * between batches.
     */
    private static final ThreadLocal<Room> ROOM = ThreadLocal.withInitial(Room::new);

    private static final class Room {
        private final Found found = new Found(Limits.KEY_BYTES_MAX);
        private final Slice key = new Slice();
    }

    private static final PointCursor[] NONE = {};

    private final Version version;
    private final long snapshot;
    private final List<ComponentHandle> components;
    /** Made when the first is asked: behind a region nothing on disk is. */
    private PointCursor[] cursors = NONE;

    private final Room room = ROOM.get();
    private long searchCount;
    private long certainCount;
    private long obsoleteCount;

    private TimestampValidation(Version version, long snapshot) {
        this.version = version;
        this.snapshot = snapshot;
        this.components = version.tree(TreeId.PRIMARY);
    }

    /** Marks the valid ones of {@code candidates}; sorts their primary keys. */
    public static void run(Partition partition, ViewState view, CandidateBatch candidates) {
        view.checkOpen();
        Version pinned = partition.pin();
        try (TimestampValidation validation = new TimestampValidation(pinned, view.timestamp())) {
            validation.validate(candidates);
            ValidationMeter meter = ValidationMeter.of(partition.core().meters());
            meter.candidates().add(candidates.size());
            meter.searches().add(validation.searchCount);
            long untold = candidates.size() - (view.tellsCertain() ? validation.certainCount : 0);
            view.decided(partition.work(), untold, validation.obsoleteCount);
        } finally {
            pinned.unpin();
        }
    }

    private void validate(CandidateBatch candidates) {
        KeyBatch keys = candidates.primaryKeys();
        keys.sort();
        Slice key = room.key;
        for (int i = 0; i < keys.size(); i++) {
            int added = keys.addedIndex(i);
            long checkedUntil = candidates.checkedUntil(added);
            boolean isCertain = checkedUntil == Long.MAX_VALUE;
            certainCount += isCertain ? 1 : 0;
            if (isCertain || isValid(keys.key(i, key), candidates.timestamp(added), checkedUntil)) {
                candidates.markValid(added);
            } else {
                obsoleteCount++;
            }
        }
    }

    private boolean isValid(Slice key, long timestamp, long checkedUntil) {
        Found found = room.found;
        long hash = BloomFilter.hash(key);
        int code = VersionSearch.findInLayer(version.current(), key, hash, snapshot, found, false);
        MemoryLayer frozen = version.frozen();
        boolean covered = false;
        if (code == Found.ABSENT && frozen != null) {
            if (frozen.maxTimestamp() > checkedUntil) {
                code = VersionSearch.findInLayer(frozen, key, hash, snapshot, found, false);
            } else {
                covered = frozen.minTimestamp() <= timestamp;
            }
        }
        for (int i = 0; i < components.size() && code == Found.ABSENT; i++) {
            ComponentHandle handle = components.get(i);
            if (handle.state().maxTimestamp() <= checkedUntil) {
                covered |= handle.state().covers(timestamp);
            } else if (handle.component().mayContain(hash)) {
                searchCount++;
                code = cursor(i).find(key, snapshot, found, false);
            }
        }
        return code == Found.ABSENT
                ? covered
                : code == Found.MATTER && found.timestamp == timestamp;
    }

    private PointCursor cursor(int index) {
        if (cursors.length == 0) {
            cursors = new PointCursor[components.size()];
        }
        PointCursor cursor = cursors[index];
        if (cursor == null) {
            cursor = components.get(index).component().keyPointCursor();
            cursors[index] = cursor;
        }
        return cursor;
    }

    @Override
    public void close() {
        for (PointCursor cursor : cursors) {
            if (cursor != null) {
                cursor.close();
            }
        }
    }
}
