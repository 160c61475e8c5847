package io.turbidite.pm.region;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * The lines that were stored to since the last fence, as runs of neighbours. Each line is written
 * back once, neighbours together; then comes the fence. Counts what that costs.
 *
 * <p><em>Confined to the writer.</em>
 */
public final class DirtyLines {
    private static final int MORE_BITS = 8;
    private static final int MORE_MAX = (1 << MORE_BITS) - 1;

    private final RegionMemory memory;
    private final @Nullable BlockSums sums;

    /** The first line of a run, and below that how many lines are behind it. */
    private long[] runs = new long[256];

    private int runCount;
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
        long first = offset / RegionMemory.LINE_BYTES;
        long last = (offset + byteCount - 1) / RegionMemory.LINE_BYTES;
        if (runCount > 0) {
            long before = runs[runCount - 1];
            if (first >= line(before) && last <= line(before) + more(before)) {
                return;
            }
        }
        for (long line = first; line <= last; line += MORE_MAX + 1) {
            if (runCount == runs.length) {
                runs = Arrays.copyOf(runs, runCount * 2);
            }
            runs[runCount++] = line << MORE_BITS | Math.min(last - line, MORE_MAX);
        }
    }

    private static long line(long run) {
        return run >>> MORE_BITS;
    }

    private static long more(long run) {
        return run & MORE_MAX;
    }

    /** Writes all of them back and fences; does nothing if there is none. */
    public void settle() {
        if (runCount == 0) {
            return;
        }
        Arrays.sort(runs, 0, runCount);
        long block = -1;
        int at = 0;
        while (at < runCount) {
            long first = line(runs[at]);
            long end = first;
            while (at < runCount && line(runs[at]) <= end) {
                end = Math.max(end, line(runs[at]) + more(runs[at]) + 1);
                at++;
            }
            memory.writeBack(
                    first * RegionMemory.LINE_BYTES, (end - first) * RegionMemory.LINE_BYTES);
            linesWritten += end - first;
            long firstBlock = blockOf(first);
            blocksWritten += blockOf(end - 1) - firstBlock + (firstBlock == block ? 0 : 1);
            block = blockOf(end - 1);
        }
        runCount = 0;
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
