package io.turbidite.lsm.entry;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.SpareSinks;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A key remembered while a cursor moves on, to tell further versions of one key from the next key.
 *
 * <p>Keys differ in their first eight bytes more often than not, and many have no more than sixteen
 * (a number behind its byte of presence has nine): these are kept as two numbers, and only longer
 * keys are copied.
 *
 * <p><em>Confined to one thread.</em>
 */
public final class KeyCopy {
    private static final int WORDS_BYTES = EntryHead.WORDS_BYTES;

    /** The whole key if it is longer than two words; made with the first that is. */
    private @Nullable ByteSink bytes;

    /** As {@link Bytes#prefix}. */
    private long prefix;

    /** The eight bytes behind these, likewise; nothing if the key is longer than two words. */
    private long second;

    private int length;
    private boolean present;

    /** Remembers nothing. */
    public void forget() {
        present = false;
    }

    public void set(Slice key) {
        prefix = prefixOf(key);
        length = key.length();
        present = true;
        if (length > WORDS_BYTES) {
            bytes().clear().putBytes(key);
        } else {
            second = secondOf(key);
        }
    }

    /** Remembers the key of the entry that {@code entries} stands on. */
    public void set(EntryStream entries) {
        prefix = entries.keyPrefix();
        length = entries.keyLength();
        present = true;
        if (length > WORDS_BYTES) {
            bytes().clear().putBytes(entries.key());
        } else {
            second = entries.keySecond();
        }
    }

    /** Remembers the key of {@code entry}. */
    public void set(EntryHead entry) {
        prefix = entry.prefix;
        second = entry.second;
        length = entry.keyBytes;
        present = true;
        if (entry.isLong()) {
            bytes().clear().putBytes(entry.longKey());
        }
    }

    private ByteSink bytes() {
        ByteSink sink = bytes;
        if (sink == null) {
            sink = SpareSinks.take();
            bytes = sink;
        }
        return sink;
    }

    /** Forgets the key, and gives back what held it; it may remember another one then. */
    public void release() {
        forget();
        ByteSink used = bytes;
        if (used != null) {
            bytes = null;
            SpareSinks.give(used);
        }
    }

    private static long prefixOf(Slice key) {
        return Bytes.prefix(key.segment(), key.offset(), key.length());
    }

    /** As {@link EntryStream#keySecond}. */
    public static long secondOf(Slice key) {
        int rest = key.length() - Long.BYTES;
        // the last eight bytes of the key, those of the first word shifted out
        return rest <= 0 || rest > Long.BYTES
                ? 0
                : key.segment().get(Bytes.I64_BE, key.offset() + rest)
                        << (Byte.SIZE * (Long.BYTES - rest));
    }

    /** Moves {@code slice} to the key that is remembered. */
    public Slice asSlice(Slice slice) {
        assert present;
        if (length <= WORDS_BYTES) {
            bytes().clear().putLongBigEndian(prefix).putLongBigEndian(second).truncate(length);
        }
        return bytes().asSlice(slice);
    }

    /** Whether a key is remembered and {@code key} has the same bytes. */
    public boolean matches(Slice key) {
        return present
                && prefixOf(key) == prefix
                && key.length() == length
                && (length > WORDS_BYTES ? hasBytes(key) : secondOf(key) == second);
    }

    /** Whether a key is remembered and the entry that {@code entries} stands on has the same. */
    public boolean matches(EntryStream entries) {
        return present
                && entries.keyPrefix() == prefix
                && entries.keyLength() == length
                && (length > WORDS_BYTES ? hasBytes(entries.key()) : entries.keySecond() == second);
    }

    /** Whether a key is remembered and {@code entry} has the same. */
    public boolean matches(EntryHead entry) {
        return present
                && entry.prefix == prefix
                && entry.keyBytes == length
                && (length > WORDS_BYTES ? hasBytes(entry.longKey()) : entry.second == second);
    }

    /** Whether the key that is remembered is below that of {@code entry}. */
    public boolean precedes(EntryHead entry) {
        assert present;
        int order = Long.compareUnsigned(prefix, entry.prefix);
        if (order == 0) {
            order = Long.compareUnsigned(secondWord(), entry.second);
        }
        if (order != 0) {
            return order < 0;
        }
        if (length > WORDS_BYTES && entry.isLong()) {
            return compare(entry.longKey()) < 0;
        }
        // they differ only in how many zeros they are padded with: the shorter is below
        return length < entry.keyBytes;
    }

    /**
     * How many first bytes the key of {@code entry} shares with the one that is remembered; 0 if
     * none is.
     */
    public int sharedBytes(EntryHead entry) {
        if (entry.isLong()) {
            return sharedBytes(entry.longKey());
        }
        if (!present) {
            return 0;
        }
        long difference = entry.prefix ^ prefix;
        int shared = difference == 0
                ? Long.BYTES + sameBytes(entry.second ^ secondWord())
                : sameBytes(difference);
        return Math.min(shared, Math.min(length, entry.keyBytes));
    }

    /** The second eight bytes, of a long key too. */
    private long secondWord() {
        return length > WORDS_BYTES ? bytes().segment().get(Bytes.I64_BE, Long.BYTES) : second;
    }

    /** How many first bytes {@code key} shares with the key that is remembered; 0 if none is. */
    public int sharedBytes(Slice key) {
        if (!present) {
            return 0;
        }
        int limit = Math.min(length, key.length());
        long difference = prefixOf(key) ^ prefix;
        if (difference != 0 || limit <= Long.BYTES) {
            return Math.min(limit, sameBytes(difference));
        }
        if (length <= WORDS_BYTES) {
            long other = key.length() < WORDS_BYTES
                    ? secondOf(key)
                    : key.segment().get(Bytes.I64_BE, key.offset() + Long.BYTES);
            return Math.min(limit, Long.BYTES + sameBytes(other ^ second));
        }
        MemorySegment segment = key.segment();
        int i = Long.BYTES;
        for (; i + Long.BYTES <= limit; i += Long.BYTES) {
            difference = segment.get(Bytes.I64_BE, key.offset() + i)
                    ^ bytes().segment().get(Bytes.I64_BE, i);
            if (difference != 0) {
                return i + sameBytes(difference);
            }
        }
        while (i < limit && segment.get(Bytes.U8, key.offset() + i) == byteAt(i)) {
            i++;
        }
        return i;
    }

    private static int sameBytes(long difference) {
        return Long.numberOfLeadingZeros(difference) / Byte.SIZE;
    }

    public int length() {
        return present ? length : 0;
    }

    /** A byte of the key that is remembered, signed. */
    public byte byteAt(int index) {
        Objects.checkIndex(index, length());
        if (length > WORDS_BYTES) {
            return bytes().segment().get(Bytes.U8, index);
        }
        long word = index < Long.BYTES ? prefix : second;
        return (byte) (word >>> (Byte.SIZE * (Long.BYTES - 1 - index % Long.BYTES)));
    }

    private boolean hasBytes(Slice key) {
        return Bytes.compare(bytes().segment(), 0, length, key.segment(), key.offset(), length)
                == 0;
    }

    /** The order of the key that is remembered, which is long, against {@code key}. */
    private int compare(Slice key) {
        return Bytes.compare(
                bytes().segment(), 0, length, key.segment(), key.offset(), key.length());
    }
}
