package io.turbidite.lsm.partition;

import io.turbidite.core.ClosedException;
import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.lsm.btree.PointCursor;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * The live records of sorted keys (LUO19 §3.2): since the keys ascend, each component is searched by a
 * stateful cursor that goes on from its last leaf; its Bloom filter is asked first.
 *
 * <p><em>Confined to one thread.</em> Pins one version for its life, which is one batch long.
 */
final class PartitionFetch implements RecordCursor {
    private final Partition partition;
    private final ViewState view;
    private final KeyBatch keys;
    private final Slice key = new Slice();
    private final Slice record = new Slice();
    private final Found found = new Found(Limits.RECORD_BYTES_MAX);
    private final List<ComponentHandle> components;
    private final PointCursor[] cursors;
    private @Nullable Version pinned;
    private int index;
    private long visitedCount;

    PartitionFetch(Partition partition, ViewState view, KeyBatch sortedKeys) {
        this.partition = partition;
        this.view = view;
        this.keys = sortedKeys;
        Version version = partition.pin();
        this.pinned = version;
        this.components = version.tree(0);
        this.cursors = new PointCursor[components.size()];
        for (int i = 0; i < cursors.length; i++) {
            cursors[i] = components.get(i).component().pointCursor();
        }
    }

    @Override
    public boolean next() {
        view.checkOpen();
        Version version = pinned;
        if (version == null) {
            throw new ClosedException("the cursor");
        }
        while (index < keys.size()) {
            keys.key(index++, key);
            visitedCount++;
            if (find(version) == Found.MATTER) {
                found.value.asSlice(record);
                return true;
            }
        }
        return false;
    }

    private int find(Version version) {
        int code = version.current().tree(0).find(key, view.timestamp(), found, true);
        MemoryLayer frozen = version.frozen();
        if (code == Found.ABSENT && frozen != null) {
            code = frozen.tree(0).find(key, view.timestamp(), found, true);
        }
        if (code == Found.ABSENT && cursors.length > 0) {
            long hash = BloomFilter.hash(key);
            for (int i = 0; i < cursors.length && code == Found.ABSENT; i++) {
                if (components.get(i).component().mayContain(hash)) {
                    code = cursors[i].find(key, view.timestamp(), found, true);
                }
            }
        }
        return code;
    }

    @Override
    public Slice key() {
        return key;
    }

    @Override
    public long timestamp() {
        return found.timestamp;
    }

    @Override
    public Slice record() {
        return record;
    }

    @Override
    public long visitedCount() {
        return visitedCount;
    }

    @Override
    public void close() {
        Version version = pinned;
        pinned = null;
        if (version != null) {
            for (PointCursor cursor : cursors) {
                cursor.close();
            }
            version.unpin();
        }
    }

    @Override
    public String toString() {
        return "fetch of %d keys from %s".formatted(keys.size(), partition);
    }
}
