package io.turbidite.lsm.partition;

import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.RecordBatch;
import io.turbidite.lsm.btree.PointCursor;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;

import java.util.List;
import java.util.function.LongFunction;

/**
 * The records of a batch of sorted keys at one snapshot (the batched lookup of LUO19 §3.2): partition by
 * partition, and in each one layer after another from the newest to the oldest, so that each component is
 * read once from left to right by one cursor. A key that a layer decides, by a record or by anti-matter, is
 * not sought in older ones.
 *
 * <p><em>Confined to one thread.</em> Reused; makes no garbage for a key.
 */
public final class BatchGet {
    private final Found found = new Found(Limits.RECORD_BYTES_MAX);
    private final Slice key = new Slice();
    private final Slice record = new Slice();
    private long[] hashes = new long[64];

    /** Indexes of the keys that no layer of the partition has decided yet. */
    private int[] pending = new int[64];

    private Partition[] partitionOf = new Partition[64];

    /**
     * Gets the records.
     *
     * @param sortedKeys sorted; may repeat
     * @param partitions of the dataset
     * @param route the partition of a key's hash
     * @param records cleared for these keys
     */
    public void run(
            ViewState view,
            KeyBatch sortedKeys,
            List<Partition> partitions,
            LongFunction<Partition> route,
            RecordBatch records) {
        int count = sortedKeys.size();
        if (hashes.length < count) {
            int larger = Math.max(count, 2 * hashes.length);
            hashes = new long[larger];
            pending = new int[larger];
            partitionOf = new Partition[larger];
        }
        for (int i = 0; i < count; i++) {
            hashes[i] = BloomFilter.hash(sortedKeys.key(i, key));
            partitionOf[i] = route.apply(hashes[i]);
        }
        for (Partition partition : partitions) {
            int wanted = 0;
            for (int i = 0; i < count; i++) {
                pending[wanted] = i;
                wanted += partitionOf[i] == partition ? 1 : 0;
            }
            if (wanted > 0) {
                run(view, sortedKeys, partition, wanted, records);
            }
        }
    }

    private void run(
            ViewState view, KeyBatch keys, Partition partition, int wanted, RecordBatch records) {
        Version pinned = partition.pin();
        try {
            view.checkOpen();
            long snapshot = view.timestamp();
            int left = inMemory(pinned.current(), keys, snapshot, wanted, records);
            MemoryLayer frozen = pinned.frozen();
            if (frozen != null) {
                left = inMemory(frozen, keys, snapshot, left, records);
            }
            List<ComponentHandle> components = pinned.tree(0);
            for (int i = 0; i < components.size() && left > 0; i++) {
                left = onDisk(components.get(i), keys, snapshot, left, records);
            }
        } finally {
            pinned.unpin();
        }
    }

    private int inMemory(
            MemoryLayer layer, KeyBatch keys, long snapshot, int wanted, RecordBatch records) {
        int left = 0;
        for (int i = 0; i < wanted; i++) {
            int at = pending[i];
            keys.key(at, key);
            int code = Partition.findInLayer(layer, key, hashes[at], snapshot, found, true);
            left = decide(keys, at, code, left, records);
        }
        return left;
    }

    private int onDisk(
            ComponentHandle handle, KeyBatch keys, long snapshot, int wanted, RecordBatch records) {
        int left = 0;
        try (PointCursor cursor = handle.component().pointCursor()) {
            for (int i = 0; i < wanted; i++) {
                int at = pending[i];
                int code = Found.ABSENT;
                if (handle.component().mayContain(hashes[at])) {
                    code = cursor.find(keys.key(at, key), snapshot, found, true);
                }
                left = decide(keys, at, code, left, records);
            }
        }
        return left;
    }

    /** Notes what a layer says of a key; returns how many keys are left to the next one. */
    private int decide(KeyBatch keys, int at, int code, int left, RecordBatch records) {
        if (code == Found.ABSENT) {
            pending[left] = at;
            return left + 1;
        }
        if (code == Found.MATTER) {
            records.set(keys.addedIndex(at), found.value.asSlice(record));
        }
        return left;
    }
}
