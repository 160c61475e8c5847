package io.turbidite.feeds.flow;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.source.FileSource.Head;
import io.turbidite.feeds.source.SourceFile;

/**
 * Some records of one file in sequence, each with its place and raw text, and the dead letters met
 * among them; with the position behind the last of them all. Owned by the producer until it is
 * published, then by the consumer. <em>Confined to its owner's thread.</em>
 *
 * <p>The raw text is kept because the store may still refuse a record (a duplicate, a key too
 * long), and then it becomes a dead letter too.
 */
public final class Batch {
    /** Large enough that a batch's log record and position cost little a record. */
    static final int RECORDS_MAX = 512;

    /** What keeps a batch of large records small: it is full when it holds as much. */
    static final int BYTES_FULL = 256 << 10;

    private static final int INITIAL_BYTES = 64 << 10;

    /** The largest record on top of a batch that is just not full; dead letters are far smaller. */
    private static final int SINK_BYTES_MAX = Limits.RECORD_BYTES_MAX + 4 * BYTES_FULL;

    private ByteSink records = new ByteSink(INITIAL_BYTES, SINK_BYTES_MAX);
    private ByteSink raw = new ByteSink(INITIAL_BYTES, SINK_BYTES_MAX);
    private ByteSink letters = new ByteSink(16, SINK_BYTES_MAX);
    private int count;
    private int rejectedCount;
    private final int[] recordEnds = new int[RECORDS_MAX + 1];
    private final int[] rawEnds = new int[RECORDS_MAX + 1];
    private final long[] offsets = new long[RECORDS_MAX];
    private final long[] lines = new long[RECORDS_MAX];
    private final long[] endOffsets = new long[RECORDS_MAX];
    private final long[] endLines = new long[RECORDS_MAX];
    private SourceFile file = new SourceFile("", "", 0);
    private Head head = new Head(0, 0);
    private long fileBytes;
    private long endOffset;
    private long endLine;
    private boolean fileEnded;
    private boolean passed;
    private boolean fileBegun;

    Batch() {}

    /** Empties the batch and begins it anew at a position. */
    public void begin(SourceFile newFile, long offset, long line) {
        clear();
        file = newFile;
        endOffset = offset;
        endLine = line;
    }

    /** Takes a copy of the record that {@code frame} was turned into. */
    public void add(Slice record, RecordFrame frame) {
        raw.putBytes(frame.segment(), frame.start(), frame.length());
        records.putBytes(record);
        offsets[count] = frame.offset();
        lines[count] = frame.line();
        endOffsets[count] = frame.endOffset();
        endLines[count] = frame.endLine();
        count++;
        recordEnds[count] = records.length();
        rawEnds[count] = raw.length();
        endOffset = frame.endOffset();
        endLine = frame.endLine();
    }

    /** Takes {@code frame} as a dead letter. */
    public void reject(RecordFrame frame, String reason) {
        new DeadLetter(file.name(), frame.line(), frame.offset(), reason)
                .append(
                        letters,
                        frame.segment(),
                        frame.start(),
                        frame.length(),
                        frame.fullLength());
        rejectedCount++;
        endOffset = frame.endOffset();
        endLine = frame.endLine();
    }

    /** Passes over {@code frame}: what it holds is delivered already. */
    public void pass(RecordFrame frame) {
        passed = true;
        endOffset = frame.endOffset();
        endLine = frame.endLine();
    }

    /**
     * Says by what the file is known again, once it is read as far as the batch goes.
     *
     * @param newHead what it begins with
     * @param newFileBytes how long it must be at least
     */
    public void identify(Head newHead, long newFileBytes) {
        head = newHead;
        fileBytes = newFileBytes;
    }

    /** The batch is the first of its file: what was counted of another of that name is past. */
    public void beginFile() {
        fileBegun = true;
    }

    /** The file ends behind this batch. */
    public void endFile() {
        fileEnded = true;
    }

    public boolean isFull() {
        return count == RECORDS_MAX
                || rejectedCount == RECORDS_MAX
                || records.length() >= BYTES_FULL
                || raw.length() >= BYTES_FULL
                || letters.length() >= BYTES_FULL;
    }

    /** Whether there is nothing to deliver, not even the news that the file has ended. */
    public boolean isEmpty() {
        return count == 0 && rejectedCount == 0 && !passed && !fileEnded;
    }

    public SourceFile file() {
        return file;
    }

    /** What {@link #file} begins with. */
    public Head head() {
        return head;
    }

    /** How long {@link #file} must be at least; if it ends behind this batch, how long it is. */
    public long fileBytes() {
        return fileBytes;
    }

    public int recordCount() {
        return count;
    }

    public Slice record(int index, Slice slice) {
        return slice.set(
                records.segment(), recordEnds[index], recordEnds[index + 1] - recordEnds[index]);
    }

    /**
     * Makes record {@code index} a dead letter behind those in {@code target}; it stays in the
     * batch.
     */
    public void appendLetter(int index, String reason, ByteSink target) {
        new DeadLetter(file.name(), lines[index], offsets[index], reason)
                .append(target, raw.segment(), rawEnds[index], rawEnds[index + 1] - rawEnds[index]);
    }

    /** How many frames the parser rejected. */
    public int rejectedCount() {
        return rejectedCount;
    }

    /** The dead letters of the parser, one a line. */
    public Slice letters(Slice slice) {
        return letters.asSlice(slice);
    }

    /** The offset behind record {@code index}. */
    public long endOffset(int index) {
        return endOffsets[index];
    }

    public long endLine(int index) {
        return endLines[index];
    }

    /** The offset behind everything in the batch. */
    public long endOffset() {
        return endOffset;
    }

    public long endLine() {
        return endLine;
    }

    /** Whether this is the first of its file. */
    public boolean fileBegun() {
        return fileBegun;
    }

    public boolean fileEnded() {
        return fileEnded;
    }

    /** Bytes of content, as counted against the bound of all batches. */
    long byteCount() {
        return (long) records.length() + raw.length() + letters.length();
    }

    /** Lets go of what was delivered, and of buffers that a huge record has grown. */
    void clear() {
        count = 0;
        rejectedCount = 0;
        fileEnded = false;
        passed = false;
        fileBegun = false;
        records = cleared(records);
        raw = cleared(raw);
        letters = cleared(letters);
    }

    private static ByteSink cleared(ByteSink sink) {
        return sink.segment().byteSize() <= 4L * BYTES_FULL
                ? sink.clear()
                : new ByteSink(INITIAL_BYTES, SINK_BYTES_MAX);
    }
}
