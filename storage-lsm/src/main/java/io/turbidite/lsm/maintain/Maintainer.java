package io.turbidite.lsm.maintain;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.TypeKind;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.version.MemoryLayer;

import java.util.List;
import java.util.stream.Stream;

/**
 * How the filter, the primary and the secondary indexes of a partition follow one write: the strategy of
 * the dataset, and in {@link IndexMaintainer} that of each index (design §4).
 *
 * <p>Where the old record is read, the filter is widened by the old and the new record: the component that
 * hides an old version is never pruned by a query that would have found it (rule 2). Where it is not, by
 * the new one alone; readers then prune no component that is newer than one they read.
 *
 * <p><em>Confined to one thread:</em> it owns the scratch space of a writer.
 */
public final class Maintainer {
    /** A rectangle, the widest fixed kind, takes less than 36 bytes of a key. */
    private static final int FIXED_FIELDS_MAX = 14;

    private static final Slice NOTHING = new Slice();

    private final DatasetSchema schema;
    private final boolean fixedWidth;
    private final IndexMaintainer[] indexes;
    private final OldRecord reads;
    private final RecordView newRecord;
    private final RecordView oldRecord;
    private final ByteSink newKey = new ByteSink(256, 2 * Limits.KEY_BYTES_MAX);
    private final ByteSink oldKey = new ByteSink(256, 2 * Limits.KEY_BYTES_MAX);
    private final Slice newField = new Slice();
    private final Slice oldField = new Slice();
    private final IndexWrite write = new IndexWrite();

    private Maintainer(DatasetSchema schema) {
        this.schema = schema;
        this.fixedWidth = isFixedWidth(schema);
        this.indexes = schema.indexes().stream()
                .map(index -> IndexMaintainer.of(index, keepsUnchanged(schema)))
                .toArray(IndexMaintainer[]::new);
        this.reads = reads(schema, indexes);
        this.newRecord = new RecordView(schema.type());
        this.oldRecord = new RecordView(schema.type());
    }

    /** What maintains a dataset. */
    public static Maintainer of(DatasetSchema schema) {
        return new Maintainer(schema);
    }

    private static OldRecord reads(DatasetSchema schema, IndexMaintainer[] indexes) {
        boolean exactFilter =
                !schema.filter().isEmpty() && schema.maintenance() == Maintenance.EAGER;
        OldRecord reads = exactFilter ? OldRecord.RECORD : OldRecord.NOTHING;
        if (schema.maintenance() == Maintenance.MUTABLE_BITMAP) {
            reads = OldRecord.KEY;
        }
        for (IndexMaintainer index : indexes) {
            reads = reads.or(index.reads());
        }
        return reads;
    }

    /** Whether it goes by this schema. */
    public boolean isOf(DatasetSchema other) {
        return schema.equals(other);
    }

    /** What it must be told of the old record. */
    public OldRecord reads() {
        return reads;
    }

    /** Whether the entry of an old version may stand for a new one with the same keys. */
    static boolean keepsUnchanged(DatasetSchema schema) {
        return schema.retention() == null;
    }

    /**
     * Checks, before anything is logged, that every key the record gives fits its limit.
     *
     * @throws io.turbidite.core.InvalidRequestException naming the field
     */
    public void check(Slice key, Slice record) {
        if (fixedWidth && key.length() <= Limits.KEY_BYTES_MAX / 2) {
            return;
        }
        newRecord.wrap(record);
        for (IndexSchema index : schema.indexes()) {
            entryKey(index.key(), newRecord, key, newKey);
            if (newKey.length() > Limits.KEY_BYTES_MAX) {
                throw Limits.keyTooLong("index " + index.name(), newKey.length());
            }
        }
        for (KeySpec filter : schema.filter()) {
            newKey.clear();
            filter.append(newRecord, newKey);
        }
    }

    /** Whether no index or filter key can be long: all their fields together take half a key at most. */
    private static boolean isFixedWidth(DatasetSchema schema) {
        return Stream.concat(
                        schema.indexes().stream().map(IndexSchema::key), schema.filter().stream())
                .allMatch(spec -> spec.kinds().size() <= FIXED_FIELDS_MAX
                        && spec.kinds().stream().noneMatch(Maintainer::isVariable));
    }

    private static boolean isVariable(TypeKind kind) {
        return kind == TypeKind.STRING || kind == TypeKind.BINARY || kind == TypeKind.DECIMAL;
    }

    /**
     * Puts a record.
     *
     * @param old the record it replaces, as far as {@link #reads} asks for it; empty if there is none
     */
    public void upsert(MemoryLayer layer, long timestamp, Slice key, Slice record, Slice old) {
        newRecord.wrap(record);
        boolean knowsOld = old.length() > 0;
        if (knowsOld) {
            oldRecord.wrap(old);
        }
        boolean sameFilters = knowsOld;
        List<KeySpec> filters = schema.filter();
        for (int field = 0; field < filters.size(); field++) {
            widen(layer, field, newRecord, newKey, newField);
            if (knowsOld) {
                widen(layer, field, oldRecord, oldKey, oldField);
                sameFilters &= newField.contentEquals(oldField);
            }
        }
        begin(layer, timestamp, key);
        write.sameFilters = sameFilters;
        List<IndexSchema> schemas = schema.indexes();
        for (int i = 0; i < indexes.length; i++) {
            IndexSchema index = schemas.get(i);
            write.tree = index.id();
            entryKey(index.key(), newRecord, key, newKey).asSlice(write.newEntry);
            write.knowsOld = knowsOld && oldEntryKey(index, key);
            indexes[i].put(write);
        }
        layer.tree(IndexSchema.PRIMARY_ID).put(key, timestamp, false, record);
    }

    /**
     * Deletes a record.
     *
     * @param old the record that goes, as far as {@link #reads} asks for it; empty if there is none
     */
    public void delete(MemoryLayer layer, long timestamp, Slice key, Slice old) {
        boolean knowsOld = old.length() > 0;
        if (knowsOld) {
            oldRecord.wrap(old);
            for (int field = 0; field < schema.filter().size(); field++) {
                widen(layer, field, oldRecord, oldKey, oldField);
            }
        }
        begin(layer, timestamp, key);
        List<IndexSchema> schemas = schema.indexes();
        for (int i = 0; i < indexes.length; i++) {
            write.tree = schemas.get(i).id();
            write.knowsOld = knowsOld && oldEntryKey(schemas.get(i), key);
            indexes[i].remove(write);
        }
        layer.tree(IndexSchema.PRIMARY_ID).put(key, timestamp, true, NOTHING);
    }

    private void begin(MemoryLayer layer, long timestamp, Slice key) {
        write.layer = layer;
        write.timestamp = timestamp;
        write.primaryKey = key;
    }

    /** The old record's entry; false if it has none, because it is older than the index and too long. */
    private boolean oldEntryKey(IndexSchema index, Slice key) {
        oldKey.clear();
        if (!index.appendIfFits(oldRecord, oldKey)) {
            return false;
        }
        oldKey.putBytes(key).asSlice(write.oldEntry);
        return write.oldEntry.length() <= Limits.KEY_BYTES_MAX;
    }

    private void widen(
            MemoryLayer layer, int field, RecordView record, ByteSink sink, Slice encoded) {
        KeySpec filter = schema.filter().get(field);
        sink.clear();
        filter.append(record, sink);
        sink.asSlice(encoded);
        if (filter.hasNullOrMissing(record)) {
            layer.widenFilterByAbsent(field);
        } else {
            layer.widenFilter(field, encoded);
        }
    }

    private static ByteSink entryKey(KeySpec spec, RecordView record, Slice key, ByteSink sink) {
        sink.clear();
        spec.append(record, sink);
        return sink.putBytes(key);
    }
}
