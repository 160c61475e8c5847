package io.turbidite.pm.postings;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.format.Crc32c;
import io.turbidite.pm.region.CheckedWord;
import io.turbidite.pm.region.Pages;
import io.turbidite.pm.region.RegionMemory;

import java.lang.foreign.MemorySegment;

/**
 * The format of pages, groups and entries. A pointer to a group is its offset in the region.
 *
 * <p>A page begins with a {@linkplain CheckedWord checked word}: 1 if several secondary keys may
 * share it, 2 if it is exclusive to one. Groups follow, in the order they were appended. Layout of
 * a group (little-endian):
 *
 * <pre>
 * offset bytes field
 *      0     8 head      bits 0-39: offset of the older group divided by 8, 0 if none;
 *                        40-51: count of entries; 52-63: zero
 *      8     8 sum       bits 0-15: bytes of the entries divided by 8; 16-31: zero;
 *                        32-63: CRC32C of offset, head, length, entries without their marks
 *     16       entries, newest first
 * </pre>
 *
 * <p>An entry is a head (bits 0 to 46: timestamp; 47 to 57: length of the key; 58 to 63: its mark,
 * all ones if it is stale, else all zeros) and the primary key, zero-padded to 8 bytes.
 *
 * <p><em>Stateless.</em> The mark is the one thing that changes, by a store of the head; six bits
 * that differ are damage.
 */
final class Group {
    static final int PAGE_HEAD_BYTES = 8;
    static final long SHARED = 1;
    static final long EXCLUSIVE = 2;

    static final int SUM_OFFSET = 8;
    static final int ENTRIES_OFFSET = 16;
    static final int ENTRY_HEAD_BYTES = 8;

    private static final int COUNT_SHIFT = 40;
    private static final int COUNT_BITS = 12;
    private static final int LENGTH_SHIFT = 47;
    private static final int LENGTH_MASK = (1 << 11) - 1;
    private static final int MARK_SHIFT = 58;
    static final long MARK = 0x3FL << MARK_SHIFT;

    private Group() {}

    static long head(long older, int count) {
        assert count < 1 << COUNT_BITS : count;
        return older / 8 | (long) count << COUNT_SHIFT;
    }

    static long older(long head) {
        return (head & CheckedWord.PAYLOAD_MAX) * 8;
    }

    static int count(long head) {
        return (int) (head >>> COUNT_SHIFT); // with the zeros: damage makes it large
    }

    static long sum(int entryBytes, int crc) {
        return entryBytes / 8 | (long) crc << 32;
    }

    static long entryBytes(long sum) {
        return (sum & 0xFFFF_FFFFL) * 8; // with the zeros, too
    }

    /** The checksum of a group whose entries are copied, without marks. */
    static int crc(Crc32c crc, long group, long head, MemorySegment entries, int entryBytes) {
        return crc.begin()
                .updateLong(group)
                .updateLong(head)
                .updateInt(entryBytes)
                .update(entries, 0, entryBytes)
                .value();
    }

    static long entryHead(long timestamp, int keyBytes) {
        return timestamp | (long) keyBytes << LENGTH_SHIFT;
    }

    static long timestamp(long entryHead) {
        return entryHead & Limits.TIMESTAMP_MAX;
    }

    static int keyBytes(long entryHead) {
        return (int) (entryHead >>> LENGTH_SHIFT) & LENGTH_MASK;
    }

    static int entryBytes(int keyBytes) {
        return ENTRY_HEAD_BYTES + (keyBytes + 7 & -8);
    }

    /** The page that an offset lies in. */
    static long pageOf(long offset, int pageBytes) {
        long inChunk = offset % Pages.CHUNK_BYTES;
        return offset - inChunk % pageBytes;
    }

    static long pageWord(long page, long kind) {
        return CheckedWord.of(kind, page);
    }

    /** Whether a page is exclusive to one secondary key. */
    static boolean isExclusive(RegionMemory memory, long page) {
        long word = memory.getLong(page);
        long kind = CheckedWord.payload(word);
        if (!CheckedWord.isSound(word, page) || kind < SHARED || kind > EXCLUSIVE) {
            throw damaged(memory, page, "head of a page", "1 or 2, checked", word);
        }
        return kind == EXCLUSIVE;
    }

    static CorruptionException damaged(
            RegionMemory memory, long at, String what, String expected, long found) {
        return new CorruptionException(memory.name(), at, what, expected, Long.toHexString(found));
    }

    /** Writes an entry to a buffer. */
    static void writeEntry(
            MemorySegment target,
            long at,
            long timestamp,
            MemorySegment key,
            long from,
            int bytes) {
        target.set(Bytes.I64, at, entryHead(timestamp, bytes));
        int padded = entryBytes(bytes) - ENTRY_HEAD_BYTES;
        if (padded > bytes) {
            target.set(Bytes.I64, at + ENTRY_HEAD_BYTES + padded - 8, 0);
        }
        MemorySegment.copy(key, from, target, at + ENTRY_HEAD_BYTES, bytes);
    }
}
