package io.turbidite.core.index;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;

import java.util.List;
import java.util.Locale;

/**
 * The entry keys of a B+-tree whose fields include the elements of an array: one for each distinct
 * element; none for a record whose array is null, missing or empty. <em>Immutable.</em>
 *
 * @param spec the fields, one of them {@code hashtags[]}
 * @param use who it is for, in messages: {@code "index by_tag"}
 */
public record ElementKeys(KeySpec spec, String use) implements EntryKeys {
    public ElementKeys {
        if (spec.each() == KeySpec.NO_ARRAY) {
            throw new IllegalArgumentException(use + " has no array");
        }
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
        return true;
    }

    @Override
    public void append(RecordView record, Slice primaryKey, EntryKeyList keys) {
        ByteSink sink = keys.sink();
        int each = spec.each();
        boolean whole = false;
        try {
            for (boolean is = record.firstElement(each); is; is = record.nextElement(each)) {
                int start = sink.length();
                spec.append(record, sink);
                keys.addIfNew(start, primaryKey, use);
                if (keys.count() > COUNT_MAX) {
                    throw new InvalidRequestException(String.format(
                            Locale.ROOT,
                            "%s: the array has more than %,d different elements, the limit",
                            use,
                            COUNT_MAX));
                }
            }
            keys.sort();
            whole = true;
        } finally {
            if (!whole) {
                keys.clear();
            }
        }
    }

    @Override
    public int secondaryBytes(Slice entryKey) {
        return spec.length(entryKey, 0);
    }

    @Override
    public EntryKeys renewed() {
        return new ElementKeys(spec.withForm(KeyForm.CURRENT), use);
    }

    /** Whoever asks: the keys are the same. */
    @Override
    public boolean equals(Object other) {
        return other instanceof ElementKeys keys && spec.equals(keys.spec);
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
