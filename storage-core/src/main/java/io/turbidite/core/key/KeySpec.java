package io.turbidite.core.key;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.DecimalBytes;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * The key that some declared fields of a record make, one after the other: a primary key, a
 * secondary key, the fields of a filter.
 *
 * <pre>{@code
 * KeySpec byTail = KeySpec.of(type, List.of("tailnum"), "index by_tail");
 * byTail.append(record, sink.clear());                  // then the primary key, for an index entry
 * KeyRange.startingWith(byTail.encode("N14228"));       // all entries of that tail number
 * }</pre>
 *
 * <p><em>Immutable, thread-safe</em> (slices and sinks are the caller's).
 *
 * <p>Invariant: comparing two keys of one spec as bytes is comparing their values, field by field.
 */
public final class KeySpec {
    /** No field of a key stands for the elements of an array. */
    public static final int NO_ARRAY = -1;

    private static final int ZERO_COUNT_MAX = 8;

    private final RecordType type;
    private final List<String> fields;
    private final String use;
    private final List<TypeKind> kindList;
    private final TypeKind[] kinds;
    private final int[] indexes;
    private final KeyForm form;
    private final boolean ambiguous;
    private final int each;

    private KeySpec(RecordType type, List<String> fields, String use, KeyForm form) {
        if (fields.isEmpty()) {
            throw new InvalidRequestException(use + " names no field");
        }
        this.type = type;
        this.use = use;
        this.form = form;
        this.fields = List.copyOf(fields);
        this.kinds = new TypeKind[fields.size()];
        this.indexes = new int[fields.size()];
        int each = NO_ARRAY;
        for (int i = 0; i < kinds.length; i++) {
            indexes[i] = type.require(fields.get(i), use);
            kinds[i] = type.field(indexes[i]).kind();
            if (!kinds[i].isScalar()) {
                throw new InvalidRequestException(isArray(kinds[i], fields.get(i), use));
            }
            if (type.isEach(indexes[i])) {
                if (each != NO_ARRAY) {
                    throw new InvalidRequestException(
                            "%s names two arrays, '%s' and '%s': one array a key"
                                    .formatted(use, type.field(each).name(), fields.get(i)));
                }
                each = indexes[i];
            }
            if (this.fields.indexOf(fields.get(i)) < i) {
                throw new InvalidRequestException(
                        "%s names field '%s' twice".formatted(use, fields.get(i)));
            }
        }
        this.each = each;
        this.kindList = List.of(kinds);
        this.ambiguous = kindList.stream().anyMatch(form::isAmbiguous);
    }

    private static String isArray(TypeKind kind, String field, String use) {
        return kind == TypeKind.ARRAY
                ? "%s names the array '%s', which has many values and is no key; its elements are '%s%s'"
                        .formatted(use, field, field, RecordType.EACH)
                : "%s names the record '%s', which is no key; name a field in it, like '%s.…'"
                        .formatted(use, field, field);
    }

    /** The index that stands for the elements of an array, or {@link #NO_ARRAY}. */
    public int each() {
        return each;
    }

    /**
     * The key of these fields, in this order.
     *
     * @param use who wants it, for messages: {@code "primary key of Flights"}
     * @throws InvalidRequestException if a field is not declared or there twice, or there is none,
     *     or it is an array, its elements or a nested record
     */
    public static KeySpec of(RecordType type, List<String> fields, String use) {
        return of(type, fields, use, KeyForm.CURRENT);
    }

    /** As {@link #of(RecordType, List, String)}, of keys that are on disk in this form. */
    public static KeySpec of(RecordType type, List<String> fields, String use, KeyForm form) {
        KeySpec spec = new KeySpec(type, fields, use, form);
        if (spec.each != NO_ARRAY) {
            throw new InvalidRequestException(
                    "%s names '%s', the elements of an array: a record has many values of it"
                            .formatted(use, type.field(spec.each).name()));
        }
        return spec;
    }

    /**
     * As {@link #of(RecordType, List, String, KeyForm)}, where one of the fields may be the
     * elements of an array: {@link #append} takes the one that the record is at.
     */
    public static KeySpec ofEach(RecordType type, List<String> fields, String use, KeyForm form) {
        return new KeySpec(type, fields, use, form);
    }

    /** The same key in another form. */
    public KeySpec withForm(KeyForm newForm) {
        return newForm == form ? this : ofEach(type, fields, use, newForm);
    }

    /** How its numbers are encoded. */
    public KeyForm form() {
        return form;
    }

    /**
     * Whether some value may have several keys: the fields, or some of them, are ambiguous in the
     * form.
     */
    public boolean isAmbiguous() {
        return ambiguous;
    }

    /** Names of its fields, in key order. */
    public List<String> fields() {
        return fields;
    }

    /** Types of its fields, in key order. */
    public List<TypeKind> kinds() {
        return kindList;
    }

    /**
     * Appends the key of a record of this type; null and missing fields give the null marker. Makes
     * no garbage.
     *
     * @throws InvalidRequestException if the key is longer than {@link Limits#KEY_BYTES_MAX}; the
     *     sink is as it was
     */
    public void append(RecordView record, ByteSink sink) {
        assert record.type().equals(type) : record.type() + " is not " + type;
        int start = sink.length();
        for (int i = 0; i < kinds.length; i++) {
            appendField(record, indexes[i], kinds[i], sink, start);
        }
        checkLength(sink, start);
    }

    private void appendField(
            RecordView record, int field, TypeKind kind, ByteSink sink, int start) {
        if (record.isAbsent(field)) {
            KeyCodec.appendNull(sink, kind);
            return;
        }
        switch (kind) {
            case BOOL -> KeyCodec.appendBool(sink, record.getLong(field) == 1);
            case FLOAT -> KeyCodec.appendFloat(sink, (float) record.getDouble(field), form);
            case DOUBLE -> KeyCodec.appendDouble(sink, record.getDouble(field), form);
            case STRING, BINARY -> {
                Slice bytes = record.getBytes(field);
                if (bytes.length() >= Limits.KEY_BYTES_MAX) {
                    // before copying what may be megabytes
                    throw tooLong(sink, start, bytes.length() + 1);
                }
                KeyCodec.appendBytes(sink, bytes);
            }
            case DECIMAL -> appendDecimal(sink, record.getBytes(field));
            case UUID -> {
                Slice bytes = record.getBytes(field);
                KeyCodec.appendUuid(
                        sink,
                        bytes.segment().get(Bytes.I64_BE, bytes.offset()),
                        bytes.segment().get(Bytes.I64_BE, bytes.offset() + 8));
            }
            case POINT, LONLAT -> appendCoordinates(record, field, 2, sink);
            case RECTANGLE -> appendCoordinates(record, field, 4, sink);
            default -> KeyCodec.appendLong(sink, record.getLong(field));
        }
    }

    private static void appendDecimal(ByteSink sink, Slice stored) {
        int length = stored.length() - DecimalBytes.SCALE_BYTES;
        if (DecimalBytes.length(stored.segment(), stored.offset(), length) != length) {
            throw new CorruptionException("record", 0, "decimal", "well-formed", stored.toString());
        }
        sink.putBytes(stored.segment(), stored.offset(), length);
    }

    private void appendCoordinates(RecordView record, int field, int count, ByteSink sink) {
        for (int i = 0; i < count; i++) {
            KeyCodec.appendDouble(sink, record.getCoordinate(field, i), form);
        }
    }

    /**
     * Appends the key of these Java values, or the first part of it if they are fewer than the
     * fields.
     *
     * @throws InvalidRequestException naming the field that a value does not fit; the sink is as it
     *     was
     */
    public void appendValues(ByteSink sink, List<? extends @Nullable Object> values) {
        if (values.size() > kinds.length) {
            throw new InvalidRequestException("a key of %s takes %d values, not %d"
                    .formatted(fields, kinds.length, values.size()));
        }
        int start = sink.length();
        for (int i = 0; i < values.size(); i++) {
            try {
                KeyCodec.append(sink, kinds[i], values.get(i), form);
            } catch (InvalidRequestException e) {
                sink.truncate(start);
                throw new InvalidRequestException(
                        "field '%s': %s".formatted(fields.get(i), e.getMessage()), e);
            }
        }
        checkLength(sink, start);
    }

    /** The key of these values, or the prefix of keys that the first few of them make. */
    public byte[] encode(@Nullable Object... values) {
        // above the limit, so that it is the check that speaks
        ByteSink sink = new ByteSink(64, 8 * Limits.RECORD_BYTES_MAX);
        appendValues(sink, Arrays.asList(values));
        return sink.asSlice(new Slice()).toByteArray();
    }

    /**
     * Bytes of this spec's key in a longer one, where it starts at {@code at}.
     *
     * @throws CorruptionException if there is none
     */
    public int length(Slice key, int at) {
        int end = at;
        for (TypeKind kind : kinds) {
            end += KeyCodec.length(kind, key, end);
        }
        return end - at;
    }

    /**
     * The values of the key that starts at {@code at}, null where they are null or missing.
     *
     * @throws CorruptionException if there is none
     */
    public List<@Nullable Object> decode(Slice key, int at) {
        List<@Nullable Object> values = new ArrayList<>(kinds.length);
        int next = at;
        for (TypeKind kind : kinds) {
            values.add(KeyCodec.decode(kind, key, next));
            next += KeyCodec.length(kind, key, next);
        }
        return Collections.unmodifiableList(values);
    }

    /**
     * The other keys of the values that a key has: where the form
     * {@linkplain #isAmbiguous is ambiguous}, each zero in it may have either sign. Of the first
     * {@value #ZERO_COUNT_MAX} zeros, that is: no real key has more.
     */
    public List<Slice> alternatives(Slice key) {
        if (!isAmbiguous()) {
            return List.of();
        }
        List<Integer> zeros = new ArrayList<>();
        List<Integer> widths = new ArrayList<>();
        Slice value = new Slice();
        int at = 0;
        for (TypeKind kind : kinds) {
            int length = KeyCodec.length(kind, key, at);
            if (form.isAmbiguous(kind)) {
                KeyForm.addZeros(
                        kind, value.set(key.segment(), key.offset() + at, length), at, zeros);
                while (widths.size() < zeros.size()) {
                    widths.add(KeyForm.width(kind));
                }
            }
            at += length;
        }
        List<Slice> others = new ArrayList<>();
        for (int flips = 1; flips < 1 << Math.min(zeros.size(), ZERO_COUNT_MAX); flips++) {
            byte[] other = key.toByteArray();
            for (int zero = 0; zero < zeros.size(); zero++) {
                for (int i = 0; (flips >>> zero & 1) == 1 && i < widths.get(zero); i++) {
                    other[zeros.get(zero) + i] = (byte) ~other[zeros.get(zero) + i];
                }
            }
            others.add(Slice.of(other));
        }
        return others;
    }

    /** Whether some field of the key is null or missing: no primary key may be. */
    public boolean hasNullOrMissing(RecordView record) {
        for (int index : indexes) {
            if (record.isAbsent(index)) {
                return true;
            }
        }
        return false;
    }

    private void checkLength(ByteSink sink, int start) {
        int length = sink.length() - start;
        if (length > Limits.KEY_BYTES_MAX) {
            throw tooLong(sink, start, length);
        }
    }

    private InvalidRequestException tooLong(ByteSink sink, int start, int length) {
        sink.truncate(start);
        return new InvalidRequestException("%s: the key of %s has %d bytes or more; the limit is %d"
                .formatted(use, fields, length, Limits.KEY_BYTES_MAX));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof KeySpec spec
                && type.equals(spec.type)
                && fields.equals(spec.fields)
                && form == spec.form;
    }

    @Override
    public int hashCode() {
        return Objects.hash(type, fields, form.number());
    }

    @Override
    public String toString() {
        return fields.toString();
    }
}
