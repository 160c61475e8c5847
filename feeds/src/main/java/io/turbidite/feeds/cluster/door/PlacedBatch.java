package io.turbidite.feeds.cluster.door;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.feeds.cluster.change.ClusterMap.PlacedDataset;
import io.turbidite.feeds.cluster.run.ClusterWrites;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Records of one dataset on their way to their owners: what is for one node happens there together
 * or not at all, and nothing more is promised of several. <em>Confined to one thread.</em>
 */
final class PlacedBatch implements ChangeBatch {
    private final PlacedDataset dataset;
    private final ClusterWrites writes;
    private final KeySpec keySpec;
    private final RecordView view;
    private final ByteSink key = new ByteSink(64, Limits.KEY_BYTES_MAX);
    private final Slice keyBytes = new Slice();
    private final Crc32c checksum = new Crc32c();
    private final Map<String, List<byte[]>> byNode = new TreeMap<>();
    private final Map<String, Integer> bytesByNode = new HashMap<>();
    private int size;
    private int fullest;
    private boolean replaces;

    PlacedBatch(PlacedDataset dataset, ClusterWrites writes) {
        this.dataset = dataset;
        this.writes = writes;
        this.keySpec = KeySpec.of(
                dataset.definition().type(), dataset.definition().primaryKey(), "primary key");
        this.view = new RecordView(dataset.definition().type());
    }

    /**
     * The partition of a key among so many: the CRC32C of its bytes, mixed by the end of
     * MurmurHash3. It is not the store's own hash, by which the node divides once more: else the
     * partitions of a node would share a remainder, and some of the store's would stay empty. Where
     * records lie is by it: it can't be changed.
     */
    static int partitionOf(Slice key, int count) {
        return partitionOf(key, count, new Crc32c());
    }

    private static int partitionOf(Slice key, int count, Crc32c checksum) {
        long mixed = checksum.compute(key.segment(), key.offset(), key.length());
        mixed = (mixed ^ (mixed >>> 33)) * 0xff51afd7ed558ccdL;
        mixed = (mixed ^ (mixed >>> 33)) * 0xc4ceb9fe1a85ec53L;
        return (int) Long.remainderUnsigned(mixed ^ (mixed >>> 33), count);
    }

    private String ownerOf(Slice record) {
        key.clear();
        keySpec.append(view.wrap(record), key);
        return dataset.owners()
                .get(partitionOf(key.asSlice(keyBytes), dataset.owners().size(), checksum));
    }

    @Override
    public void insert(Slice record) {
        add(record, false);
    }

    @Override
    public void upsert(Slice record) {
        add(record, true);
    }

    private void add(Slice record, boolean isUpsert) {
        if (size > 0 && replaces != isUpsert) {
            throw new IllegalStateException("a batch of a cluster inserts or upserts, not both");
        }
        int bytes = Integer.BYTES + record.length();
        if (bytes > ClusterWrites.recordBytesMax()) {
            throw new InvalidRequestException(
                    "a record of %d bytes is above the limit of %d of a write on a cluster"
                            .formatted(
                                    record.length(),
                                    ClusterWrites.recordBytesMax() - Integer.BYTES));
        }
        replaces = isUpsert;
        String owner = ownerOf(record);
        byNode.computeIfAbsent(owner, _ -> new ArrayList<>()).add(record.toByteArray());
        fullest = Math.max(fullest, bytesByNode.merge(owner, bytes, Integer::sum));
        size++;
    }

    @Override
    public void delete(Slice primaryKey) {
        throw ClusterSource.unread(dataset.definition().name());
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public boolean hasRoom(int bytes) {
        return size == 0 || fullest + Integer.BYTES + bytes <= ClusterWrites.recordBytesMax();
    }

    @Override
    public void clear() {
        byNode.clear();
        bytesByNode.clear();
        size = 0;
        fullest = 0;
    }

    /**
     * Sends each node its records, and waits for all.
     *
     * @throws io.turbidite.feeds.cluster.ClusterWriteException if not all nodes have written
     */
    @Override
    public void write() {
        writes.write(new ClusterWrites.Batch(
                dataset.definition().name(), dataset, replaces, Map.copyOf(byNode)));
    }

    @Override
    public BitSet writeIfUnchangedSince(long timestamp) {
        throw ClusterSource.unread(dataset.definition().name());
    }
}
