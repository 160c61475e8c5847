package io.turbidite.ops.search;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * Reads the encoded fields of index entries: those of the secondary key, then those of the primary
 * key. <em>Confined to one thread.</em>
 */
public final class EntryFields implements EntryTuples {
    private final TypeKind[] kinds;
    private final KeyForm[] forms;
    private final int secondaryCount;
    private final @Nullable KeyRange[] ranges;
    private final int[] group;
    private final int neededCount;
    private final Slice[] values;
    private final ByteSink sink = new ByteSink(256, Integer.MAX_VALUE - 8);
    private final Slice[] tuple;

    /**
     * Fields by their place in an entry.
     *
     * @param kinds of all fields, the secondary key's first
     * @param forms how each is encoded in the entries
     * @param secondaryCount how many of them are the secondary key's
     * @param ranges for each field what its encoded value must lie in; null: anything
     * @param group places of the fields that the group key is made of; empty: tuples without fields
     */
    public EntryFields(
            List<TypeKind> kinds,
            List<KeyForm> forms,
            int secondaryCount,
            List<? extends @Nullable KeyRange> ranges,
            List<Integer> group) {
        this.kinds = kinds.toArray(TypeKind[]::new);
        this.forms = forms.toArray(KeyForm[]::new);
        this.secondaryCount = secondaryCount;
        this.ranges = new KeyRange[this.kinds.length];
        this.group = group.stream().mapToInt(Integer::intValue).toArray();
        this.values = new Slice[this.kinds.length];
        this.tuple = group.isEmpty() ? new Slice[0] : new Slice[] {new Slice()};
        int needed = 0;
        for (int i = 0; i < this.kinds.length; i++) {
            this.ranges[i] = ranges.get(i);
            values[i] = new Slice();
            if (ranges.get(i) != null || group.contains(i)) {
                needed = i + 1;
            }
        }
        this.neededCount = needed;
    }

    @Override
    public int tupleFieldCount() {
        return tuple.length;
    }

    @Override
    public Slice @Nullable [] tuple(Slice secondaryKey, Slice primaryKey) {
        int at = 0;
        for (int i = 0; i < neededCount; i++) {
            Slice key = i < secondaryCount ? secondaryKey : primaryKey;
            at = i == secondaryCount ? 0 : at;
            int length = KeyCodec.length(kinds[i], key, at);
            values[i].set(key.segment(), key.offset() + at, length);
            at += length;
            if (forms[i] != KeyForm.CURRENT) {
                Slice canonical = forms[i].canonical(kinds[i], values[i]);
                values[i].set(canonical.segment(), canonical.offset(), canonical.length());
            }
            KeyRange range = ranges[i];
            if (range != null && !range.contains(values[i])) {
                return null;
            }
        }
        if (group.length == 1) {
            tuple[0].set(values[group[0]]);
        } else if (group.length > 1) {
            sink.clear();
            for (int place : group) {
                sink.putBytes(values[place]);
            }
            sink.asSlice(tuple[0]);
        }
        return tuple;
    }
}
