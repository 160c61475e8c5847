package io.turbidite.core.log;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Varints;
import io.turbidite.core.format.Crc32c;

import java.lang.foreign.MemorySegment;

/**
 * The frame that everything in the log is wrapped in; descriptor of the structure on disk.
 *
 * <p>Layout (little-endian). A frame begins at a multiple of 8 from the start of its segment file:
 *
 * <pre>
 * offset bytes field
 *      0     4 checksum   masked CRC32C of bytes 4 to the end of the frame, xor the place's low word
 *      4     4 length     of the payload
 *      8     8 sequence   of the first record, in the whole log
 *     16     8 durable    every record below it had been synced when this frame was written
 *     24     4 session    counts the openings of the log that wrote to it
 *     28     1 kind       what the payload is, below
 *     29     3 headCheck  hash of bytes 4 to 28 and the place
 *     32     n payload
 *   32+n   0-7 zero       up to a multiple of 8
 * </pre>
 *
 * <p>A <em>group</em> is the frame of records that were there together; they have neighbouring
 * sequences:
 *
 * <pre>
 * group := (length + 1, bytes)*       length + 1 is a {@link Varints}; 0 and no bytes for a claim that was
 *                                     given up, which takes a sequence and is not replayed
 * </pre>
 *
 * <p>So a record of 500 bytes costs two bytes where many are written at once, 40 where it comes
 * alone. A group is synced as a whole or not at all, as the one write is that it is part of.
 *
 * <p>A group of no records is a <em>mark of a sync</em>: it takes no sequence, and is there for
 * what it says in {@code durable} when no record follows that would say it.
 *
 * <p>The <em>place</em> is a hash of store, segment number and offset in the file. It is not
 * stored: a frame is valid only where it was written, so that what an older use of a recycled
 * segment left there, or a frame that was moved or comes from another store, is never taken for a
 * record.
 *
 * <p>{@code headCheck} lets a reader believe the length before it has read the payload, and makes
 * the search for frames behind a damaged one cheap whatever the payloads hold: nobody who does not
 * know the store's id can write a payload that looks like frames.
 */
final class FrameFormat {
    static final int ALIGNMENT = 8;

    static final int CHECKSUM_OFFSET = 0;
    static final int LENGTH_OFFSET = CHECKSUM_OFFSET + 4;
    static final int SEQUENCE_OFFSET = LENGTH_OFFSET + 4;
    static final int DURABLE_OFFSET = SEQUENCE_OFFSET + 8;
    static final int SESSION_OFFSET = DURABLE_OFFSET + 8;
    static final int KIND_OFFSET = SESSION_OFFSET + 4;
    static final int HEAD_CHECK_OFFSET = KIND_OFFSET + 1;
    static final int HEADER_BYTES = HEAD_CHECK_OFFSET + 3;

    /** One large record. */
    static final int KIND_RECORD = 1;

    /** Small records, and claims that were given up. */
    static final int KIND_GROUP = 2;

    /** First frame of every segment that is in use: names the next sequence, takes none. */
    static final int KIND_SEGMENT = 3;

    /** First frame of a session, synced before any record of it: takes a sequence. */
    static final int KIND_SESSION = 4;

    /** Last frame of a clean close: takes a sequence. */
    static final int KIND_SEAL = 5;

    /**
     * Last frame of a full segment: the payload is the number of the next one. Takes no sequence.
     */
    static final int KIND_CONTINUED = 6;

    static final int CONTINUED_PAYLOAD_BYTES = 8;

    /**
     * Payload from which a group gets no further record: the frame's head is a five-hundredth of it
     * then, and what is damaged or torn is no more than a few dozen records.
     */
    static final int GROUP_BYTES = 16 << 10;

    private static final long PLACE_SEGMENT_FACTOR = 0x9E37_79B9_7F4A_7C15L;
    private static final long MIX_FACTOR = 0xD6E8_FEB8_6659_FD93L;

    private FrameFormat() {}

    /** The most that a record of {@code length} bytes can take: a group of its own. */
    static long loneGroupBytes(int length) {
        return frameBytes(Varints.bytes(length + 1) + (long) length);
    }

    /** Bytes of a frame with {@code payloadBytes} of payload. */
    static long frameBytes(long payloadBytes) {
        return (HEADER_BYTES + payloadBytes + ALIGNMENT - 1) & -ALIGNMENT;
    }

    /** Hash of where a frame lies. */
    static long place(long storeId, long segmentNumber, long offset) {
        return mix(mix(storeId ^ (segmentNumber * PLACE_SEGMENT_FACTOR)) + offset);
    }

    /**
     * Completes the frame whose payload already lies at {@code at + HEADER_BYTES}: writes header,
     * padding and checksum.
     *
     * @return the frame's length
     */
    static int seal(MemorySegment target, long at, FrameHead head, long place, Crc32c crc) {
        int frameBytes = Math.toIntExact(frameBytes(head.length));
        for (long pad = at + HEADER_BYTES + head.length; pad < at + frameBytes; pad++) {
            target.set(Bytes.U8, pad, (byte) 0);
        }
        target.set(Bytes.I32, at + LENGTH_OFFSET, head.length);
        target.set(Bytes.I64, at + SEQUENCE_OFFSET, head.sequence);
        target.set(Bytes.I64, at + DURABLE_OFFSET, head.durable);
        target.set(Bytes.I32, at + SESSION_OFFSET, head.session);
        target.set(Bytes.I32, at + KIND_OFFSET, kindWord(head, place));
        target.set(
                Bytes.I32,
                at + CHECKSUM_OFFSET,
                crc.compute(target, at + LENGTH_OFFSET, frameBytes - LENGTH_OFFSET) ^ (int) place);
        return frameBytes;
    }

    /**
     * Seals the frame at {@code at}, which is complete for another place, for this one.
     *
     * @return the frame's length
     */
    static int sealAgain(MemorySegment target, long at, FrameHead head, long place, Crc32c crc) {
        head.read(target, at);
        return seal(target, at, head, place, crc);
    }

    /**
     * Reads the 32 bytes at {@code at} into {@code head}.
     *
     * @return whether they are the head of a frame that was written at this place
     */
    static boolean readHead(MemorySegment source, long at, FrameHead head, long place) {
        int kindWord = source.get(Bytes.I32, at + KIND_OFFSET);
        int kind = kindWord & 0xFF;
        if (kind < KIND_RECORD || kind > KIND_CONTINUED) {
            return false;
        }
        head.read(source, at);
        return kindWord == kindWord(head, place) && head.length >= 0;
    }

    /** Whether the frame at {@code at}, of which {@code head} was read, is whole. */
    static boolean checksumMatches(
            MemorySegment source, long at, FrameHead head, long place, Crc32c crc) {
        long covered = frameBytes(head.length) - LENGTH_OFFSET;
        int computed = crc.compute(source, at + LENGTH_OFFSET, covered) ^ (int) place;
        return computed == source.get(Bytes.I32, at + CHECKSUM_OFFSET);
    }

    private static int kindWord(FrameHead head, long place) {
        long hash = mix(place ^ head.sequence);
        hash = mix(hash ^ head.durable);
        hash = mix(hash ^ ((long) head.session << 32 | (head.length & 0xFFFF_FFFFL)) + head.kind);
        return (int) (hash >>> 32) << 8 | head.kind;
    }

    /** One multiplication and one fold each: a hash against accidents, on the writer's path. */
    private static long mix(long value) {
        long product = value * MIX_FACTOR;
        return product ^ (product >>> 32);
    }

    /** The decoded head of a frame, reused. <em>Confined to one thread.</em> */
    static final class FrameHead {
        int length;
        int kind;
        int session;
        long sequence;
        long durable;

        /** Takes what the head at {@code at} says; whether it is one is not looked at. */
        void read(MemorySegment source, long at) {
            kind = source.get(Bytes.I32, at + KIND_OFFSET) & 0xFF;
            length = source.get(Bytes.I32, at + LENGTH_OFFSET);
            sequence = source.get(Bytes.I64, at + SEQUENCE_OFFSET);
            durable = source.get(Bytes.I64, at + DURABLE_OFFSET);
            session = source.get(Bytes.I32, at + SESSION_OFFSET);
        }

        /** Whether the frame takes a sequence, or several. */
        boolean takesSequence() {
            return kind != KIND_SEGMENT && kind != KIND_CONTINUED && !isSyncMark();
        }

        /** Whether the frame says what has been synced, and nothing else. */
        boolean isSyncMark() {
            return kind == KIND_GROUP && length == 0;
        }
    }
}
