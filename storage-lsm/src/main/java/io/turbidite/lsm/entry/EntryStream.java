package io.turbidite.lsm.entry;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

/**
 * Entries in order (key ascending, timestamp descending), read once from the first to the last:
 * what flush and merge write. All versions and anti-matter are shown; reconciling is the reader's
 * work.
 *
 * <p><em>Confined to one thread.</em> Starts before the first entry. Slices are reused and valid
 * until the stream moves.
 */
public interface EntryStream extends AutoCloseable {
    /** Moves to the next entry; false at the end. */
    boolean next();

    /**
     * Moves to the next entry and notes it; false at the end, and nothing is noted. Whoever can
     * tell more cheaply than part by part says so.
     */
    default boolean next(EntryHead brief) {
        if (!next()) {
            return false;
        }
        brief.note(this);
        return true;
    }

    Slice key();

    /**
     * The first eight bytes of {@link #key} as {@link Bytes#prefix} gives them, for a merge to
     * compare by; whoever can tell without putting the key together says so.
     */
    default long keyPrefix() {
        Slice key = key();
        return Bytes.prefix(key.segment(), key.offset(), key.length());
    }

    /** Bytes of {@link #key}. */
    default int keyLength() {
        return key().length();
    }

    /**
     * Of a key of sixteen bytes at most, those behind the first eight, padded with zeros, as a
     * number; of a longer one, anything. With {@link #keyPrefix} and {@link #keyLength} this is all
     * of most keys.
     */
    default long keySecond() {
        return KeyCopy.secondOf(key());
    }

    long timestamp();

    /** Whether the entry says that its key is deleted as of its timestamp. */
    boolean isAntimatter();

    /**
     * The timestamp of the entry's successor, as far as it is on record beside the entry: under the
     * mutable-bitmap strategy a superseded entry knows it. {@link Long#MAX_VALUE} if there is none,
     * 0 if it is so old that every reader sees it.
     */
    default long successorTimestamp() {
        return Long.MAX_VALUE;
    }

    /**
     * Where the entry lies in what is copied: {@link Found#position} in a single source. -1 if
     * nobody has to know.
     */
    default long position() {
        return -1;
    }

    /** The value; empty for anti-matter and key-only trees. */
    Slice value();

    @Override
    void close();
}
