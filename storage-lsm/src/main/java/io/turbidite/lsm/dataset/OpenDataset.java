package io.turbidite.lsm.dataset;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.memory.Pool;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.order.Timestamps;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.VersionSearch;
import io.turbidite.lsm.read.DatasetSample;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.strategy.Maintainer;
import io.turbidite.lsm.strategy.OldRecord;
import io.turbidite.lsm.version.Version;

import java.util.ArrayList;
import java.util.List;

/**
 * A dataset of an open store: its partitions, and what goes by its schema of now.
 *
 * <p><em>Thread-safe.</em> The schema and all that follows from it are replaced by one volatile
 * store.
 */
public final class OpenDataset {
    private final List<Partition> partitions;
    private final Admission admission;
    private final DatasetSample sample = new DatasetSample();
    private volatile Shape shape;

    public OpenDataset(DatasetSchema schema, List<Partition> partitions) {
        this.partitions = List.copyOf(partitions);
        this.admission = new Admission(schema.name());
        this.shape = Shape.of(schema);
    }

    /** What goes by the schema of now; replaced as a whole while no write is in flight. */
    private record Shape(
            DatasetSchema schema,
            OldRecord oldRecord,
            List<IndexSchema> unique,
            Pool<Maintainer> maintainers) {
        static Shape of(DatasetSchema schema) {
            return new Shape(
                    schema,
                    Maintainer.of(schema).reads(),
                    schema.indexes().stream().filter(IndexSchema::unique).toList(),
                    new Pool<>(() -> Maintainer.of(schema)));
        }
    }

    public String name() {
        return schema().name();
    }

    /** Its schema now. */
    public DatasetSchema schema() {
        return shape.schema();
    }

    /**
     * Goes over to another schema. Unless a tree is only left out, or none is added, no write may
     * be in flight.
     */
    public void install(DatasetSchema changed) {
        shape = Shape.of(changed);
    }

    public List<Partition> partitions() {
        return partitions;
    }

    /** The partition of a primary key's hash. */
    public Partition partition(long keyHash) {
        return partitions.size() == 1
                ? partitions.get(0)
                : partitions.get((int) Long.remainderUnsigned(keyHash, partitions.size()));
    }

    /** What estimates go by. */
    public DatasetSample sample() {
        return sample;
    }

    /** Whether it takes writes and changes. */
    public Admission admission() {
        return admission;
    }

    /** What a write must know of the record that it replaces. */
    public OldRecord oldRecord() {
        return shape.oldRecord();
    }

    /** Those that writers must not put a key into twice, whether searched already or not. */
    public List<IndexSchema> uniqueIndexes() {
        return shape.unique();
    }

    /** One that follows the schema of now, for one thread; goes back to {@link #giveMaintainer}. */
    public Maintainer takeMaintainer() {
        return shape.maintainers().take();
    }

    public void giveMaintainer(Maintainer maintainer) {
        Shape now = shape;
        if (maintainer.isOf(now.schema())) {
            now.maintainers().give(maintainer);
        }
    }

    /**
     * Looks for the record of a key that readers see now; where a value may have several keys, for
     * all of them.
     *
     * @return a code of {@link Found}
     */
    public int find(Slice key, Timestamps timestamps, Found found) {
        int code = findExactly(key, timestamps, found);
        KeySpec primaryKey = schema().primaryKey();
        if (code == Found.MATTER || !primaryKey.isAmbiguous()) {
            return code;
        }
        List<Slice> others = primaryKey.alternatives(key);
        return others.isEmpty() ? code : findAny(key, others, timestamps, found);
    }

    private int findExactly(Slice key, Timestamps timestamps, Found found) {
        long hash = BloomFilter.hash(key);
        // the version first, the watermark second: see VersionSearch.find
        Version pinned = partition(hash).pin();
        try {
            return VersionSearch.find(pinned, key, hash, timestamps.watermark(), found);
        } finally {
            pinned.unpin();
        }
    }

    /**
     * All at one moment: a write may have moved the record from one to the other since the key was
     * asked for.
     */
    private int findAny(Slice key, List<Slice> others, Timestamps timestamps, Found found) {
        List<Slice> keys = new ArrayList<>(others);
        keys.add(key);
        List<Version> pinned = new ArrayList<>(keys.size());
        try {
            for (Slice each : keys) {
                pinned.add(partition(BloomFilter.hash(each)).pin());
            }
            long watermark = timestamps.watermark();
            int code = Found.ABSENT;
            for (int i = 0; i < keys.size() && code != Found.MATTER; i++) {
                Slice each = keys.get(i);
                code = VersionSearch.find(
                        pinned.get(i), each, BloomFilter.hash(each), watermark, found);
            }
            return code;
        } finally {
            pinned.forEach(Version::unpin);
        }
    }

    /** Says that a primary key is taken. */
    public DuplicateKeyException duplicate(Slice key) {
        return new DuplicateKeyException(
                name(), schema().primaryKey().decode(key, 0).toString());
    }

    @Override
    public String toString() {
        return "dataset " + name();
    }
}
