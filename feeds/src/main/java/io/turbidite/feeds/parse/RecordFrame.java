package io.turbidite.feeds.parse;

import io.turbidite.core.bytes.ByteSearch;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The bytes of one record and where they stand. A flyweight that its framer moves; valid until the
 * framer's next step. <em>Confined to one thread.</em>
 */
public final class RecordFrame {
    /** What stands before the key of a record to be deleted, in dead letters: no record is so. */
    private static final byte[] TOMBSTONE = "tombstone ".getBytes(StandardCharsets.UTF_8);

    byte[] bytes = new byte[0];
    MemorySegment segment = MemorySegment.ofArray(bytes);
    int start;
    int length;
    long offset;
    long line;
    long endOffset;
    long endLine;
    boolean spansLines;
    boolean isDelete;

    /** Whether {@link #spansLines} is still to be found out: not all formats ask. */
    private boolean isUnsearched;

    /** Of a record over the limit; else 0. */
    long fullLength;

    @Nullable
    String problem;

    @Nullable
    String source;

    RecordFrame() {}

    /** For parsers' tests: a frame over {@code text}, at the start of a file. */
    static RecordFrame of(String text) {
        RecordFrame frame = new RecordFrame();
        frame.bytes = text.getBytes(StandardCharsets.UTF_8);
        frame.segment = MemorySegment.ofArray(frame.bytes);
        frame.length = frame.bytes.length;
        frame.line = 1;
        frame.spansLines = text.indexOf('\n') >= 0;
        return frame;
    }

    /**
     * A frame of its own, for sources that get records rather than text.
     *
     * @param bytes one record without a line end; not copied
     * @param offset where it stands in its partition, for dead letters; in bytes or records
     * @param line likewise, from 1
     */
    public static RecordFrame of(byte[] bytes, long offset, long line) {
        return new RecordFrame().set(bytes, bytes.length, offset, line);
    }

    /**
     * Moves a frame of its own to another record, as {@link #of(byte[], long, long)} makes one, so
     * that a source needs but one.
     *
     * @param text begins with the record; not copied
     * @param byteCount of the record
     * @return this
     */
    @SuppressWarnings("ReferenceEquality") // identity is meant: an array that is filled anew
    public RecordFrame set(byte[] text, int byteCount, long newOffset, long newLine) {
        if (text != bytes) {
            bytes = text;
            segment = MemorySegment.ofArray(text);
        }
        start = 0;
        length = byteCount;
        offset = newOffset;
        line = newLine;
        endOffset = newOffset + byteCount;
        endLine = newLine + 1;
        isUnsearched = true;
        isDelete = false;
        problem = null;
        return this;
    }

    /**
     * As {@link #of(byte[], long, long)}, of a record that came from another partition first.
     *
     * @param source that partition, where the record stands at {@code offset} and {@code line}
     * @param problem why these bytes are no record, or null
     */
    public static RecordFrame again(
            byte[] bytes, long offset, long line, String source, @Nullable String problem) {
        RecordFrame frame = of(bytes, offset, line);
        frame.source = source;
        frame.problem = problem;
        return frame;
    }

    /**
     * A frame of its own of bytes that are no record.
     *
     * @param problem says why
     */
    public static RecordFrame ofProblem(byte[] bytes, long offset, long line, String problem) {
        RecordFrame frame = of(bytes, offset, line);
        frame.problem = problem;
        return frame;
    }

    /**
     * As the other, of which not all bytes are kept.
     *
     * @param fullLength how many there are
     */
    public static RecordFrame ofProblem(
            byte[] bytes, long fullLength, long offset, long line, String problem) {
        RecordFrame frame = ofProblem(bytes, offset, line, problem);
        frame.fullLength = fullLength;
        return frame;
    }

    /**
     * A frame of its own that asks for a record to be deleted.
     *
     * @param key an object with the fields of the record's key
     */
    public static RecordFrame ofDelete(byte[] key, long offset, long line) {
        byte[] shown = Arrays.copyOf(TOMBSTONE, TOMBSTONE.length + key.length);
        System.arraycopy(key, 0, shown, TOMBSTONE.length, key.length);
        RecordFrame frame = of(shown, offset, line);
        frame.start = TOMBSTONE.length;
        frame.length = key.length;
        frame.isDelete = true;
        return frame;
    }

    /** A frame of its own over a copy of one line, whose place is of no interest. */
    static RecordFrame copyOf(byte[] from, int start, int end) {
        RecordFrame frame = new RecordFrame();
        frame.bytes = Arrays.copyOfRange(from, start, end);
        frame.segment = MemorySegment.ofArray(frame.bytes);
        frame.length = end > start && from[end - 1] == '\r' ? end - start - 1 : end - start;
        return frame;
    }

    /**
     * What the record was when only so many of its bytes were there; a frame of its own, over a
     * copy.
     */
    public RecordFrame head(int byteCount) {
        if (byteCount < 0 || byteCount > length) {
            throw new IllegalArgumentException("%d of %d bytes".formatted(byteCount, length));
        }
        RecordFrame head = new RecordFrame();
        head.bytes = Arrays.copyOfRange(bytes, start, start + byteCount);
        head.segment = MemorySegment.ofArray(head.bytes);
        boolean cut = byteCount > 0 && head.bytes[byteCount - 1] == '\r';
        head.length = cut ? byteCount - 1 : byteCount;
        head.offset = offset;
        head.line = line;
        for (int i = 0; i < head.length && !head.spansLines; i++) {
            head.spansLines = head.bytes[i] == '\n';
        }
        return head;
    }

    /** Its first {@code charCountMax} characters or so; what is not UTF-8 is replaced. */
    public String text(int charCountMax) {
        int byteCount = Math.min(length, charCountMax);
        String text = new String(bytes, start, byteCount, StandardCharsets.UTF_8);
        return byteCount < length ? text + "…" : text;
    }

    /** The array that holds the record at {@link #start()}; belongs to the framer. */
    public byte[] bytes() {
        return bytes;
    }

    /** That array as a segment. */
    public MemorySegment segment() {
        return segment;
    }

    /** Where the record begins in the buffer, in bytes. */
    public int start() {
        return start;
    }

    /** Where that begins by which a dead letter shows the record; it ends with the record. */
    public int shownStart() {
        return isDelete ? start - TOMBSTONE.length : start;
    }

    /** Without the line end. */
    public int length() {
        return length;
    }

    /**
     * Without the line end, and with what a record over the limit has behind {@link #length()}
     * bytes, which are all that is kept of it.
     */
    public long fullLength() {
        return Math.max(length, fullLength);
    }

    /** Bytes from the start of the source's content. */
    public long offset() {
        return offset;
    }

    /**
     * Says where the record stands, for sources that count otherwise than their framer; back again
     * before the framer is asked to cut it.
     */
    public void moveTo(long newOffset) {
        offset = newOffset;
    }

    /** The line the record begins in, from 1. */
    public long line() {
        return line;
    }

    /** The offset behind the record and its line end: where reading goes on after it. */
    public long endOffset() {
        return endOffset;
    }

    /** The line that begins at {@link #endOffset()}. */
    public long endLine() {
        return endLine;
    }

    /** Whether a quoted field carried the record over a line end. */
    public boolean spansLines() {
        if (isUnsearched) {
            isUnsearched = false;
            spansLines = ByteSearch.lineEnd(bytes, start, start + length) < start + length;
        }
        return spansLines;
    }

    /** Whether the record that has this key is to be deleted: the bytes are only its key. */
    public boolean isDelete() {
        return isDelete;
    }

    /** Why these bytes are no record, or null. */
    public @Nullable String problem() {
        return problem;
    }

    /** The partition that the record came from first, if that is not the one that is read. */
    public @Nullable String source() {
        return source;
    }
}
