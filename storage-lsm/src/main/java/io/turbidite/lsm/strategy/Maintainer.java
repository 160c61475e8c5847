package io.turbidite.lsm.strategy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.TypeKind;
import io.turbidite.lsm.memory.MemoryComponent;
import io.turbidite.lsm.memory.Place;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.MemoryLayer;

import java.util.List;
import java.util.stream.Stream;

/**
 * How the filter, the primary and the secondary indexes of a partition follow one write: the
 * strategy of the dataset, and in {@link IndexMaintainer} that of each index (design §4).
 *
 * <p>Where the old record is read, the filter is widened by the old and the new record: the
 * component that hides an old version is never pruned by a query that would have found it (rule 2).
 * Where it is not, by the new one alone; readers then prune no component that is newer than one
 * they read.
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
    private final IndexWrite[] writes;
    private final Place place = new Place();

    private Maintainer(DatasetSchema schema) {
        this.schema = schema;
        this.fixedWidth = isFixedWidth(schema);
        this.indexes = schema.indexes().stream()
                .map(index -> IndexMaintainer.of(index, keepsUnchanged(schema)))
                .toArray(IndexMaintainer[]::new);
        this.writes = schema.indexes().stream().map(IndexWrite::new).toArray(IndexWrite[]::new);
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
     * Encodes the primary key of a record.
     *
     * @throws InvalidRequestException if it is too long, or the bytes are no record of the
     *     dataset's type
     */
    public void appendKey(Slice record, ByteSink sink, Slice key) {
        sink.clear();
        try {
            schema.primaryKey().append(newRecord.wrap(record), sink);
            if (schema.primaryKey().hasNullOrMissing(newRecord)) {
                throw new InvalidRequestException("a record for %s has no primary key %s"
                        .formatted(schema.name(), schema.primaryKey().fields()));
            }
        } catch (CorruptionException notOne) {
            throw noRecord(notOne);
        }
        if (sink.length() > Limits.KEY_BYTES_MAX) {
            throw Limits.keyTooLong("primary key of " + schema.name(), sink.length());
        }
        sink.asSlice(key);
    }

    /**
     * Checks, before anything is logged, that the record gives every key, and that it fits its
     * limit. What no key is made of is not looked at.
     *
     * @throws InvalidRequestException naming the field
     */
    public void check(Slice key, Slice record) {
        if (fixedWidth && key.length() <= Limits.KEY_BYTES_MAX / 2) {
            return;
        }
        try {
            encodeAll(key, newRecord.wrap(record));
        } catch (CorruptionException notOne) {
            throw noRecord(notOne);
        }
    }

    private void encodeAll(Slice key, RecordView record) {
        for (IndexSchema index : schema.indexes()) {
            encode(index.key(), record, newKey).putBytes(key);
            if (newKey.length() > Limits.KEY_BYTES_MAX) {
                throw Limits.keyTooLong("index " + index.name(), newKey.length());
            }
        }
        for (KeySpec filter : schema.filter()) {
            encode(filter, record, newKey);
        }
    }

    /** What a caller handed in is not damage of the store. */
    private InvalidRequestException noRecord(CorruptionException notOne) {
        return new InvalidRequestException(
                "what was given is no record of %s: %s"
                        .formatted(schema.name(), notOne.getMessage()),
                notOne);
    }

    /**
     * Whether no index or filter key can be long, all their fields together taking half a key at
     * most, and every whole record gives them.
     */
    private static boolean isFixedWidth(DatasetSchema schema) {
        return Stream.concat(
                        schema.indexes().stream().map(IndexSchema::key), schema.filter().stream())
                .allMatch(spec -> spec.kinds().size() <= FIXED_FIELDS_MAX
                        && spec.kinds().stream().noneMatch(Maintainer::mayBeRefused));
    }

    /** Whether the kind has no fixed width, or not every value that its width can hold. */
    private static boolean mayBeRefused(TypeKind kind) {
        return switch (kind) {
            case STRING, BINARY, DECIMAL, BOOL, TIME -> true;
            default -> false;
        };
    }

    /**
     * Widens the layer's filter by what a write puts and by what it replaces; comes before the
     * write itself.
     *
     * @param record empty for a delete
     * @param old as for {@link #upsert}
     */
    public void widen(MemoryLayer layer, Slice record, Slice old) {
        if (schema.filter().isEmpty()) {
            return;
        }
        if (record.length() > 0) {
            widen(layer, newRecord.wrap(record));
        }
        if (old.length() > 0) {
            widen(layer, oldRecord.wrap(old));
        }
    }

    private void widen(MemoryLayer layer, RecordView record) {
        List<KeySpec> filters = schema.filter();
        for (int field = 0; field < filters.size(); field++) {
            KeySpec filter = filters.get(field);
            if (filter.hasNullOrMissing(record)) {
                layer.widenFilterByAbsent(field);
            } else {
                layer.widenFilter(field, encode(filter, record, newKey).asSlice(newField));
            }
        }
    }

    /**
     * Puts a record. The places of all its entries are sought before the first is put (see
     * {@link Place}).
     *
     * @param old the record it replaces, as far as {@link #reads} asks for it; empty if there is
     *     none
     */
    public void upsert(MemoryLayer layer, long timestamp, Slice key, Slice record, Slice old) {
        newRecord.wrap(record);
        boolean knowsOld = old.length() > 0;
        if (knowsOld) {
            oldRecord.wrap(old);
        }
        boolean sameFilters = knowsOld && sameFilters();
        List<IndexSchema> schemas = schema.indexes();
        MemoryComponent primary = layer.tree(TreeId.PRIMARY);
        primary.seek(key, place);
        for (int i = 0; i < indexes.length; i++) {
            IndexSchema index = schemas.get(i);
            IndexWrite write = writes[i];
            write.begin(layer, timestamp, key);
            write.encodeNew(index, newRecord);
            write.knowsOld = knowsOld && write.encodeOld(index, oldRecord);
            write.sameFilters = sameFilters;
            write.seek();
        }
        for (int i = 0; i < indexes.length; i++) {
            indexes[i].put(writes[i]);
        }
        primary.put(key, timestamp, false, record, place);
    }

    private boolean sameFilters() {
        List<KeySpec> filters = schema.filter();
        boolean same = true;
        for (int field = 0; field < filters.size() && same; field++) {
            encode(filters.get(field), newRecord, newKey).asSlice(newField);
            encode(filters.get(field), oldRecord, oldKey).asSlice(oldField);
            same = newField.contentEquals(oldField);
        }
        return same;
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
        }
        List<IndexSchema> schemas = schema.indexes();
        for (int i = 0; i < indexes.length; i++) {
            IndexWrite write = writes[i];
            write.begin(layer, timestamp, key);
            write.knowsOld = knowsOld && write.encodeOld(schemas.get(i), oldRecord);
            indexes[i].remove(write);
        }
        place.clear();
        layer.tree(TreeId.PRIMARY).put(key, timestamp, true, NOTHING, place);
    }

    private static ByteSink encode(KeySpec spec, RecordView record, ByteSink sink) {
        sink.clear();
        spec.append(record, sink);
        return sink;
    }
}
