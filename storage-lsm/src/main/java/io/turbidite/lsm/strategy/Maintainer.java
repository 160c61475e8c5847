package io.turbidite.lsm.strategy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.EntryKeyList;
import io.turbidite.core.index.FieldKeys;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.CoordinateCheck;
import io.turbidite.core.record.RecordView;
import io.turbidite.lsm.memory.MemoryComponent;
import io.turbidite.lsm.memory.Place;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.MemoryLayer;

import java.util.List;

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
    /** What a value of a kind of fixed width takes in a key, about. */
    private static final int FIXED_FIELD_BYTES = 8;

    /** Of keys made ahead: index id, bytes of its keys, the keys. */
    private static final int MADE_BYTES_OFFSET = Integer.BYTES;

    private static final int MADE_KEYS_OFFSET = MADE_BYTES_OFFSET + Integer.BYTES;

    private static final Slice NOTHING = new Slice();

    private final DatasetSchema schema;
    private final boolean fitsAlways;
    private final CoordinateCheck coordinates;

    /** Whether entry keys of some index are made ahead of a write. */
    private final boolean makesAhead;

    /** Bytes beside primary keys that the entries of a record take in indexes that fit always. */
    private final int fixedEntryBytes;

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
    private final EntryKeyList keys = new EntryKeyList();

    private Maintainer(DatasetSchema schema) {
        this.schema = schema;
        this.fitsAlways = fitsAlways(schema);
        this.coordinates = CoordinateCheck.of(schema.type());
        this.makesAhead =
                schema.indexes().stream().anyMatch(index -> index.entryKeys().isMultiValued());
        this.fixedEntryBytes = schema.indexes().stream()
                .mapToInt(index -> FIXED_FIELD_BYTES * index.fields().size())
                .sum();
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
     * limit; and that its points and rectangles are some. What else no key is made of is not looked
     * at.
     *
     * @return about how many bytes of keys it puts into secondary indexes
     * @throws InvalidRequestException naming the field
     */
    public int check(Slice key, Slice record) {
        if (coordinates.isNeeded()) {
            checkCoordinates(record);
        }
        if (fitsAlways && key.length() <= Limits.KEY_BYTES_MAX / 2) {
            return fixedEntryBytes + indexes.length * key.length();
        }
        try {
            return encodeAll(key, newRecord.wrap(record));
        } catch (CorruptionException notOne) {
            throw noRecord(notOne);
        }
    }

    private void checkCoordinates(Slice record) {
        try {
            coordinates.run(newRecord.wrap(record));
        } catch (CorruptionException notOne) {
            throw noRecord(notOne);
        }
    }

    private int encodeAll(Slice key, RecordView record) {
        int byteCount = 0;
        for (IndexSchema index : schema.indexes()) {
            index.entryKeys().append(record, key, keys.clear());
            byteCount += keys.byteCount();
        }
        for (KeySpec filter : schema.filter()) {
            encode(filter, record, newKey);
        }
        return byteCount;
    }

    /**
     * Whether some index is multi-valued: its keys take long to make, so they are made before a
     * write holds anything ({@link #makeAhead}).
     */
    public boolean makesAhead() {
        return makesAhead;
    }

    /**
     * Appends to a sink the entry keys that a record has in the multi-valued indexes, each index's
     * behind its id. Those of an old record that is refused by an index are none.
     */
    public void makeAhead(Slice key, Slice record, ByteSink sink) {
        oldRecord.wrap(record);
        for (IndexSchema index : schema.indexes()) {
            if (index.entryKeys().isMultiValued()) {
                index.makeIfFits(oldRecord, key, keys);
                int at = sink.reserve(MADE_KEYS_OFFSET);
                keys.save(sink);
                sink.segment().set(Bytes.I32, at, index.id());
                int byteCount = sink.length() - at - MADE_KEYS_OFFSET;
                sink.segment().set(Bytes.I32, at + MADE_BYTES_OFFSET, byteCount);
            }
        }
    }

    /** Takes those of an index that were made ahead; false if it was not there then. */
    private static boolean takeMade(IndexSchema index, Slice made, EntryKeyList into) {
        long at = made.offset();
        long end = at + made.length();
        while (at < end) {
            int id = made.segment().get(Bytes.I32, at);
            int byteCount = made.segment().get(Bytes.I32, at + MADE_BYTES_OFFSET);
            at += MADE_KEYS_OFFSET;
            if (id == index.id()) {
                into.load(made.segment(), at);
                return true;
            }
            at += byteCount;
        }
        return false;
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
    private static boolean fitsAlways(DatasetSchema schema) {
        return schema.indexes().stream().allMatch(index -> index.entryKeys().fitsAlways())
                && schema.filter().stream().allMatch(FieldKeys::fitsAlways);
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
    public void upsert(
            MemoryLayer layer, long timestamp, Slice key, KeyedRecord record, KeyedRecord old) {
        newRecord.wrap(record.record());
        boolean knowsOld = old.record().length() > 0;
        if (knowsOld) {
            oldRecord.wrap(old.record());
        }
        boolean sameFilters = knowsOld && sameFilters();
        List<IndexSchema> schemas = schema.indexes();
        MemoryComponent primary = layer.tree(TreeId.PRIMARY);
        primary.seek(key, place);
        for (int i = 0; i < indexes.length; i++) {
            IndexSchema index = schemas.get(i);
            IndexWrite write = writes[i];
            write.begin(layer, timestamp, key);
            if (!takeMade(index, record.made(), write.newKeys)) {
                index.entryKeys().append(newRecord, key, write.newKeys);
            }
            if (knowsOld) {
                takeOld(index, key, old, write);
            }
            write.sameFilters = sameFilters;
            write.seek();
        }
        for (int i = 0; i < indexes.length; i++) {
            indexes[i].put(writes[i]);
        }
        primary.put(key, timestamp, false, record.record(), place);
    }

    /** None if it is older than the index, and too long for it. */
    private void takeOld(IndexSchema index, Slice key, KeyedRecord old, IndexWrite write) {
        if (!takeMade(index, old.made(), write.oldKeys)) {
            index.makeIfFits(oldRecord, key, write.oldKeys);
        }
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
    public void delete(MemoryLayer layer, long timestamp, Slice key, KeyedRecord old) {
        boolean knowsOld = old.record().length() > 0;
        if (knowsOld) {
            oldRecord.wrap(old.record());
        }
        List<IndexSchema> schemas = schema.indexes();
        for (int i = 0; i < indexes.length; i++) {
            IndexWrite write = writes[i];
            write.begin(layer, timestamp, key);
            if (knowsOld) {
                takeOld(schemas.get(i), key, old, write);
            }
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
