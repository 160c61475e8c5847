package io.turbidite.lsm.write;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.VersionSearch;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.strategy.KeyedRecord;
import io.turbidite.lsm.strategy.Maintainer;
import io.turbidite.lsm.strategy.OldRecord;
import io.turbidite.lsm.strategy.bitmap.run.OldPosition;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Applies log records to fresh memory layers: redo only (LUO19 §2.2), with the timestamps they had.
 *
 * <p>Records of one key are in the log in the order of their timestamps (both are drawn under its
 * stripe), so the old record that eager maintenance needs is found as it was found the first time.
 * Where the current layer alone is asked, more may be in it than was then: its entries get
 * anti-matter, as they should within one memory component.
 *
 * <p><em>Confined to one thread.</em>
 */
public final class Replay {
    private final Map<Integer, Target> targets = new HashMap<>();
    private final Found found = new Found(Limits.RECORD_BYTES_MAX);
    private final KeyedRecord record = new KeyedRecord();
    private final KeyedRecord keyedOld = new KeyedRecord();
    private final Slice old = keyedOld.record();
    private final OldPosition position = new OldPosition();
    private final Map<Partition, Set<String>> unreadByPartition = new HashMap<>();

    private final Map<Partition, Set<String>> unmarkedByPartition = new HashMap<>();

    /** Components that the change under way had to be looked for in, and that could not be read. */
    private final Set<String> unread = new HashSet<>();

    private long lastTimestamp;
    private long operationCount;
    private long byteCount;

    private record Target(
            DatasetSchema schema, List<Partition> partitions, Maintainer maintainer) {}

    /** A dataset whose operations are to be replayed; those of unknown ones are passed over. */
    public void add(DatasetSchema schema, List<Partition> partitions) {
        targets.put(schema.id(), new Target(schema, partitions, Maintainer.of(schema)));
    }

    /** Takes a record of the log. */
    public void record(long position, Slice payload) {
        byteCount += payload.length();
        LogRecords.replay(position, payload, this::apply);
    }

    private void apply(long timestamp, Change change) {
        lastTimestamp = Math.max(lastTimestamp, timestamp);
        Target target = targets.get(change.datasetId());
        if (target == null) {
            return;
        }
        Slice key = change.key();
        long hash = BloomFilter.hash(key);
        int number = (int) Long.remainderUnsigned(hash, target.partitions().size());
        Partition partition = target.partitions().get(number);
        if (timestamp <= partition.flushedTimestamp()) {
            return;
        }
        operationCount++;
        old.clear();
        unread.clear();
        OldRecord reads = target.maintainer().reads();
        if (partition.hasLiveBitmaps()) {
            markOld(partition, change, hash, reads);
        } else if (reads != OldRecord.NOTHING) {
            findOld(partition, key, hash, reads);
        }
        boolean isOldLost = !unread.isEmpty();
        if (isOldLost) {
            unreadByPartition.computeIfAbsent(partition, _ -> new HashSet<>()).addAll(unread);
        }
        if (change.isDelete() && reads == OldRecord.RECORD && old.length() == 0 && !isOldLost) {
            return; // what it deleted was dropped since, with its component (design §4 rule 10)
        }
        MemoryLayer layer = partition.currentLayer();
        layer.noteKey(hash);
        target.maintainer().widen(layer, change.record(), old);
        if (isOldLost) {
            layer.widenFilterByAll();
        }
        if (change.isDelete()) {
            target.maintainer().delete(layer, timestamp, key, keyedOld);
        } else {
            record.record().set(change.record());
            target.maintainer().upsert(layer, timestamp, key, record, keyedOld);
        }
    }

    /**
     * Finds the superseded version by its key, whatever bitmaps say (design §4 rule 7). It may be
     * gone: a merge has left it out, which had made this record durable first. It may be in the
     * current layer, since replay has but one.
     */
    private void markOld(Partition partition, Change change, long hash, OldRecord reads) {
        int code = position.find(
                partition, change.key(), hash, reads == OldRecord.RECORD, found, this::noteUnread);
        if (!change.isUpdate()) {
            unread.clear(); // what is superseded, if anything, is in memory
        }
        if (code == Found.MATTER && unread.isEmpty()) {
            found.value.asSlice(old);
        }
        // what lies under a component that can't be read is superseded in any case
        if (change.isUpdate()) {
            String unsaved = position.supersedeInReplay();
            if (unsaved != null) {
                unmarkedByPartition
                        .computeIfAbsent(partition, _ -> new HashSet<>())
                        .add(unsaved);
            }
        }
    }

    private void findOld(Partition partition, Slice key, long hash, OldRecord reads) {
        Version pinned = partition.pin();
        try {
            int code = reads == OldRecord.CURRENT_LAYER
                    ? VersionSearch.findInCurrent(pinned, key, hash, found)
                    : VersionSearch.find(pinned, key, hash, Limits.TIMESTAMP_MAX, found);
            if (code == Found.MATTER) {
                found.value.asSlice(old);
            }
        } catch (CorruptionException damage) {
            noteUnread(damage);
        } finally {
            pinned.unpin();
        }
    }

    private void noteUnread(CorruptionException damage) {
        unread.add(damage.file());
    }

    /**
     * The files of components that may hold versions which were superseded, and could not be read:
     * what they hold of them does not know it, nor do indexes that would have got anti-matter.
     */
    public Map<Partition, Set<String>> unread() {
        return unreadByPartition;
    }

    /**
     * The files of components that hold versions which were superseded, and whose bitmaps could not
     * be read: the marks that they got are not saved.
     */
    public Map<Partition, Set<String>> unmarked() {
        return unmarkedByPartition;
    }

    /** The highest timestamp seen; 0 if none. */
    public long lastTimestamp() {
        return lastTimestamp;
    }

    /** Operations applied. */
    public long operationCount() {
        return operationCount;
    }

    /** Bytes of the records seen. */
    public long byteCount() {
        return byteCount;
    }
}
