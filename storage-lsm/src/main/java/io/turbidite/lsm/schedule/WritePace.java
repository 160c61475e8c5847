package io.turbidite.lsm.schedule;

/**
 * How fast writers may come in, given what is left to do behind them. Two rules, the stricter one
 * counts; both give a time for each byte, so twice the bytes pay twice:
 *
 * <ol>
 *   <li><b>Memory</b>, from where a flush begins: what is still free must last until the flush that
 *       is under way gives its memory back. {@code toFlush / flushBandwidth} is that time, so a
 *       byte costs {@code toFlush / (flushBandwidth * free)} seconds. While writers are as fast as
 *       the flush, that is what they pay anyway; the price grows as room shrinks, without bound.
 *   <li><b>Merge debt</b>, from a quarter of the components where writers must stop: a byte that
 *       comes in costs the merges {@code amplification} bytes of work, so
 *       {@code mergeBandwidth / amplification} is the rate at which the debt stays as it is.
 *       Writers get that rate times {@code left / over}, where {@code over} counts the components
 *       since the slowing began and {@code left} those to the stop: more than the sustainable rate
 *       in the first half, less in the second, so that the debt settles between.
 * </ol>
 *
 * <p>A flush begins as late as the first rule allows ({@link #memoryBytesFree}): what is flushed at
 * once need not be merged.
 *
 * <em>Immutable.</em>
 *
 * @param memoryBytesMax write memory: writers stop when it is full
 * @param componentsMax components behind at which writers stop
 */
public record WritePace(long memoryBytesMax, int componentsMax) {
    /** So long a write waits for room where the disk has failed, then it is refused. */
    public static final long REFUSE_NANOS = 1_000_000_000;

    /** Writers may become faster by that much while a flush runs, and still pay nothing. */
    private static final double SPURT = 1.25;

    /**
     * From where memory has a price: where a flush begins. Writers fill what is left while that
     * much is flushed, so it is memoryBytesMax / (1 + writers / flush); never below a half nor
     * above three quarters, since writers can become faster from one moment to the next.
     */
    public long memoryBytesFree(double writersBytesPerSecond, double flushBytesPerSecond) {
        double share = 1 / (1 + SPURT * writersBytesPerSecond / flushBytesPerSecond);
        return (long) (memoryBytesMax * Math.clamp(share, 0.5, 0.75));
    }

    /**
     * From where a flush has the machine to itself: half of what was left for writers is filled.
     */
    public long memoryBytesUrgent(long memoryBytesFree) {
        return memoryBytesMax - (memoryBytesMax - memoryBytesFree) / 2;
    }

    /** From where merge debt has a price. */
    public int componentsFree() {
        return componentsMax / 4;
    }

    /** Whether writers must stop. */
    public boolean isStopped(long unflushedBytes, int componentsBehind) {
        return unflushedBytes >= memoryBytesMax || componentsBehind >= componentsMax;
    }

    /** Whether merges are not behind so far that writers pay for it. */
    public boolean mergesKeepUp(int componentsBehind) {
        return componentsBehind <= componentsFree();
    }

    /**
     * What a byte costs for want of memory, in nanoseconds, from where a flush begins; infinite
     * where writers stop.
     *
     * @param toFlushBytes what the flush under way, or the next one, has still to write before
     *     memory comes back
     */
    public double memoryNanosPerByte(
            long unflushedBytes, long toFlushBytes, double flushBytesPerSecond) {
        long free = memoryBytesMax - unflushedBytes;
        return free <= 0
                ? Double.POSITIVE_INFINITY
                : 1e9 * toFlushBytes / (flushBytesPerSecond * free);
    }

    /**
     * What a byte costs for want of merges, in nanoseconds; infinite where writers stop.
     *
     * @param mergeBytesPerByte what merges write for each byte that was flushed
     */
    public double mergeNanosPerByte(
            int componentsBehind, double mergeBytesPerSecond, double mergeBytesPerByte) {
        int over = componentsBehind - componentsFree();
        if (over <= 0) {
            return 0;
        }
        int left = componentsMax - componentsBehind;
        return left <= 0
                ? Double.POSITIVE_INFINITY
                : 1e9 * mergeBytesPerByte / mergeBytesPerSecond * over / left;
    }
}
