package io.turbidite.feeds.avro;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.feeds.parse.JsonText;
import io.turbidite.feeds.parse.MalformedFrameException;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordFramer;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * Cuts an object file into its records, each as the JSON that it becomes. <em>Confined to one
 * thread.</em>
 *
 * <p>A file is a header and blocks: how many records, how many bytes, those bytes, packed perhaps,
 * and the sync marker of the file. What can't be decoded is a frame with a problem, and takes no
 * good block with it:
 *
 * <ol>
 *   <li>a record whose end is known, but which can't be written, by itself;
 *   <li>a record that has no end by its schema, with the rest of its block;
 *   <li>a block that can't be unpacked, or whose records leave some of its bytes;
 *   <li>a block without the marker where it should be, up to the next marker.
 * </ol>
 *
 * <p>A place is the offset where a block begins and the number of a record in it, from 1. Memory: a
 * block as it lies in the file and unpacked, {@value #BLOCK_BYTES_MAX} bytes each, and a record.
 */
public final class ObjectFileCutter {
    /** The most bytes of a block, packed and unpacked. */
    public static final int BLOCK_BYTES_MAX = 64 << 20;

    /** A huge block's array is let go of behind it. */
    static final int BYTES_KEPT_MAX = 4 << 20;

    /** As many as a dead letter shows. */
    private static final int SHOWN_BYTES_MAX = 64 << 10;

    private static final int BUFFER_BYTES = 64 << 10;

    private static final byte[] NONE = {};

    /** A block of the longest, with its numbers and its marker: what is ever asked for at once. */
    private static final int BUFFER_BYTES_MAX = BLOCK_BYTES_MAX + BUFFER_BYTES;

    /** Two numbers. */
    private static final int BLOCK_HEADER_BYTES_MAX = 20;

    private RecordFramer.Input input;
    private @Nullable ObjectHeader header;

    /** Bytes {@code next..end} are read, and behind the block in hand if there is one. */
    private byte[] buffer = new byte[BUFFER_BYTES];

    private int next;
    private int end;
    private long nextOffset;
    private boolean ended;

    /** Whether what the file ends within is a unit like any other. */
    private boolean restIsUnit;

    // the block in hand

    private boolean inBlock;

    /** Up to behind its marker. */
    private int blockBytes;

    private long recordCount;

    /** Of the next record, from 1. */
    private long number;

    private final DatumReader datums = new DatumReader();
    private final JsonText text = new JsonText(Limits.RECORD_BYTES_MAX);
    private final RecordFrame record = RecordFrame.of(new byte[0], 0, 1);
    private RecordFrame frame = record;

    // what the numbers in front of a block say

    private long statedCount;
    private long statedBytes;

    /** A cutter that stands at the beginning of a file. */
    public ObjectFileCutter(RecordFramer.Input input) {
        this.input = input;
    }

    /**
     * Reads the header, and moves behind it.
     *
     * @return false if the input ends before it does: it may have more later
     * @throws InvalidRequestException if it is damaged, or names a codec that there is not
     */
    public boolean readHeader() {
        ObjectHeader read = ObjectHeader.of(buffer, next, end);
        while (read == null) {
            if (end - next > ObjectHeader.BYTES_MAX) {
                throw new InvalidRequestException("its header is longer than the limit of %d bytes"
                        .formatted(ObjectHeader.BYTES_MAX));
            }
            // twice as much each time, so that it is not looked at too often
            int wanted = Math.max(1, 2 * (end - next));
            boolean hasMore = false;
            while (end - next < wanted && fill()) {
                hasMore = true;
            }
            if (!hasMore) {
                return false;
            }
            read = ObjectHeader.of(buffer, next, end);
        }
        header = read;
        advance(read.byteCount);
        return true;
    }

    /** Whether nothing at all was read, and there is nothing. */
    public boolean isEmpty() {
        return ended && nextOffset == 0 && next == end;
    }

    /**
     * Goes on in the same file elsewhere, behind its header.
     *
     * @param from stands at {@code offset}
     */
    public void goOn(RecordFramer.Input from, long offset) {
        input = from;
        next = 0;
        end = 0;
        nextOffset = offset;
        ended = false;
    }

    /**
     * Passes over the records of the block that begins here.
     *
     * @return false if there are not so many
     */
    public boolean passRecords(long count) {
        if (!inBlock && (!beginBlock() || !inBlock)) {
            return false;
        }
        try {
            while (number <= count && number <= recordCount) {
                datums.pass(header().shape);
                number++;
            }
        } catch (MalformedFrameException e) {
            return false;
        }
        boolean hasAll = number == count + 1;
        leaveIfDone();
        return hasAll;
    }

    /**
     * Moves to the next record, or what should have been some; false if there is none, or the file
     * ends within it so far.
     */
    public boolean next() {
        while (true) {
            if (inBlock) {
                takeRecord();
                return true;
            }
            if (!beginBlock()) {
                return false;
            }
            if (!inBlock) {
                return true; // damage
            }
            if (recordCount == 0) {
                takeRest();
                if (frame.problem() != null) {
                    return true;
                }
            }
        }
    }

    /** What {@link #next} moved to. */
    public RecordFrame frame() {
        return frame;
    }

    /** Whether the file ends within a block: more of it may come. */
    public boolean isWithinBlock() {
        return ended && next < end;
    }

    /** Says that no more will come: what the file ends within is damaged. */
    public void end() {
        restIsUnit = true;
    }

    /** The offset of the block behind what was given out, or within which there is more. */
    public long offset() {
        return nextOffset;
    }

    /** The number in that block of the next record. */
    public long line() {
        return inBlock ? number : 1;
    }

    private ObjectHeader header() {
        ObjectHeader read = header;
        if (read == null) {
            throw new IllegalStateException("the header was not read");
        }
        return read;
    }

    // ---- records

    private void takeRecord() {
        if (number > recordCount) {
            takeRest();
            return;
        }
        int from = datums.at();
        try {
            text.clear();
            datums.write(header().shape, text);
            frame = record.set(text.bytes(), text.length(), nextOffset, number);
        } catch (MalformedFrameException e) {
            giveUpFrom(from, e);
            return;
        } catch (InvalidRequestException e) {
            if (!passFrom(from)) {
                return;
            }
            frame = problem(datumBytes(), from, datums.at(), String.valueOf(e.getMessage()));
        }
        number++;
        leaveIfDone();
    }

    private boolean passFrom(int from) {
        try {
            datums.goTo(from);
            datums.pass(header().shape);
            return true;
        } catch (MalformedFrameException e) {
            giveUpFrom(from, e);
            return false;
        }
    }

    private void giveUpFrom(int from, MalformedFrameException why) {
        frame = problem(
                datumBytes(),
                from,
                dataEnd(),
                "record %d of the %d in its block can't be decoded, so the rest of the block is given up: %s"
                        .formatted(number, recordCount, why.getMessage()));
        leaveBlock();
    }

    /** What is behind the last record of a block; nothing should be. */
    private void takeRest() {
        int left = datums.left();
        if (left > 0) {
            frame = problem(
                    datumBytes(),
                    datums.at(),
                    dataEnd(),
                    "%d bytes are left over behind the last record of the block".formatted(left));
        }
        leaveBlock();
    }

    private byte[] datumBytes() {
        BlockCodec codec = header().codec;
        return codec.isPlain() ? buffer : codec.bytes();
    }

    private int dataEnd() {
        return datums.at() + datums.left();
    }

    private RecordFrame problem(byte[] bytes, int from, int to, String why) {
        byte[] shown = Arrays.copyOfRange(bytes, from, Math.min(to, from + SHOWN_BYTES_MAX));
        return RecordFrame.ofProblem(shown, to - from, nextOffset, inBlock ? number : 1, why);
    }

    private void leaveIfDone() {
        if (number > recordCount && datums.left() == 0) {
            leaveBlock();
        }
    }

    private void leaveBlock() {
        inBlock = false;
        datums.begin(NONE, 0, 0); // or it would keep the array
        header().codec.clear();
        advance(blockBytes);
        if (buffer.length > BYTES_KEPT_MAX && end - next < BUFFER_BYTES) {
            byte[] smaller = new byte[BUFFER_BYTES];
            System.arraycopy(buffer, next, smaller, 0, end - next);
            buffer = smaller;
            end -= next;
            next = 0;
        }
    }

    // ---- blocks

    /** Begins the next block, or makes a frame of its damage; false if there is none so far. */
    private boolean beginBlock() {
        frame = record;
        record.set(record.bytes(), 0, nextOffset, 1);
        var _ = has(BLOCK_HEADER_BYTES_MAX);
        if (next == end) {
            return false;
        }
        int data = readNumbers();
        if (data < 0) {
            return restIsUnit && takeUnit(end, "the file ends within a block");
        }
        if (statedCount < 0 || statedBytes < 0 || statedBytes > BLOCK_BYTES_MAX) {
            return takeDamage("it says that it has %d records and %d bytes, of at most %d"
                    .formatted(statedCount, statedBytes, BLOCK_BYTES_MAX));
        }
        int headBytes = data - next;
        int bytes = headBytes + (int) statedBytes + ObjectHeader.SYNC_BYTES;
        if (!has(bytes)) {
            int marker = marker(next, end);
            if (marker >= 0) {
                return takeDamage(
                        "it should have %d bytes, but the file ends before, and there is a sync marker in between"
                                .formatted(statedBytes));
            }
            return restIsUnit
                    && takeUnit(
                            end, "the file ends within a block of %d bytes".formatted(statedBytes));
        }
        blockBytes = bytes;
        data = next + headBytes; // the buffer may have been moved
        int dataEnd = data + (int) statedBytes;
        byte[] sync = header().sync;
        if (!Arrays.equals(buffer, dataEnd, dataEnd + sync.length, sync, 0, sync.length)) {
            return takeDamage(
                    "the sync marker is not where its %d bytes end".formatted(statedBytes));
        }
        return open(data, dataEnd);
    }

    private boolean open(int data, int dataEnd) {
        ObjectHeader read = header();
        try {
            read.codec.clear();
            if (read.codec.isPlain()) {
                datums.begin(buffer, data, dataEnd);
            } else {
                read.codec.unpack(buffer, data, dataEnd - data);
                datums.begin(read.codec.bytes(), 0, read.codec.length());
            }
        } catch (MalformedFrameException e) {
            return takeUnit(next + blockBytes, "the block is damaged: " + e.getMessage());
        }
        // records without any byte would be as many as somebody likes
        if (statedCount > datums.left()) {
            return takeUnit(
                    next + blockBytes,
                    "the block is damaged: it should have %d records in %d bytes"
                            .formatted(statedCount, datums.left()));
        }
        inBlock = true;
        recordCount = statedCount;
        number = 1;
        return true;
    }

    /** Reads how many records and bytes a block has; where it goes on, or -1 if the file ends. */
    private int readNumbers() {
        int at = next;
        statedCount = -1; // which none has
        statedBytes = -1;
        for (int i = 0; i < 2; i++) {
            long value = 0;
            int shift = 0;
            while (true) {
                if (at == end) {
                    return -1;
                }
                byte b = buffer[at++];
                value |= (long) (b & 0x7F) << shift;
                shift += 7;
                if (b >= 0) {
                    break;
                }
                if (shift >= Long.SIZE) {
                    statedCount = -1;
                    return at;
                }
            }
            value = value >>> 1 ^ -(value & 1);
            if (i == 0) {
                statedCount = value;
            } else {
                statedBytes = value;
            }
        }
        return at;
    }

    /** Makes a frame of all up to the next marker, or to the end of the file. */
    private boolean takeDamage(String why) {
        byte[] shown = null;
        long offset = nextOffset;
        int from = next;
        while (true) {
            int marker = marker(from, end);
            int to = marker < 0 ? end : marker + ObjectHeader.SYNC_BYTES;
            if (shown == null && (marker >= 0 || end - next >= SHOWN_BYTES_MAX || ended)) {
                shown = Arrays.copyOfRange(buffer, next, Math.min(to, next + SHOWN_BYTES_MAX));
            }
            if (marker >= 0 || ended) {
                advance(to - next);
                break;
            }
            // the beginning of a marker may be there
            from = Math.max(next, end - ObjectHeader.SYNC_BYTES + 1);
            if (shown != null) {
                advance(from - next);
            }
            int kept = from - next;
            var _ = fill();
            from = next + kept;
        }
        frame = RecordFrame.ofProblem(
                shown == null ? new byte[0] : shown,
                nextOffset - offset,
                offset,
                1,
                "the block is damaged: %s; reading goes on behind the next sync marker"
                        .formatted(why));
        return true;
    }

    private boolean takeUnit(int to, String why) {
        frame = problem(buffer, next, to, why);
        advance(to - next);
        return true;
    }

    /** Where a marker begins, or -1. */
    private int marker(int from, int to) {
        byte[] sync = header().sync;
        for (int at = from; at <= to - sync.length; at++) {
            if (buffer[at] == sync[0]
                    && Arrays.equals(buffer, at, at + sync.length, sync, 0, sync.length)) {
                return at;
            }
        }
        return -1;
    }

    // ---- bytes

    private void advance(int byteCount) {
        next += byteCount;
        nextOffset += byteCount;
    }

    /** Reads until so many bytes are there; false if the input has not so many. */
    private boolean has(int byteCount) {
        while (end - next < byteCount && fill()) {
            // a short read: go on
        }
        return end - next >= byteCount;
    }

    /** Reads more: the buffer grows with what there is, whatever a block says of its length. */
    private boolean fill() {
        if (ended) {
            return false;
        }
        if (next == end) {
            next = 0;
            end = 0;
        } else if (end == buffer.length && next > 0) {
            System.arraycopy(buffer, next, buffer, 0, end - next);
            end -= next;
            next = 0;
        }
        if (end == buffer.length) {
            buffer = Arrays.copyOf(buffer, Math.min(2 * buffer.length, BUFFER_BYTES_MAX));
        }
        int count = input.read(buffer, end, buffer.length - end);
        if (count < 0) {
            ended = true;
            return false;
        }
        end += count;
        return true;
    }
}
