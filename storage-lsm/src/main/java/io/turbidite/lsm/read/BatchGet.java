package io.turbidite.lsm.read;

import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.RecordBatch;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.version.Version;

import java.util.List;
import java.util.function.LongFunction;

/**
 * The records of a batch of sorted keys of all partitions at one snapshot: partition by partition,
 * each as one batch of a {@link KeyLookup}.
 *
 * <p><em>Confined to one thread.</em> Reused; makes no garbage for a key.
 */
public final class BatchGet {
    private static final FetchOptions OPTIONS = FetchOptions.defaults();

    private final KeyLookup lookup = new KeyLookup();
    private final Slice key = new Slice();
    private final Slice record = new Slice();
    private long[] hashes = new long[64];

    /** Indexes of the keys of the partition in hand. */
    private int[] chosen = new int[64];

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
            chosen = new int[larger];
            partitionOf = new Partition[larger];
        }
        for (int i = 0; i < count; i++) {
            hashes[i] = BloomFilter.hash(sortedKeys.key(i, key));
            partitionOf[i] = route.apply(hashes[i]);
        }
        lookup.begin(sortedKeys, view.timestamp(), OPTIONS);
        for (Partition partition : partitions) {
            int wanted = 0;
            for (int i = 0; i < count; i++) {
                chosen[wanted] = i;
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
            lookup.moveTo(pinned);
            lookup.batchOf(chosen, wanted, hashes);
            while (lookup.next()) {
                records.set(keys.addedIndex(lookup.index()), lookup.record(record));
            }
        } finally {
            lookup.leaveVersion();
            pinned.unpin();
        }
    }
}
