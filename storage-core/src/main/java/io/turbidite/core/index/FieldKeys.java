package io.turbidite.core.index;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import java.util.List;
import java.util.Map;

/**
 * The entry keys of a B+-tree on plain fields: one for each record, also where fields are null or
 * missing.
 *
 * @param spec the fields
 * @param use who it is for, in messages: {@code "index by_tail"}
 * @param parameters of an index that is kept elsewhere; the keys don't depend on them
 */
public record FieldKeys(KeySpec spec, String use, Map<String, String> parameters)
        implements EntryKeys {
    /** A rectangle, the widest fixed kind, takes less than 36 bytes of a key. */
    private static final int FIXED_FIELDS_MAX = 14;

    private static final int FIXED_FIELD_BYTES_MAX = 36;

    public FieldKeys {
        parameters = Map.copyOf(parameters);
    }

    /** Without parameters. */
    public FieldKeys(KeySpec spec, String use) {
        this(spec, use, Map.of());
    }

    /** The keys of these fields, in this order; parameters as of {@link KeySpec#of}. */
    public static FieldKeys of(RecordType type, List<String> fields, String use, KeyForm form) {
        return new FieldKeys(KeySpec.of(type, fields, use, form), use);
    }

    @Override
    public List<String> fields() {
        return spec.fields();
    }

    @Override
    public KeyForm form() {
        return spec.form();
    }

    @Override
    public boolean isMultiValued() {
        return false;
    }

    @Override
    public boolean fitsAlways() {
        return fitsAlways(spec);
    }

    /**
     * Whether no key of these fields takes more than half a key, and every whole record gives one.
     */
    public static boolean fitsAlways(KeySpec spec) {
        return spec.kinds().size() <= FIXED_FIELDS_MAX
                && spec.kinds().stream().noneMatch(FieldKeys::mayBeRefused);
    }

    /** Most bytes that a key of these fields has. */
    public static int bytesMax(KeySpec spec) {
        return spec.kinds().stream().anyMatch(FieldKeys::hasAnyWidth)
                ? Limits.KEY_BYTES_MAX
                : Math.min(
                        Limits.KEY_BYTES_MAX,
                        FIXED_FIELD_BYTES_MAX * spec.kinds().size());
    }

    private static boolean hasAnyWidth(TypeKind kind) {
        return kind == TypeKind.STRING || kind == TypeKind.BINARY || kind == TypeKind.DECIMAL;
    }

    /** Whether the kind has no fixed width, or not every value that its width can hold. */
    private static boolean mayBeRefused(TypeKind kind) {
        return switch (kind) {
            case STRING, BINARY, DECIMAL, BOOL, TIME -> true;
            default -> false;
        };
    }

    @Override
    public void append(RecordView record, Slice primaryKey, EntryKeyList keys) {
        ByteSink sink = keys.sink();
        spec.append(record, sink);
        int keyBytes = sink.putBytes(primaryKey).length();
        if (keyBytes > Limits.KEY_BYTES_MAX) {
            keys.clear();
            throw Limits.keyTooLong(use, keyBytes);
        }
        keys.add(0);
    }

    @Override
    public int secondaryBytes(Slice entryKey) {
        return spec.length(entryKey, 0);
    }

    @Override
    public EntryKeys renewed() {
        return new FieldKeys(spec.withForm(KeyForm.CURRENT), use, parameters);
    }

    /** Whoever asks: the keys are the same. */
    @Override
    public boolean equals(Object other) {
        return other instanceof FieldKeys keys && spec.equals(keys.spec);
    }

    @Override
    public int hashCode() {
        return spec.hashCode();
    }

    @Override
    public String toString() {
        return spec.toString();
    }
}
