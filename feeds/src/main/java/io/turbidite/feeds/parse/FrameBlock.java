package io.turbidite.feeds.parse;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Copies of some frames of one partition in sequence, so that they can be parsed while the source
 * is read on by another thread. Memory: {@value #BYTES_FULL} bytes and a record. <em>Confined to
 * one thread.</em>
 */
public final class FrameBlock {
    /** As many as a batch has. */
    public static final int FRAMES_MAX = 512;

    private static final int BYTES_FULL = 256 << 10;

    /** A huge record's buffer is let go of behind it. */
    private static final int BYTES_KEPT_MAX = 4 * BYTES_FULL;

    private final List<RecordFrame> frames = new ArrayList<>();
    private byte[] bytes = new byte[BYTES_FULL];
    private int byteCount;
    private int count;

    /** Empties it. */
    public void clear() {
        count = 0;
        byteCount = 0;
        if (bytes.length > BYTES_KEPT_MAX) {
            bytes = new byte[BYTES_FULL];
        }
    }

    /** Takes a copy of a frame. */
    public void add(RecordFrame from) {
        if (count == frames.size()) {
            frames.add(new RecordFrame());
        }
        int shown = from.start() + from.length() - from.shownStart();
        if (byteCount + shown > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, byteCount + shown));
        }
        System.arraycopy(from.bytes, from.shownStart(), bytes, byteCount, shown);
        RecordFrame frame = frames.get(count);
        frame.start = byteCount + from.start() - from.shownStart();
        frame.length = from.length;
        frame.offset = from.offset;
        frame.line = from.line;
        frame.endOffset = from.endOffset;
        frame.endLine = from.endLine;
        frame.spansLines = from.spansLines;
        frame.isDelete = from.isDelete;
        frame.fullLength = from.fullLength;
        frame.problem = from.problem;
        frame.source = from.source;
        byteCount += shown;
        count++;
    }

    /** What it has does not change from now on: its frames may be looked at. */
    public void seal() {
        MemorySegment segment = MemorySegment.ofArray(bytes);
        for (int i = 0; i < count; i++) {
            frames.get(i).bytes = bytes;
            frames.get(i).segment = segment;
        }
    }

    /** Whether it has as much as a batch should. */
    public boolean isFull() {
        return count == FRAMES_MAX || byteCount >= BYTES_FULL;
    }

    /** How many frames it has. */
    public int count() {
        return count;
    }

    /** A frame of a sealed block, valid until that is cleared. */
    public RecordFrame frame(int index) {
        return frames.get(index);
    }
}
