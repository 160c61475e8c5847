package io.turbidite.lsm.maintain;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.TypeKind;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.version.MemoryLayer;

import java.util.List;
import java.util.stream.Stream;

/**
 * The eager strategy (LUO19 §3.1): the old record is known at each write, so that every index and
 * filter is always exact.
 *
 * <p>For each secondary: the entry of the old record gets anti-matter and the new one is put, unless
 * the secondary key and all filter fields are unchanged (then the old entry stays as it is; were only
 * the key compared, a search that prunes by filter could skip the component that holds it). Under
 * retention the new one is put always: the old one may go with its component, the record stays. The filter
 * is widened by the old and the new record: the component that hides an old version is never pruned by
 * a query that would have found it (design §4 rule 2).
 *
 * <p><em>Confined to one thread:</em> it owns the scratch space of a writer.
 */
public final class EagerMaintainer {
    /** A rectangle, the widest fixed kind, takes less than 36 bytes of a key. */
    private static final int FIXED_FIELDS_MAX = 14;

    private static final Slice NOTHING = new Slice();

    private final DatasetSchema schema;
    private final boolean fixedWidth;

    /** Whether an entry that is as it was need not be put again. */
    private final boolean keepsUnchanged;

    private final RecordView newRecord;
    private final RecordView oldRecord;
    private final ByteSink newKey = new ByteSink(256, 2 * Limits.KEY_BYTES_MAX);
    private final ByteSink oldKey = new ByteSink(256, 2 * Limits.KEY_BYTES_MAX);
    private final Slice newSlice = new Slice();
    private final Slice oldSlice = new Slice();

    public EagerMaintainer(DatasetSchema schema) {
        this.schema = schema;
        this.fixedWidth = isFixedWidth(schema);
        this.keepsUnchanged = keepsUnchanged(schema);
        this.newRecord = new RecordView(schema.type());
        this.oldRecord = new RecordView(schema.type());
    }

    /** Whether it goes by this schema. */
    public boolean isOf(DatasetSchema other) {
        return schema.equals(other);
    }

    /**
     * Whether the entry of an old version may stand for a new one with the same keys. Not under retention,
     * which drops the old one's component before the new one's (design §4 rule 10).
     */
    static boolean keepsUnchanged(DatasetSchema schema) {
        return schema.retention() == null;
    }

    /** Whether a write can do without the old record. */
    public boolean isBlind() {
        return schema.indexes().isEmpty() && schema.filter().isEmpty();
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
                        && spec.kinds().stream().noneMatch(EagerMaintainer::isVariable));
    }

    private static boolean isVariable(TypeKind kind) {
        return kind == TypeKind.STRING || kind == TypeKind.BINARY || kind == TypeKind.DECIMAL;
    }

    /**
     * Puts a record.
     *
     * @param old the record it replaces; empty if there is none
     */
    public void upsert(MemoryLayer layer, long timestamp, Slice key, Slice record, Slice old) {
        newRecord.wrap(record);
        boolean replaces = old.length() > 0;
        boolean filterUnchanged = replaces;
        if (replaces) {
            oldRecord.wrap(old);
        }
        List<KeySpec> filters = schema.filter();
        for (int field = 0; field < filters.size(); field++) {
            widen(layer, field, newRecord, newKey, newSlice);
            if (replaces) {
                widen(layer, field, oldRecord, oldKey, oldSlice);
                filterUnchanged &= newSlice.contentEquals(oldSlice);
            }
        }
        List<IndexSchema> indexes = schema.indexes();
        for (int i = 0; i < indexes.size(); i++) {
            KeySpec spec = indexes.get(i).key();
            int tree = indexes.get(i).id();
            entryKey(spec, newRecord, key, newKey).asSlice(newSlice);
            if (replaces && oldEntryKey(indexes.get(i), key)) {
                boolean sameKey = newSlice.contentEquals(oldSlice);
                if (sameKey && filterUnchanged && keepsUnchanged) {
                    continue;
                }
                if (!sameKey) {
                    put(layer, tree, oldSlice, timestamp, true);
                }
            }
            put(layer, tree, newSlice, timestamp, false);
        }
        layer.tree(0).put(key, timestamp, false, record);
    }

    /**
     * Deletes a record.
     *
     * @param old the record that goes; empty only if the strategy {@link #isBlind}
     */
    public void delete(MemoryLayer layer, long timestamp, Slice key, Slice old) {
        if (!isBlind()) {
            oldRecord.wrap(old);
        }
        for (int field = 0; field < schema.filter().size(); field++) {
            widen(layer, field, oldRecord, oldKey, oldSlice);
        }
        List<IndexSchema> indexes = schema.indexes();
        for (int i = 0; i < indexes.size(); i++) {
            if (oldEntryKey(indexes.get(i), key)) {
                put(layer, indexes.get(i).id(), oldSlice, timestamp, true);
            }
        }
        layer.tree(0).put(key, timestamp, true, NOTHING);
    }

    /** The old record's entry; false if it has none, because it is older than the index and too long. */
    private boolean oldEntryKey(IndexSchema index, Slice key) {
        oldKey.clear();
        if (!index.appendIfFits(oldRecord, oldKey)) {
            return false;
        }
        oldKey.putBytes(key).asSlice(oldSlice);
        return oldSlice.length() <= Limits.KEY_BYTES_MAX;
    }

    /** A layer that came while this write was under way may lack an index: then it was dropped. */
    private static void put(
            MemoryLayer layer, int tree, Slice key, long timestamp, boolean antimatter) {
        if (layer.hasTree(tree)) {
            layer.tree(tree).put(key, timestamp, antimatter, NOTHING);
        }
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
