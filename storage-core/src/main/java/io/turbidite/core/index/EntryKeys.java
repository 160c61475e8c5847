package io.turbidite.core.index;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.record.RecordView;

import java.util.List;
import java.util.Map;

/**
 * The entry keys that an index has for a record: from none to many, each a secondary key with the
 * primary key behind it. <em>Immutable.</em>
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>The keys of a record are distinct and ascending, as bytes.
 *   <li>They depend on the record, on {@link #fields}, {@link #form} and {@link #parameters}, and
 *       on nothing else.
 *   <li>Two objects are equal if they give every record the same keys.
 * </ol>
 */
public interface EntryKeys {
    /** Most entry keys of one record in one index. */
    int COUNT_MAX = 65_536;

    /** The indexed fields, in key order. */
    List<String> fields();

    /** How fields are encoded in the keys. */
    default KeyForm form() {
        return KeyForm.CURRENT;
    }

    /** What the keys depend on beside the fields, by name: what is kept with the index. */
    default Map<String, String> parameters() {
        return Map.of();
    }

    /** Whether the same records have the same keys as far as {@link #parameters} go. */
    default boolean hasParametersOf(EntryKeys other) {
        return parameters().equals(other.parameters());
    }

    /**
     * Whether a record may have none or several keys. If not, it has one; or none, if that is too
     * long, and the record is older than the index.
     */
    boolean isMultiValued();

    /**
     * Whether no record can be refused whose primary key takes half a key at most: then nothing has
     * to be tried before a write.
     */
    default boolean fitsAlways() {
        return false;
    }

    /**
     * Appends the entry keys of a record to an empty list.
     *
     * @throws io.turbidite.core.InvalidRequestException if a key is longer than {@link
     *     io.turbidite.core.Limits#KEY_BYTES_MAX}, or there are more than {@link #COUNT_MAX}; then
     *     the list is empty
     */
    void append(RecordView record, Slice primaryKey, EntryKeyList keys);

    /**
     * Bytes of the secondary key in an entry key: the primary key is behind them.
     *
     * @throws io.turbidite.core.CorruptionException if it is no key of the index
     */
    int secondaryBytes(Slice entryKey);

    /** Moves {@code primaryKey} to the primary key in an entry key. */
    default Slice primaryKey(Slice entryKey, Slice primaryKey) {
        int before = secondaryBytes(entryKey);
        return primaryKey.set(
                entryKey.segment(), entryKey.offset() + before, entryKey.length() - before);
    }

    /** The same as a new index would have them: in the present form. */
    EntryKeys renewed();

    /**
     * Why keys that were made with these parameters can't be told any more from here, in a few
     * words; empty if they can. Then the index must be built anew.
     */
    default String outdated() {
        return "";
    }
}
