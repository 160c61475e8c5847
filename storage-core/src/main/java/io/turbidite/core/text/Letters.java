package io.turbidite.core.text;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;

/**
 * The characters (code points) of a text, each in lower case by itself. Reused. <em>Confined to one
 * thread.</em>
 */
final class Letters {
    /** What bytes that are no well-formed UTF-8 stand for. */
    private static final int REPLACEMENT = 0xFFFD;

    private int[] codePoints = new int[32];
    private int count;

    /** Takes the characters of a text. */
    Letters read(Slice text) {
        MemorySegment segment = text.segment();
        long offset = text.offset();
        int byteCount = text.length();
        if (codePoints.length < byteCount) {
            codePoints = new int[byteCount + byteCount / 2];
        }
        count = 0;
        int i = 0;
        while (i < byteCount) {
            int b = segment.get(Bytes.U8, offset + i);
            if (b >= 0) {
                codePoints[count++] = b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b;
                i++;
                continue;
            }
            long decoded = WordCursor.decode(segment, offset + i, byteCount - i);
            int codePoint = WordCursor.codePoint(decoded);
            codePoints[count++] = codePoint == WordCursor.NOT_WELL_FORMED
                    ? REPLACEMENT
                    : Character.toLowerCase(codePoint);
            i += WordCursor.byteCount(decoded);
        }
        return this;
    }

    int count() {
        return count;
    }

    int at(int place) {
        return codePoints[place];
    }

    /** All of them, and room behind. */
    int[] all() {
        return codePoints;
    }

    /** Appends a character in UTF-8. */
    static void put(int codePoint, ByteSink sink) {
        if (codePoint < 0x80) {
            sink.putByte(codePoint);
        } else if (codePoint < 0x800) {
            sink.putByte(0xC0 | codePoint >> 6);
            sink.putByte(0x80 | (codePoint & 0x3F));
        } else if (codePoint < 0x10000) {
            sink.putByte(0xE0 | codePoint >> 12);
            sink.putByte(0x80 | (codePoint >> 6 & 0x3F));
            sink.putByte(0x80 | (codePoint & 0x3F));
        } else {
            sink.putByte(0xF0 | codePoint >> 18);
            sink.putByte(0x80 | (codePoint >> 12 & 0x3F));
            sink.putByte(0x80 | (codePoint >> 6 & 0x3F));
            sink.putByte(0x80 | (codePoint & 0x3F));
        }
    }
}
