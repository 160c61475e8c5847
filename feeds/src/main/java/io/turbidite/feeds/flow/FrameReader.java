package io.turbidite.feeds.flow;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.feeds.source.SourcePosition;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * Reads the fields of a batch out of a frame of a spill, one behind the other. The frame's checksum
 * was right, so what does not fit is a writer's fault; still no reason to read beyond the frame.
 * <em>Confined to one thread; moved from frame to frame.</em>
 */
final class FrameReader {
    private String file = "";
    private long fileOffset;
    private MemorySegment bytes = MemorySegment.NULL;
    private long start;
    private long at;
    private long end;

    /**
     * Moves to a frame.
     *
     * @param newFileOffset where its first byte lies in its file
     * @param from its first byte in {@code newBytes}
     */
    FrameReader of(
            String newFile, long newFileOffset, MemorySegment newBytes, long from, long byteCount) {
        file = newFile;
        fileOffset = newFileOffset;
        bytes = newBytes;
        start = from;
        at = from;
        end = from + byteCount;
        return this;
    }

    private long take(long byteCount) {
        if (byteCount < 0 || byteCount > end - at) {
            throw wrong("length", "0 to %d".formatted(end - at), Long.toString(byteCount));
        }
        long taken = at;
        at += byteCount;
        return taken;
    }

    private int whole() {
        return bytes.get(Bytes.I32, take(4));
    }

    /** Some bits, none of which is above {@code most}. */
    int flags(int most) {
        int found = bytes.get(Bytes.U8, take(1)) & 0xFF;
        if (found > most) {
            throw wrong("flags", "0 to %d".formatted(most), Integer.toString(found));
        }
        return found;
    }

    long number() {
        return bytes.get(Bytes.I64, take(8));
    }

    int count(int most) {
        int found = whole();
        if (found < 0 || found > most || found > end - at) {
            throw wrong("count", "0 to %d".formatted(most), Integer.toString(found));
        }
        return found;
    }

    String text() {
        int length = whole();
        byte[] copy = new byte[checked(length)];
        MemorySegment.copy(bytes, Bytes.U8, take(length), copy, 0, length);
        return new String(copy, StandardCharsets.UTF_8);
    }

    private int checked(int length) {
        if (length < 0 || length > end - at) {
            throw wrong("length", "0 to %d".formatted(end - at), Integer.toString(length));
        }
        return length;
    }

    @Nullable
    SourcePosition position() {
        int length = whole();
        if (length == -1) {
            return null;
        }
        if (length < 0 || length > SourcePosition.BYTES_MAX) {
            throw wrong(
                    "length of a position",
                    "up to %d".formatted(SourcePosition.BYTES_MAX),
                    Integer.toString(length));
        }
        byte[] copy = new byte[length];
        MemorySegment.copy(bytes, Bytes.U8, take(length), copy, 0, length);
        return SourcePosition.of(copy);
    }

    SourcePosition requirePosition() {
        SourcePosition found = position();
        if (found == null) {
            throw wrong("position", "one", "none");
        }
        return found;
    }

    void numbers(long[] target, int number) {
        MemorySegment.copy(bytes, Bytes.I64, take(8L * number), target, 0, number);
    }

    /** Offsets in a buffer, none of which is before the one in front of it. */
    void ends(int[] target, int number) {
        MemorySegment.copy(bytes, Bytes.I32, take(4L * number), target, 0, number);
        int last = 0;
        for (int i = 0; i < number; i++) {
            if (target[i] < last) {
                throw wrong("offset", "%d or more".formatted(last), Integer.toString(target[i]));
            }
            last = target[i];
        }
    }

    /** Takes bytes with their length before them, at least so many. */
    void bytes(ByteSink target, int least) {
        int length = checked(whole());
        if (length < least) {
            throw wrong("length", "%d or more".formatted(least), Integer.toString(length));
        }
        target.putBytes(bytes, take(length), length);
    }

    /** There is nothing more. */
    void end() {
        if (at != end) {
            throw wrong("end of the batch", "here", "%d bytes on".formatted(end - at));
        }
        bytes = MemorySegment.NULL;
    }

    private CorruptionException wrong(String what, String expected, String found) {
        return new CorruptionException(
                file, fileOffset + (at - start), what + " in a spilled batch", expected, found);
    }
}
