package io.turbidite.lsm.ship;

import io.turbidite.core.format.FileHeader;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A shipment, version 1: a store as it was at one timestamp, as one stream that is written and read
 * in one pass. Little-endian; offsets are from the start of the stream.
 *
 * <pre>
 * offset bytes field
 *      0    64 {@link FileHeader}, format "shipment", store id of the store, file
 *              id: the shipment
 *     64     n chunks
 * 64 + n    16 totals
 * 80 + n    64 {@link io.turbidite.core.format.FileFooter} of the totals
 * </pre>
 *
 * <p>The shipment's number is the moment of the cut, microseconds since 1970. Chunks come file
 * after file, each file's from its start to its end. File 0 is the manifest that the receiver's
 * store will have, as a manifest file; the files from 1 are the components that it names, in its
 * order. All of them are there, or those from {@code first} on, when the receiver has the others of
 * this shipment already. So the manifest tells which chunks follow, and how many.
 *
 * <pre>
 * chunk
 * offset bytes field
 *      0     4 checksum      masked CRC32C of everything behind it, payload included
 *      4     4 payloadBytes  {@value #PAYLOAD_BYTES_MAX}, or what is left of the file
 *      8     8 shipment      a chunk of another shipment is no chunk of this one
 *     16     4 file
 *     20     4 first         the first component file of this stream, from 1; files + 1 if there is none
 *     24     8 position      of the payload in the file
 *     32     8 fileBytes     size of the file
 *     40     n payload
 *
 * totals
 * offset bytes field
 *      0     4 first         as in the chunks
 *      4     4 fileCount     of the components that the manifest names
 *      8     8 bytes         of those in this stream
 * </pre>
 *
 * <p>While it is being received, the file {@code SHIPMENT} of the directory has the header and the
 * manifest, one behind the other: so that what goes on is the same shipment.
 */
final class ShipmentFormat {
    /** Name in the header, and of the stream in messages. */
    static final String FORMAT = "shipment";

    static final int VERSION = 1;

    static final int CHECKSUM_OFFSET = 0;
    static final int PAYLOAD_BYTES_OFFSET = CHECKSUM_OFFSET + 4;
    static final int SHIPMENT_OFFSET = PAYLOAD_BYTES_OFFSET + 4;
    static final int FILE_OFFSET = SHIPMENT_OFFSET + 8;
    static final int FIRST_OFFSET = FILE_OFFSET + 4;
    static final int POSITION_OFFSET = FIRST_OFFSET + 4;
    static final int FILE_BYTES_OFFSET = POSITION_OFFSET + 8;
    static final int CHUNK_HEADER_BYTES = FILE_BYTES_OFFSET + 8;

    static final int TOTAL_FIRST_OFFSET = 0;
    static final int TOTAL_FILE_COUNT_OFFSET = TOTAL_FIRST_OFFSET + 4;
    static final int TOTAL_BYTES_OFFSET = TOTAL_FILE_COUNT_OFFSET + 4;
    static final int TOTALS_BYTES = TOTAL_BYTES_OFFSET + 8;

    /** Large enough that headers and calls don't matter, small enough for a buffer at each end. */
    static final int PAYLOAD_BYTES_MAX = 1 << 18;

    /** The manifest's number among the files. */
    static final int MANIFEST = 0;

    private ShipmentFormat() {}

    /** What every shipment begins with: of its header, what comes before the version. */
    static byte[] begin() {
        byte[] header = new byte[FileHeader.BYTES];
        new FileHeader(FORMAT, VERSION, 0, 0, 0).write(MemorySegment.ofArray(header), 0);
        return Arrays.copyOf(header, FileHeader.VERSION_OFFSET);
    }
}
