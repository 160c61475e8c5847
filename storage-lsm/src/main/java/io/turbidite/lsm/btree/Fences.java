package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * The interior of a tree, whole and in memory: finds the page an entry is on, and knows where each
 * page lies in the file. See {@link FencesLayout}.
 *
 * <p><em>Immutable; thread-safe.</em> A view of memory that the component owns.
 */
public final class Fences {
    private final MemorySegment bytes;

    /** Of all fences but the first, which is empty. */
    private final Heads heads = new Heads();

    private final int pageCount;
    private final int prefixBytes;
    private final long entryCount;
    private final long firstOrdinals;
    private final long fileOffsets;
    private final long timestamps;
    private final long blockBytes;
    private final long pageBytes;
    private final long suffixEnds;
    private final long prefix;
    private final long suffixes;

    private Fences(MemorySegment bytes) {
        this.bytes = bytes;
        this.pageCount = bytes.get(Bytes.I32, FencesLayout.PAGE_COUNT_OFFSET);
        this.prefixBytes = bytes.get(Bytes.I16, FencesLayout.KEY_PREFIX_BYTES_OFFSET) & 0xFFFF;
        this.entryCount = bytes.get(Bytes.I64, FencesLayout.ENTRY_COUNT_OFFSET);
        this.firstOrdinals = FencesLayout.firstOrdinals(pageCount);
        this.fileOffsets = FencesLayout.fileOffsets(pageCount);
        this.timestamps = FencesLayout.timestamps(pageCount);
        this.blockBytes = FencesLayout.blockBytes(pageCount);
        this.pageBytes = FencesLayout.pageBytes(pageCount);
        this.suffixEnds = FencesLayout.suffixEnds(pageCount);
        this.prefix = FencesLayout.prefix(pageCount);
        this.suffixes = prefix + prefixBytes;
        if (pageCount > 1) {
            heads.wrap(FencesLayout.HEADS_OFFSET + (long) Heads.BYTES, Heads.BYTES, pageCount - 1);
        }
    }

    /** What is wrong with the bytes of an interior read from a file, or null. */
    public static @Nullable String problem(MemorySegment bytes) {
        return FencesLayout.problem(bytes);
    }

    /** A view of bytes that have no {@link #problem}. */
    public static Fences over(MemorySegment bytes) {
        return new Fences(bytes);
    }

    /** What is wrong with leaf page {@code page}, read from the file, or null. */
    public @Nullable String problemOfPage(int page, MemorySegment leaf) {
        String problem = LeafLayout.problem(leaf);
        if (problem != null) {
            return problem;
        }
        long first = leaf.get(Bytes.I64, LeafLayout.FIRST_ORDINAL_OFFSET);
        int count = leaf.get(Bytes.I32, LeafLayout.ENTRY_COUNT_OFFSET);
        if (first != firstOrdinal(page) || first + count != firstOrdinal(page + 1)) {
            return "entries %d to %d, %d to %d expected"
                    .formatted(first, first + count, firstOrdinal(page), firstOrdinal(page + 1));
        }
        return null;
    }

    public int pageCount() {
        return pageCount;
    }

    /** Entries on all pages. */
    public long entryCount() {
        return entryCount;
    }

    /** The ordinal of the first entry of a page; of page {@code pageCount}, the entry count. */
    public long firstOrdinal(int page) {
        return page == pageCount ? entryCount : bytes.get(Bytes.I64, firstOrdinals + 8L * page);
    }

    /** The page with the entry of this ordinal. */
    public int pageOfOrdinal(long ordinal) {
        int low = 0;
        int high = pageCount - 1;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (firstOrdinal(middle) <= ordinal) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    /** Where the page's block starts in the file. */
    public long fileOffset(int page) {
        return bytes.get(Bytes.I64, fileOffsets + 8L * page);
    }

    /** Bytes of the page's block in the file. */
    public int blockBytes(int page) {
        return bytes.get(Bytes.I32, blockBytes + 4L * page);
    }

    /** Bytes of the page in memory. */
    public int pageBytes(int page) {
        return bytes.get(Bytes.I32, pageBytes + 4L * page);
    }

    /** Bytes of the interior itself. */
    public long byteSize() {
        return bytes.byteSize();
    }

    /**
     * The page to look for the first entry at or behind (key, timestamp): the last whose fence is
     * not behind it. If that page ends before, it is the first entry of the next.
     *
     * @return -1 if there is no page
     */
    int pageOf(Slice key, long timestamp) {
        return pageOf(key, timestamp, -1);
    }

    /**
     * As {@link #pageOf(Slice, long)}, sought from {@code hint} outwards.
     *
     * @param hint a page, or negative to guess
     */
    public int pageOf(Slice key, long timestamp, int hint) {
        int fenceCount = pageCount - 1; // the first page's is empty and left out
        if (fenceCount < 1) {
            return pageCount - 1;
        }
        int order = Bytes.compare(
                key.segment(),
                key.offset(),
                Math.min(prefixBytes, key.length()),
                bytes,
                prefix,
                prefixBytes);
        if (order != 0) {
            return order < 0 ? 0 : fenceCount;
        }
        long head = Heads.of(key, prefixBytes);
        int low = heads.lowerBound(bytes, head, Math.min(hint, fenceCount));
        if (low < fenceCount && heads.at(bytes, low) == head) {
            int high = heads.runEnd(bytes, low);
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (isBehind(middle + 1, key, timestamp)) {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
        }
        // fences 0 to low - 1 of the column are not behind: pages 1 to low
        return low;
    }

    /** Whether the fence of {@code page}, not the first, is behind (key, timestamp). */
    boolean isBehind(int page, Slice key, long timestamp) {
        int order = compareKey(page, key);
        return order > 0 || (order == 0 && timestamp(page) < timestamp);
    }

    /** Whether versions of {@code key} may go on from the page before to {@code page}. */
    boolean isWithin(int page, Slice key) {
        return timestamp(page) != Long.MAX_VALUE && compareKey(page, key) == 0;
    }

    private long timestamp(int page) {
        return bytes.get(Bytes.I64, timestamps + 8L * page);
    }

    /** Order of the fence key of {@code page}, not the first, against {@code key}. */
    int compareKey(int page, Slice key) {
        int common = Math.min(prefixBytes, key.length());
        int order = Bytes.compare(bytes, prefix, prefixBytes, key.segment(), key.offset(), common);
        if (order != 0) {
            return order;
        }
        int start = bytes.get(Bytes.I32, suffixEnds + 4L * (page - 1));
        int end = bytes.get(Bytes.I32, suffixEnds + 4L * page);
        return Bytes.compare(
                bytes,
                suffixes + start,
                end - start,
                key.segment(),
                key.offset() + prefixBytes,
                key.length() - prefixBytes);
    }
}
