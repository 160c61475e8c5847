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

/**
 * The entry keys of a B+-tree on plain fields: one for each record, also where fields are null or
 * missing.
 *
 * @param spec the fields
 * @param use who it is for, in messages: {@code "index by_tail"}
 */
public record FieldKeys(KeySpec spec, String use) implements EntryKeys {
    /** A rectangle, the widest fixed kind, takes less than 36 bytes of a key. */
    private static final int FIXED_FIELDS_MAX = 14;

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
        return new FieldKeys(spec.withForm(KeyForm.CURRENT), use);
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
