package io.turbidite.ops.batch;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.type.TypeKind;

/**
 * The words of keys that are encoded, as {@link KeyWords} reads them of the fields of records: so a
 * key that is kept is met by records whose keys are never encoded. <em>Confined to one thread.</em>
 */
public final class EncodedWords {
    private final TypeKind[] kinds;
    private final byte[] plain = new byte[KeyWords.BYTES_MAX];

    /**
     * @param kinds of the fields, each of which {@link #fit}
     */
    public EncodedWords(TypeKind[] kinds) {
        this.kinds = kinds.clone();
    }

    /** Whether the encoding of a kind's values can be read. */
    public static boolean fit(TypeKind kind) {
        return KeyWords.areBytes(kind) || (KindValues.isLong(kind) && kind != TypeKind.BOOL);
    }

    /**
     * Puts the words of a key without nulls.
     *
     * @param at where they begin
     * @return false where it has none: then all is undefined but the first word, which says so
     */
    public boolean read(Slice key, long[] to, int at) {
        to[at] = 0;
        int word = at + 1;
        int from = 0;
        for (int i = 0; i < kinds.length; i++) {
            if (!KeyWords.areBytes(kinds[i])) {
                to[word++] = KeyCodec.number(key, from);
            } else {
                int length = bytes(kinds[i], key, from);
                if (length < 0) {
                    to[at] = KeyWords.NONE;
                    return false;
                }
                to[at] |= (long) length << (Byte.SIZE * i);
                to[word++] = word(0, Math.min(length, Long.BYTES));
                to[word++] = length > Long.BYTES ? word(length - Long.BYTES, Long.BYTES) : 0;
            }
            from += KeyCodec.length(kinds[i], key, from);
        }
        return true;
    }

    /** Reads the bytes of a value into {@link #plain}; negative where these are too many. */
    private int bytes(TypeKind kind, Slice key, int from) {
        if (kind != TypeKind.UUID) {
            return KeyCodec.copyBytes(key, from, plain);
        }
        for (int i = 0; i < plain.length; i++) {
            plain[i] = (byte) key.byteAt(from + 1 + i); // behind the marker
        }
        return plain.length;
    }

    private long word(int from, int count) {
        long word = 0;
        for (int i = 0; i < count; i++) {
            word |= (plain[from + i] & 0xFFL) << (Byte.SIZE * i);
        }
        return word;
    }
}
