package io.turbidite.core.text;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;

/**
 * Goes through the words of a text: the longest runs of letters, digits and the marks on them, in
 * lower case. Bytes that are no well-formed UTF-8 separate words.
 *
 * <p>Words of ASCII, the common case, are read where they lie; any other is written in lower case
 * first. Makes no garbage but for words with a sigma or a dotted capital I, whose lower case is not
 * that of each letter. <em>Confined to one thread.</em>
 */
public final class WordCursor implements TokenCursor {
    private static final int CAPITAL_SIGMA = 0x3A3;
    private static final int DOTTED_CAPITAL_I = 0x130;
    static final int NOT_WELL_FORMED = -1;

    private Slice text = new Slice();
    private int at;

    /** The word's bytes in the text. */
    private int start;

    private int end;
    private boolean isAscii;

    /** The word in lower case, if it is not of ASCII. */
    private final ByteSink lower = new ByteSink(64, Integer.MAX_VALUE - 16);

    /** Whether the character can be part of a word. */
    static boolean isWordPart(int codePoint) {
        if (Character.isLetterOrDigit(codePoint)) {
            return true;
        }
        int category = Character.getType(codePoint);
        return category == Character.NON_SPACING_MARK
                || category == Character.COMBINING_SPACING_MARK
                || category == Character.ENCLOSING_MARK;
    }

    /** The different words of a text, in the order of their first appearance. */
    public static List<String> wordsOf(String text) {
        return Tokenizer.WORD.tokensOf(text);
    }

    /** Stands before the first word of a text, which is read where it lies. */
    @Override
    public WordCursor wrap(Slice newText) {
        text = newText;
        at = 0;
        return this;
    }

    /** Moves to the next word; false if there is none. */
    @Override
    public boolean next() {
        MemorySegment segment = text.segment();
        long offset = text.offset();
        int length = text.length();
        int from = -1;
        boolean ascii = true;
        int i = at;
        while (i < length) {
            int b = segment.get(Bytes.U8, offset + i);
            int byteCount = 1;
            boolean isPart;
            if (b >= 0) {
                isPart = isAsciiWordPart(b);
            } else {
                long decoded = decode(segment, offset + i, length - i);
                int codePoint = codePoint(decoded);
                byteCount = byteCount(decoded);
                isPart = codePoint != NOT_WELL_FORMED && isWordPart(codePoint);
                ascii &= !isPart;
            }
            if (isPart) {
                from = from < 0 ? i : from;
            } else if (from >= 0) {
                break;
            }
            i += byteCount;
        }
        at = i;
        start = from;
        end = i;
        isAscii = ascii;
        if (from >= 0 && !ascii) {
            toLowerCase();
        }
        return from >= 0;
    }

    private static boolean isAsciiWordPart(int b) {
        return (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9');
    }

    /**
     * Decodes strictly what begins with a byte that is not of ASCII: a {@link #codePoint} and how
     * many {@linkplain #byteCount(long) bytes} that took, 1 if they are not well-formed.
     */
    static long decode(MemorySegment segment, long offset, int available) {
        int lead = segment.get(Bytes.U8, offset) & 0xFF;
        int more = lead < 0xC2 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : lead < 0xF5 ? 3 : 0;
        if (more == 0 || more >= available) {
            return decoded(NOT_WELL_FORMED, 1);
        }
        int codePoint = lead & (0x3F >> more);
        for (int i = 1; i <= more; i++) {
            int next = segment.get(Bytes.U8, offset + i) & 0xFF;
            if ((next & 0xC0) != 0x80) {
                return decoded(NOT_WELL_FORMED, 1);
            }
            codePoint = codePoint << 6 | (next & 0x3F);
        }
        boolean tooLong = (more == 2 && codePoint < 0x800) || (more == 3 && codePoint < 0x10000);
        if (tooLong
                || codePoint > Character.MAX_CODE_POINT
                || (codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE)) {
            return decoded(NOT_WELL_FORMED, 1);
        }
        return decoded(codePoint, more + 1);
    }

    private static long decoded(int codePoint, int byteCount) {
        return (long) codePoint << 3 | byteCount;
    }

    /** What was decoded; {@link #NOT_WELL_FORMED} if it is none. */
    static int codePoint(long decoded) {
        return (int) (decoded >> 3);
    }

    static int byteCount(long decoded) {
        return (int) decoded & 7;
    }

    private void toLowerCase() {
        lower.clear();
        MemorySegment segment = text.segment();
        int i = start;
        while (i < end) {
            int b = segment.get(Bytes.U8, text.offset() + i);
            int codePoint = b;
            if (b >= 0) {
                i++;
            } else {
                long decoded = decode(segment, text.offset() + i, end - i);
                codePoint = codePoint(decoded);
                i += byteCount(decoded);
            }
            if (codePoint == CAPITAL_SIGMA || codePoint == DOTTED_CAPITAL_I) {
                Slice word = new Slice().set(segment, text.offset() + start, end - start);
                lower.clear().putUtf8(word.toUtf8().toLowerCase(Locale.ROOT));
                return;
            }
            Letters.put(Character.toLowerCase(codePoint), lower);
        }
    }

    /** Bytes of the word, in lower case and UTF-8. */
    @Override
    public int byteCount() {
        return isAscii ? end - start : lower.length();
    }

    /** Appends the word, in lower case and UTF-8, or so many of its first bytes. */
    @Override
    public void append(ByteSink sink, int byteCountMax) {
        int byteCount = Math.min(byteCount(), byteCountMax);
        if (!isAscii) {
            sink.putBytes(lower.segment(), 0, byteCount);
            return;
        }
        int into = sink.reserve(byteCount);
        MemorySegment segment = text.segment();
        long from = text.offset() + start;
        MemorySegment target = sink.segment();
        for (int i = 0; i < byteCount; i++) {
            target.set(
                    Bytes.U8, (long) into + i, (byte) toLowerCase(segment.get(Bytes.U8, from + i)));
        }
    }

    /** Whether these are the bytes of the word, in lower case and UTF-8. */
    public boolean hasBytes(byte[] word) {
        if (word.length != byteCount()) {
            return false;
        }
        MemorySegment segment = isAscii ? text.segment() : lower.segment();
        long from = isAscii ? text.offset() + start : 0;
        for (int i = 0; i < word.length; i++) {
            if (toLowerCase(segment.get(Bytes.U8, from + i)) != word[i]) {
                return false;
            }
        }
        return true;
    }

    /** Of a byte of UTF-8; what is no capital of ASCII stays. */
    private static int toLowerCase(int b) {
        return b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b;
    }
}
