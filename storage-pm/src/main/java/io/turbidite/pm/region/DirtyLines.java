package io.turbidite.pm.region;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * The lines that were stored to since the last fence. Each is written back once, neighbours
 * together; then comes the fence. Counts what that costs.
 *
 * <p><em>Confined to the writer.</em>
 */
public final class DirtyLines {
    private final RegionMemory memory;
    private final @Nullable BlockSums sums;
    private long[] lines = new long[256];
    private int lineCount;
    private long fences;
    private long linesWritten;
    private long blocksWritten;

    /**
     * Of a memory.
     *
     * @param sums what else is to know; null if nothing
     */
    DirtyLines(RegionMemory memory, @Nullable BlockSums sums) {
        this.memory = memory;
        this.sums = sums;
    }

    /** Notes that a range was stored to. */
    public void add(long offset, long byteCount) {
        if (sums != null) {
            sums.changed(offset, byteCount);
        }
        long last = (offset + byteCount - 1) / RegionMemory.LINE_BYTES;
        for (long line = offset / RegionMemory.LINE_BYTES; line <= last; line++) {
            if (lineCount > 0 && lines[lineCount - 1] == line) {
                continue;
            }
            if (lineCount == lines.length) {
                lines = Arrays.copyOf(lines, lineCount * 2);
            }
            lines[lineCount++] = line;
        }
    }

    /** Writes all of them back and fences; does nothing if there is none. */
    public void settle() {
        if (lineCount == 0) {
            return;
        }
        Arrays.sort(lines, 0, lineCount);
        long block = -1;
        int at = 0;
        while (at < lineCount) {
            long first = lines[at];
            long end = first;
            while (at < lineCount && lines[at] <= end) {
                end = lines[at++] + 1;
            }
            memory.writeBack(
                    first * RegionMemory.LINE_BYTES, (end - first) * RegionMemory.LINE_BYTES);
            linesWritten += end - first;
            long firstBlock = blockOf(first);
            blocksWritten += blockOf(end - 1) - firstBlock + (firstBlock == block ? 0 : 1);
            block = blockOf(end - 1);
        }
        lineCount = 0;
        memory.fence();
        fences++;
    }

    private static long blockOf(long line) {
        return line / (RegionMemory.BLOCK_BYTES / RegionMemory.LINE_BYTES);
    }

    /** Fences so far. */
    public long fences() {
        return fences;
    }

    /** Lines written back so far. */
    public long linesWritten() {
        return linesWritten;
    }

    /** Blocks of the medium written so far: those with a line that was written back, each fence. */
    public long blocksWritten() {
        return blocksWritten;
    }
}
