package io.turbidite.feeds.flow;

import io.turbidite.core.format.FileHeader;

/**
 * The files of a spill, version 1 (little-endian). A segment is a header of the envelope, whose
 * file id is the segment's number, then frames one behind the other to the end of the file.
 *
 * <pre>
 * frame
 * offset bytes field
 *      0     4 checksum      masked CRC32C of everything behind it, the batch included
 *      4     4 payloadBytes  behind this header
 *      8     8 segment       a frame of another file is none of this one
 *     16     8 number        of the frame, one more than that of the one before
 *     24       batch
 * </pre>
 *
 * <p>A batch:
 *
 * <pre>
 * flags u8              1: it moves the position alone, 2: the first of another partition of its
 *                       name, 4: its sender was told what the parser made of it
 * partition text, follows position, position position
 * begunNanos i64, dropped i64, droppedCount i32, place i64 for each
 * rejectedCount i32, (offset i64, line i64, reason text) for each
 * recordCount i32 = n
 * recordEnds i32 (n + 1 times), rawStarts i32 (n), rawEnds i32 (n), offsets i64 (n), lines i64 (n)
 * marks u8 (n)          1: a key to be deleted, 2: it has a source of its own
 * source text for each such
 * records, raw, letters each with its length i32 before it
 * text, position        UTF-8 or bytes, with the length i32 before them; -1: none
 * </pre>
 *
 * <p>Beside the segments of a spill that is acknowledged lies a file {@value #MARK}, which says up
 * to where that is done: a header of the envelope, then two slots, of which the valid one with the
 * higher generation counts. They are written in turn, and each is synced before anybody is told, so
 * a torn one leaves the other.
 *
 * <pre>
 * slot, at offset 512 and 1,024
 * offset bytes field
 *      0     4 checksum      masked CRC32C of everything behind it
 *      4     4 olderCount    segments before that one that are not delivered; 0 by older releases
 *      8     8 generation    from 1
 *     16     8 segment       up to which all is acknowledged
 *     24     8 bytes         of that segment that are; 0: it is delivered, and may be gone
 * </pre>
 */
final class SpillFormat {
    /** Names in the file headers. */
    static final String FORMAT = "feed-spill";

    static final String MARK_FORMAT = "feed-spill-mark";
    static final int VERSION = 1;

    static final int CHECKSUM_OFFSET = 0;
    static final int PAYLOAD_BYTES_OFFSET = CHECKSUM_OFFSET + 4;
    static final int SEGMENT_OFFSET = PAYLOAD_BYTES_OFFSET + 4;
    static final int NUMBER_OFFSET = SEGMENT_OFFSET + 8;
    static final int FRAME_HEADER_BYTES = NUMBER_OFFSET + 8;

    /** The first frame of a segment. */
    static final int FRAMES_OFFSET = FileHeader.BYTES;

    static final String MARK = "MARK";

    /**
     * Behind the name of the directory: an empty file beside it, as long as the directory has a
     * mark. It tells that somebody has deleted that. No feed's name has a dot.
     */
    static final String BESIDE_SUFFIX = ".open";

    /** A sector each: what is torn leaves the other. */
    static final int SLOT_STRIDE = 512;

    static final int SLOT_OLDER_OFFSET = CHECKSUM_OFFSET + 4;
    static final int SLOT_GENERATION_OFFSET = SLOT_OLDER_OFFSET + 4;
    static final int SLOT_SEGMENT_OFFSET = SLOT_GENERATION_OFFSET + 8;
    static final int SLOT_BYTES_OFFSET = SLOT_SEGMENT_OFFSET + 8;
    static final int SLOT_BYTES = SLOT_BYTES_OFFSET + 8;

    private SpillFormat() {}
}
