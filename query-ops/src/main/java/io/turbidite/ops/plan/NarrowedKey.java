package io.turbidite.ops.plan;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.FieldRange;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.List;

/**
 * What equalities and ranges leave of a composite key.
 *
 * @param prefix the values of the first fields, where equalities leave one each
 * @param last what a range leaves of the field behind them; null: anything
 * @param narrowed the fields that took part, the first ones
 * @param isExact whether what is left of the key has no other values of these fields
 * @param whole whether all fields have one value each
 */
@SuppressWarnings("ArrayRecordComponent") // never compared as a whole
record NarrowedKey(
        byte[] prefix,
        @Nullable KeyRange last,
        List<String> narrowed,
        boolean isExact,
        boolean whole) {
    private static final byte[] NOTHING = {};

    static NarrowedKey of(CheckedQuery query, List<String> fields, KeyForm form) {
        return of(query, fields, form, null);
    }

    /**
     * @param element of the elements of an array what is searched; null if none of the fields is
     *     one, or anything
     */
    static NarrowedKey of(
            CheckedQuery query, List<String> fields, KeyForm form, @Nullable FieldRange element) {
        byte[] prefix = NOTHING;
        boolean isExact = true;
        for (int i = 0; i < fields.size(); i++) {
            int field = query.type().indexOf(fields.get(i));
            FieldRange wanted =
                    query.type().isEach(field) ? element : query.conditions().range(field);
            if (wanted == null) {
                return new NarrowedKey(prefix, null, fields.subList(0, i), isExact, false);
            }
            isExact &= !form.isAmbiguous(query.type().field(field).kind());
            FieldRange range = wanted.in(form);
            byte[] single = range.single();
            if (single == null) {
                return new NarrowedKey(
                        prefix, range.range(), fields.subList(0, i + 1), isExact, false);
            }
            prefix = i == 0 ? single : join(prefix, single);
        }
        return new NarrowedKey(prefix, null, fields, isExact, true);
    }

    /** The range of a last field, behind the values of those before it. */
    private static KeyRange behind(byte[] prefix, KeyRange range) {
        Slice low = range.low();
        Slice high = range.high();
        return KeyRange.of(
                low == null ? prefix : join(prefix, low.toByteArray()),
                high == null ? KeyRange.successor(prefix) : join(prefix, high.toByteArray()));
    }

    private static byte[] join(byte[] first, byte[] second) {
        byte[] joined = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, joined, first.length, second.length);
        return joined;
    }

    /** The primary key, if equalities leave one value of each of its fields; else null. */
    static byte @Nullable [] wholeKey(CheckedQuery query) {
        List<String> fields = query.source().primaryKey();
        byte[] key = null;
        for (int i = 0; i < fields.size(); i++) {
            FieldRange range = query.conditions().range(query.type().indexOf(fields.get(i)));
            byte[] single =
                    range == null ? null : range.in(query.source().keyForm()).single();
            if (single == null) {
                return null;
            }
            key = key == null ? single : join(key, single);
        }
        return key;
    }

    /** All keys whose field behind the single values is null or missing. */
    KeyRange startingWithAbsent(TypeKind kind) {
        ByteSink sink = new ByteSink(64, Integer.MAX_VALUE - 8);
        KeyCodec.appendNull(sink.putBytes(prefix), kind);
        return KeyRange.startingWith(sink.asSlice(new Slice()).toByteArray());
    }

    int fieldCount() {
        return narrowed.size();
    }

    List<String> decided() {
        return isExact ? narrowed : List.of();
    }

    KeyRange range() {
        if (last != null) {
            return prefix.length == 0 ? last : behind(prefix, last);
        }
        return prefix.length == 0 ? KeyRange.all() : KeyRange.startingWith(prefix);
    }
}
