package io.turbidite.lsm.entry;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

/**
 * An entry in brief: all that a flush or a merge wants to know of it but its value, in fields that
 * one call fills. Asked for part by part, through every stream between a page and the writer, an
 * entry of forty bytes costs two dozen calls, most of them through interfaces.
 *
 * <p><em>Confined to one thread.</em> Owned by whoever reads, and filled again for each entry.
 */
public final class EntryHead {
    /** The longest key that {@link #prefix} and {@link #second} hold. */
    public static final int WORDS_BYTES = 2 * Long.BYTES;

    private static final Slice NO_KEY = new Slice();

    /** As {@link Bytes#prefix}. */
    public long prefix;

    /** The eight key bytes behind these, likewise. */
    public long second;

    public int keyBytes;
    public long timestamp;
    public boolean antimatter;

    /** As {@link EntryStream#successorTimestamp}. */
    public long successor;

    /** The whole key if it is {@link #isLong}; valid until the stream moves. */
    private Slice longKey = NO_KEY;

    /** Notes the entry that {@code entries} stands on. */
    public void note(EntryStream entries) {
        keyBytes = entries.keyLength();
        if (isLong()) {
            noteLong(entries.key());
        } else {
            prefix = entries.keyPrefix();
            second = entries.keySecond();
        }
        noteRest(entries.timestamp(), entries.isAntimatter(), entries.successorTimestamp());
    }

    /** Notes an entry that has no successor. */
    public void note(Slice key, long newTimestamp, boolean isAntimatter) {
        keyBytes = key.length();
        if (isLong()) {
            noteLong(key);
        } else {
            prefix = Bytes.prefix(key.segment(), key.offset(), keyBytes);
            second = KeyCopy.secondOf(key);
        }
        noteRest(newTimestamp, isAntimatter, Long.MAX_VALUE);
    }

    /** Notes an entry whose key has {@link #WORDS_BYTES} at most. */
    public void note(
            long keyPrefix,
            long keySecond,
            int newKeyBytes,
            long newTimestamp,
            boolean isAntimatter) {
        assert newKeyBytes <= WORDS_BYTES : newKeyBytes;
        keyBytes = newKeyBytes;
        prefix = keyPrefix;
        second = keySecond;
        noteRest(newTimestamp, isAntimatter, Long.MAX_VALUE);
    }

    public void set(EntryHead other) {
        keyBytes = other.keyBytes;
        prefix = other.prefix;
        second = other.second;
        if (isLong()) {
            keepLong(other.longKey);
        }
        noteRest(other.timestamp, other.antimatter, other.successor);
    }

    private void noteLong(Slice key) {
        prefix = key.segment().get(Bytes.I64_BE, key.offset());
        second = key.segment().get(Bytes.I64_BE, key.offset() + Long.BYTES);
        keepLong(key);
    }

    /**
     * A cursor shows its keys by one slice: to store it again would cost a barrier of the
     * collector.
     */
    @SuppressWarnings("ReferenceEquality")
    private void keepLong(Slice key) {
        if (key != longKey) {
            longKey = key;
        }
    }

    private void noteRest(long newTimestamp, boolean isAntimatter, long successorTimestamp) {
        timestamp = newTimestamp;
        antimatter = isAntimatter;
        successor = successorTimestamp;
    }

    /** Whether the key does not fit the two words. */
    public boolean isLong() {
        return keyBytes > WORDS_BYTES;
    }

    /** The key, if it is long. */
    public Slice longKey() {
        assert isLong() : keyBytes;
        return longKey;
    }

    /** The version as pages store it: the timestamp times two, plus one for anti-matter. */
    public long version() {
        return timestamp << 1 | (antimatter ? 1 : 0);
    }

    /** Order of the keys. */
    public int compareKeys(EntryHead other) {
        int order = Long.compareUnsigned(prefix, other.prefix);
        if (order == 0) {
            order = Long.compareUnsigned(second, other.second);
        }
        if (order != 0) {
            return order;
        }
        // keys that differ only in how many zeros they are padded with: the shorter is below
        return isLong() && other.isLong()
                ? longKey.compareBytes(other.longKey)
                : Integer.compare(keyBytes, other.keyBytes);
    }

    /** Puts the key behind what is in {@code sink}. */
    public void putKey(ByteSink sink) {
        if (isLong()) {
            sink.putBytes(longKey);
        } else {
            int end = sink.length() + keyBytes;
            sink.putLongBigEndian(prefix).putLongBigEndian(second).truncate(end);
        }
    }
}
