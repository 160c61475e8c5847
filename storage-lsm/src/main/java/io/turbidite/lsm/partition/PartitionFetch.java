package io.turbidite.lsm.partition;

import io.turbidite.core.ClosedException;
import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.lsm.btree.PointCursor;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Version;

import java.util.List;

/**
 * The live records of sorted keys (LUO19 §3.2): since the keys ascend, each component is searched by a
 * stateful cursor that goes on from its last leaf; its Bloom filter is asked first.
 *
 * <p><em>Confined to one thread</em>, but for {@link #close()}. Holds one version for its life, which is one
 * batch long, unless it is idle for so long that the version is taken from it.
 */
final class PartitionFetch implements RecordStream {
    private final Partition partition;
    private final ViewState view;
    private final KeyBatch keys;
    private final Slice key = new Slice();
    private final Slice record = new Slice();
    private final Found found = new Found(Limits.RECORD_BYTES_MAX);
    private final Hold hold;
    private List<ComponentHandle> components = List.of();
    private PointCursor[] cursors = new PointCursor[0];
    private int index;
    private boolean onRecord;
    private long visitedCount;

    PartitionFetch(Partition partition, ViewState view, KeyBatch sortedKeys) {
        this.partition = partition;
        this.view = view;
        this.keys = sortedKeys;
        this.hold = new Hold(partition, view, this::closeCursors);
    }

    @Override
    public boolean next() {
        hold.enter();
        try {
            onRecord = false;
            Version version = hold.version();
            if (version == null) {
                version = openCursors();
            }
            while (index < keys.size()) {
                keys.key(index, key);
                visitedCount++;
                int code = find(version);
                index++;
                if (code == Found.MATTER) {
                    found.value.asSlice(record);
                    onRecord = true;
                    return true;
                }
            }
            return false;
        } finally {
            hold.leave();
        }
    }

    private Version openCursors() {
        closeCursors();
        Version version = hold.pin();
        components = version.tree(0);
        cursors = new PointCursor[components.size()];
        for (int i = 0; i < cursors.length; i++) {
            cursors[i] = components.get(i).component().pointCursor();
        }
        return version;
    }

    private void closeCursors() {
        for (PointCursor cursor : cursors) {
            cursor.close();
        }
        cursors = new PointCursor[0];
    }

    private int find(Version version) {
        long hash = BloomFilter.hash(key);
        int code = Partition.findInMemory(version, key, hash, view.timestamp(), found, true);
        for (int i = 0; i < cursors.length && code == Found.ABSENT; i++) {
            if (components.get(i).component().mayContain(hash)) {
                code = cursors[i].find(key, view.timestamp(), found, true);
            }
        }
        return code;
    }

    @Override
    public Slice key() {
        checkOnRecord();
        return key;
    }

    @Override
    public long timestamp() {
        checkOnRecord();
        return found.timestamp;
    }

    @Override
    public Slice record() {
        checkOnRecord();
        return record;
    }

    private void checkOnRecord() {
        if (!onRecord || hold.isClosed()) {
            view.checkOpen();
            if (hold.isClosed()) {
                throw new ClosedException("the cursor");
            }
            throw new IllegalStateException("the cursor stands on no record");
        }
    }

    @Override
    public long visitedCount() {
        return visitedCount;
    }

    @Override
    public void close() {
        hold.close();
    }

    @Override
    public String toString() {
        return "fetch of %d keys from %s".formatted(keys.size(), partition);
    }
}
