package io.turbidite.feeds.flow;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.Rejection;
import io.turbidite.feeds.source.SourcePosition;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Some records of one partition of a source in sequence, each with its place and raw text, and the
 * dead letters met among them; with the position that they follow and the one behind the last of
 * them all. Owned by the producer until it is published, then by the consumer. <em>Confined to its
 * owner's thread.</em>
 *
 * <p>The raw text is kept because the store may still refuse a record (a duplicate, a key too
 * long), and then it becomes a dead letter too.
 */
public final class Batch {
    /** Large enough that a batch's log record and position cost little a record. */
    static final int RECORDS_MAX = 512;

    /**
     * Of those of which nothing is left: they cost the store nothing, and a batch of them a whole
     * write. With fewer, a feed that leaves nearly all out would be as slow as one that stores all.
     */
    static final int DROPPED_MAX = 16 * RECORDS_MAX;

    /** What keeps a batch of large records small: it is full when it holds as much. */
    static final int BYTES_FULL = 256 << 10;

    private static final int INITIAL_BYTES = 64 << 10;

    /** The largest record on top of a batch that is just not full; dead letters are far smaller. */
    private static final int SINK_BYTES_MAX = Limits.RECORD_BYTES_MAX + 4 * BYTES_FULL;

    private ByteSink records = new ByteSink(INITIAL_BYTES, SINK_BYTES_MAX);
    private ByteSink raw = new ByteSink(INITIAL_BYTES, SINK_BYTES_MAX);
    private ByteSink letters = new ByteSink(16, SINK_BYTES_MAX);
    private int count;
    private final List<Rejection> rejections = new ArrayList<>();

    // one record may become many: then they grow
    private int[] recordEnds = new int[RECORDS_MAX + 1];
    private int[] rawStarts = new int[RECORDS_MAX];
    private int[] rawEnds = new int[RECORDS_MAX];
    private long[] offsets = new long[RECORDS_MAX];
    private long[] lines = new long[RECORDS_MAX];
    private @Nullable String[] sources = new String[RECORDS_MAX];
    private boolean[] deletes = new boolean[RECORDS_MAX];

    /** The places of those of which nothing is left. */
    private long[] droppedOffsets = new long[RECORDS_MAX];

    private int droppedOffsetCount;
    private long droppedCount;
    private String partition = "";
    private @Nullable SourcePosition follows;
    private SourcePosition position = SourcePosition.of(new byte[0]);
    private boolean moved;
    private boolean startsAnew;
    private long begunNanos;

    /** Whether its sender was told what became of it, as far as that was known. */
    private boolean isTold;

    private Leftover leftover = Leftover.NONE;

    /** Of which run a batch is. */
    public enum Leftover {
        /** Of this one. */
        NONE,
        /** An earlier run has told its sender that it is kept. */
        ACKNOWLEDGED,
        /** An earlier run has spilled it, and told nobody. */
        UNTOLD
    }

    Batch() {}

    /**
     * Empties the batch and begins it anew.
     *
     * @param newFollows the position behind which it begins; null if that is the partition's
     *     beginning
     */
    public void begin(String newPartition, @Nullable SourcePosition newFollows) {
        clear();
        partition = newPartition;
        follows = newFollows;
    }

    /** Has it follow another position, where what lies between them is lost. */
    public void followInstead(@Nullable SourcePosition newFollows) {
        follows = newFollows;
    }

    /** Of which run it is. */
    public Leftover leftover() {
        return leftover;
    }

    void leftBy(Leftover earlier) {
        leftover = earlier;
    }

    /** Whether the source has heard already which of its records were rejected or left out. */
    public boolean isTold() {
        return isTold;
    }

    void tell() {
        isTold = true;
    }

    /** When the first of what is in it was read, by the monotonic clock. */
    public void begunAt(long nanos) {
        begunNanos = nanos;
    }

    long begunNanos() {
        return begunNanos;
    }

    /** Takes a copy of the record that {@code frame} was turned into. */
    public void add(Slice record, RecordFrame frame) {
        int rawStart = raw.length();
        raw.putBytes(frame.segment(), frame.shownStart(), shownBytes(frame));
        add(record, frame, rawStart);
    }

    /** As {@link #add}, for one more record that the frame of the last one became. */
    public void addMore(Slice record, RecordFrame frame) {
        add(record, frame, rawStarts[count - 1]);
    }

    private void add(Slice record, RecordFrame frame, int rawStart) {
        if (count == offsets.length) {
            grow(2 * count);
        }
        records.putBytes(record);
        offsets[count] = frame.offset();
        lines[count] = frame.line();
        sources[count] = frame.source();
        deletes[count] = frame.isDelete();
        rawStarts[count] = rawStart;
        rawEnds[count] = raw.length();
        count++;
        recordEnds[count] = records.length();
    }

    private void grow(int length) {
        recordEnds = Arrays.copyOf(recordEnds, length + 1);
        rawStarts = Arrays.copyOf(rawStarts, length);
        rawEnds = Arrays.copyOf(rawEnds, length);
        offsets = Arrays.copyOf(offsets, length);
        lines = Arrays.copyOf(lines, length);
        sources = Arrays.copyOf(sources, length);
        deletes = Arrays.copyOf(deletes, length);
    }

    /**
     * Leaves out what {@code frame} became, or some of it.
     *
     * @param records how many
     * @param isAll whether nothing of the frame is in the batch
     */
    public void drop(RecordFrame frame, int records, boolean isAll) {
        droppedCount += records;
        if (isAll) {
            if (droppedOffsetCount == droppedOffsets.length) {
                droppedOffsets = Arrays.copyOf(droppedOffsets, 2 * droppedOffsetCount);
            }
            droppedOffsets[droppedOffsetCount++] = frame.offset();
        }
    }

    /** How many records were left out. */
    public long droppedCount() {
        return droppedCount;
    }

    /** Gives the place of each frame of which nothing is left. */
    public void forEachDropped(LongConsumer taker) {
        for (int i = 0; i < droppedOffsetCount; i++) {
            taker.accept(droppedOffsets[i]);
        }
    }

    /** Takes {@code frame} as a dead letter. */
    public void reject(RecordFrame frame, String reason) {
        new DeadLetter(sourceOf(frame.source()), frame.line(), frame.offset(), reason)
                .append(
                        letters,
                        frame.segment(),
                        frame.shownStart(),
                        shownBytes(frame),
                        Math.max(shownBytes(frame), frame.fullLength()));
        rejections.add(new Rejection(frame.offset(), frame.line(), reason));
    }

    private static int shownBytes(RecordFrame frame) {
        return frame.start() + frame.length() - frame.shownStart();
    }

    private String sourceOf(@Nullable String first) {
        return first == null ? partition : first;
    }

    /** The position moves on though there may be no record: what there is was delivered before. */
    public void move() {
        moved = true;
    }

    /** Ends the batch before it is published: with the position behind all that is in it. */
    public void end(SourcePosition newPosition) {
        position = newPosition;
    }

    /** The batch is the first of its partition: what was counted of another of its name is past. */
    public void startAnew() {
        startsAnew = true;
    }

    public boolean isFull() {
        return count >= RECORDS_MAX
                || droppedOffsetCount == DROPPED_MAX
                || rejections.size() == RECORDS_MAX
                || records.length() >= BYTES_FULL
                || raw.length() >= BYTES_FULL
                || letters.length() >= BYTES_FULL;
    }

    /** Whether there is nothing to deliver, not even another position. */
    public boolean isEmpty() {
        return count == 0 && rejections.isEmpty() && droppedCount == 0 && !moved;
    }

    /** The name of the partition of the source. */
    public String partition() {
        return partition;
    }

    /** The position behind which the batch begins; null if that is the partition's beginning. */
    public @Nullable SourcePosition follows() {
        return follows;
    }

    /** The position behind everything in the batch. */
    public SourcePosition position() {
        return position;
    }

    /** Whether this is the first batch of another partition that has the name of an older one. */
    public boolean startsAnew() {
        return startsAnew;
    }

    /**
     * What the feed has taken of the partition when it has taken this batch.
     *
     * @param before what it had taken before, or null if that is nothing
     * @param taken records of the batch that are accepted
     * @param refused those that are not
     */
    public PartitionState stateBehind(@Nullable PartitionState before, int taken, int refused) {
        PartitionState counted = startsAnew ? null : before;
        return new PartitionState(
                position,
                (before == null ? 0 : before.sequence()) + 1,
                (counted == null ? 0 : counted.records()) + taken,
                (counted == null ? 0 : counted.rejected()) + rejections.size() + refused);
    }

    /** Whether record {@code index} is a key whose record is to be deleted. */
    public boolean isDelete(int index) {
        return deletes[index];
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
        new DeadLetter(sourceOf(sources[index]), lines[index], offsets[index], reason)
                .append(target, raw.segment(), rawStarts[index], rawEnds[index] - rawStarts[index]);
    }

    /** How many frames the parser rejected. */
    public int rejectedCount() {
        return rejections.size();
    }

    /** Those frames. */
    public List<Rejection> rejections() {
        return rejections;
    }

    /** Record {@code index} as one that was rejected. */
    public Rejection rejection(int index, String reason) {
        return new Rejection(offsets[index], lines[index], reason);
    }

    /** The dead letters of the parser, one a line. */
    public Slice letters(Slice slice) {
        return letters.asSlice(slice);
    }

    /** Bytes of the records alone. */
    long recordBytes() {
        return records.length();
    }

    /** Bytes of content, as counted against the bound of all batches. */
    long byteCount() {
        return (long) records.length() + raw.length() + letters.length();
    }

    /** Lets go of what was delivered, and of buffers that a huge record has grown. */
    void clear() {
        count = 0;
        rejections.clear();
        droppedCount = 0;
        droppedOffsetCount = 0;
        moved = false;
        startsAnew = false;
        isTold = false;
        leftover = Leftover.NONE;
        if (offsets.length > RECORDS_MAX) {
            grow(RECORDS_MAX);
        }
        records = cleared(records);
        raw = cleared(raw);
        letters = cleared(letters);
    }

    /** Appends all of it, to be {@linkplain #read read} back. */
    void write(ByteSink target) {
        target.putByte((moved ? 1 : 0) | (startsAnew ? 2 : 0) | (isTold ? 4 : 0));
        putText(target, partition);
        putPosition(target, follows);
        putPosition(target, position);
        target.putLong(begunNanos).putLong(droppedCount).putInt(droppedOffsetCount);
        putLongs(target, droppedOffsets, droppedOffsetCount);
        target.putInt(rejections.size());
        for (Rejection one : rejections) {
            target.putLong(one.offset()).putLong(one.line());
            putText(target, one.reason());
        }
        target.putInt(count);
        putInts(target, recordEnds, count + 1);
        putInts(target, rawStarts, count);
        putInts(target, rawEnds, count);
        putLongs(target, offsets, count);
        putLongs(target, lines, count);
        for (int i = 0; i < count; i++) {
            target.putByte((deletes[i] ? 1 : 0) | (sources[i] == null ? 0 : 2));
        }
        for (int i = 0; i < count; i++) {
            String source = sources[i];
            if (source != null) {
                putText(target, source);
            }
        }
        for (ByteSink sink : List.of(records, raw, letters)) {
            target.putInt(sink.length());
            target.putBytes(sink.segment(), 0, sink.length());
        }
    }

    private static void putText(ByteSink target, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        target.putInt(bytes.length).putBytes(bytes);
    }

    private static void putPosition(ByteSink target, @Nullable SourcePosition of) {
        byte[] bytes = of == null ? null : of.toByteArray();
        target.putInt(bytes == null ? -1 : bytes.length);
        if (bytes != null) {
            target.putBytes(bytes);
        }
    }

    private static void putInts(ByteSink target, int[] source, int number) {
        int at = target.reserve(4 * number);
        MemorySegment.copy(source, 0, target.segment(), Bytes.I32, at, number);
    }

    private static void putLongs(ByteSink target, long[] source, int number) {
        int at = target.reserve(8 * number);
        MemorySegment.copy(source, 0, target.segment(), Bytes.I64, at, number);
    }

    /**
     * Becomes what was {@linkplain #write written}.
     *
     * @throws io.turbidite.core.CorruptionException if it is no batch
     */
    void read(FrameReader source) {
        int flags = source.flags(7);
        begin(source.text(), source.position());
        moved = (flags & 1) != 0;
        startsAnew = (flags & 2) != 0;
        isTold = (flags & 4) != 0;
        position = source.requirePosition();
        begunNanos = source.number();
        droppedCount = source.number();
        droppedOffsetCount = source.count(DROPPED_MAX);
        if (droppedOffsetCount > droppedOffsets.length) {
            droppedOffsets = new long[DROPPED_MAX];
        }
        source.numbers(droppedOffsets, droppedOffsetCount);
        int rejected = source.count(RECORDS_MAX);
        for (int i = 0; i < rejected; i++) {
            rejections.add(new Rejection(source.number(), source.number(), source.text()));
        }
        count = source.count(Integer.MAX_VALUE / 64);
        if (count > offsets.length) {
            grow(count);
        }
        source.ends(recordEnds, count + 1);
        source.ends(rawStarts, count);
        source.ends(rawEnds, count);
        source.numbers(offsets, count);
        source.numbers(lines, count);
        boolean hasSources = false;
        for (int i = 0; i < count; i++) {
            int mark = source.flags(3);
            deletes[i] = (mark & 1) != 0;
            sources[i] = (mark & 2) != 0 ? "" : null;
            hasSources |= (mark & 2) != 0;
        }
        for (int i = 0; hasSources && i < count; i++) {
            sources[i] = sources[i] == null ? null : source.text();
        }
        source.bytes(records, recordEnds[count]);
        source.bytes(raw, count == 0 ? 0 : rawEnds[count - 1]);
        source.bytes(letters, 0);
        source.end();
    }

    private static ByteSink cleared(ByteSink sink) {
        return sink.segment().byteSize() <= 4L * BYTES_FULL
                ? sink.clear()
                : new ByteSink(INITIAL_BYTES, SINK_BYTES_MAX);
    }
}
