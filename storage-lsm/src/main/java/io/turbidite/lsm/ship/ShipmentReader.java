package io.turbidite.lsm.ship;

import static io.turbidite.lsm.ship.ShipmentFormat.CHUNK_HEADER_BYTES;
import static io.turbidite.lsm.ship.ShipmentFormat.PAYLOAD_BYTES_MAX;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;
import io.turbidite.lsm.version.Manifest;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Reads a {@link ShipmentFormat} stream, and not a byte beyond its end. What it hands out was
 * checked. <em>Confined to one thread.</em> Holds one chunk, on the heap, because streams fill
 * arrays.
 */
final class ShipmentReader {
    private static final String NAME = ShipmentFormat.FORMAT;

    /** Takes bytes of a file, one chunk after the other. */
    @FunctionalInterface
    interface Content {
        void write(long position, MemorySegment source, long sourceOffset, int byteCount);
    }

    private final InputStream in;
    private final byte[] chunk = new byte[CHUNK_HEADER_BYTES + PAYLOAD_BYTES_MAX];
    private final MemorySegment segment = MemorySegment.ofArray(chunk);
    private final Crc32c crc = new Crc32c();
    private final FileHeader header;

    /** Where the chunk begins, and its payload's length. */
    private long chunkOffset;

    private int payloadBytes;
    private long offset;
    private int first;
    private long componentBytes;

    /**
     * Begins to read.
     *
     * @throws CorruptionException if this is no shipment
     * @throws io.turbidite.core.FormatVersionException if it is one of another version
     */
    ShipmentReader(InputStream in) {
        this.in = in;
        fill(0, FileHeader.BYTES);
        this.header = FileHeader.read(NAME, segment, 0)
                .check(NAME, ShipmentFormat.FORMAT, ShipmentFormat.VERSION);
    }

    FileHeader header() {
        return header;
    }

    /** The manifest file's bytes. */
    byte[] manifest() {
        chunk(ShipmentFormat.MANIFEST, 0);
        first = segment.get(Bytes.I32, ShipmentFormat.FIRST_OFFSET);
        long fileBytes = segment.get(Bytes.I64, ShipmentFormat.FILE_BYTES_OFFSET);
        if (first < 1 || fileBytes < payloadBytes || fileBytes > Manifest.BYTES_MAX) {
            throw damaged(
                    "manifest",
                    "at most %d bytes".formatted(Manifest.BYTES_MAX),
                    "%d bytes, components from %d".formatted(fileBytes, first));
        }
        // grows with what has come, not with what is said to come
        byte[] image =
                Arrays.copyOfRange(chunk, CHUNK_HEADER_BYTES, CHUNK_HEADER_BYTES + payloadBytes);
        checkChunk(fileBytes);
        while (image.length < fileBytes) {
            int position = image.length;
            chunk(ShipmentFormat.MANIFEST, position);
            checkChunk(fileBytes);
            image = Arrays.copyOf(image, position + payloadBytes);
            System.arraycopy(chunk, CHUNK_HEADER_BYTES, image, position, payloadBytes);
        }
        return image;
    }

    /** The first component file of this stream, from 1; known when the manifest has been read. */
    int first() {
        return first;
    }

    /** Reads a component file, the next in order. */
    void file(int number, long fileBytes, Content content) {
        for (long position = 0; position < fileBytes; position += payloadBytes) {
            chunk(number, position);
            checkChunk(fileBytes);
            content.write(position, segment, CHUNK_HEADER_BYTES, payloadBytes);
        }
        componentBytes += fileBytes;
    }

    /** Reads the end, which says that nothing is missing. */
    void finish(int fileCount) {
        chunkOffset = offset;
        int footerAt = ShipmentFormat.TOTALS_BYTES;
        fill(0, footerAt + FileFooter.BYTES);
        long streamBytes = offset;
        FileFooter footer = FileFooter.read(NAME, streamBytes, segment, footerAt)
                .checkOwner(NAME, streamBytes, header);
        if (footer.payloadOffset() != chunkOffset
                || footer.payloadBytes() != ShipmentFormat.TOTALS_BYTES) {
            throw damaged(
                    "totals",
                    "%d bytes at %d".formatted(ShipmentFormat.TOTALS_BYTES, chunkOffset),
                    "%d bytes at %d".formatted(footer.payloadBytes(), footer.payloadOffset()));
        }
        footer.checkPayload(NAME, segment, 0);
        int files = segment.get(Bytes.I32, ShipmentFormat.TOTAL_FILE_COUNT_OFFSET);
        int from = segment.get(Bytes.I32, ShipmentFormat.TOTAL_FIRST_OFFSET);
        long bytes = segment.get(Bytes.I64, ShipmentFormat.TOTAL_BYTES_OFFSET);
        if (files != fileCount || from != first || bytes != componentBytes) {
            throw damaged(
                    "totals",
                    "%d files from %d, %d bytes".formatted(fileCount, first, componentBytes),
                    "%d files from %d, %d bytes".formatted(files, from, bytes));
        }
    }

    /** Component bytes read so far. */
    long componentBytes() {
        return componentBytes;
    }

    /** Reads a chunk and checks that it is the one that must come. */
    private void chunk(int number, long position) {
        chunkOffset = offset;
        fill(0, CHUNK_HEADER_BYTES);
        // needed for the checksum; bounded by the buffer that is there
        int bytes = segment.get(Bytes.I32, ShipmentFormat.PAYLOAD_BYTES_OFFSET);
        if (bytes < 1 || bytes > PAYLOAD_BYTES_MAX) {
            throw damaged("length of a chunk", "1 to " + PAYLOAD_BYTES_MAX, "" + bytes);
        }
        fill(CHUNK_HEADER_BYTES, bytes);
        payloadBytes = bytes;
        int stored = segment.get(Bytes.I32, ShipmentFormat.CHECKSUM_OFFSET);
        int computed = crc.compute(
                segment,
                ShipmentFormat.PAYLOAD_BYTES_OFFSET,
                CHUNK_HEADER_BYTES - ShipmentFormat.PAYLOAD_BYTES_OFFSET + (long) bytes);
        if (stored != computed) {
            throw damaged(
                    "checksum of a chunk",
                    "0x" + Integer.toHexString(computed),
                    "0x" + Integer.toHexString(stored));
        }
        long shipment = segment.get(Bytes.I64, ShipmentFormat.SHIPMENT_OFFSET);
        int file = segment.get(Bytes.I32, ShipmentFormat.FILE_OFFSET);
        long at = segment.get(Bytes.I64, ShipmentFormat.POSITION_OFFSET);
        if (shipment != header.fileId() || file != number || at != position) {
            throw damaged(
                    "chunk",
                    "of file %d at %d, of shipment %d".formatted(number, position, header.fileId()),
                    "of file %d at %d, of shipment %d".formatted(file, at, shipment));
        }
    }

    /** Checks that a chunk is of a file of this size, and as long as it must be. */
    private void checkChunk(long fileBytes) {
        long position = segment.get(Bytes.I64, ShipmentFormat.POSITION_OFFSET);
        long said = segment.get(Bytes.I64, ShipmentFormat.FILE_BYTES_OFFSET);
        int from = segment.get(Bytes.I32, ShipmentFormat.FIRST_OFFSET);
        long expected = Math.min(PAYLOAD_BYTES_MAX, fileBytes - position);
        if (said != fileBytes || payloadBytes != expected || from != first) {
            throw damaged(
                    "chunk",
                    "%d bytes of %d, components from %d".formatted(expected, fileBytes, first),
                    "%d bytes of %d, components from %d".formatted(payloadBytes, said, from));
        }
    }

    private void fill(int at, int bytes) {
        int got;
        try {
            got = in.readNBytes(chunk, at, bytes);
        } catch (IOException e) {
            throw new StorageIoException(
                    StorageIoException.Kind.IO,
                    "receiving",
                    "a shipment, at offset " + offset + ",",
                    String.valueOf(e.getMessage()),
                    e);
        }
        if (got < bytes) {
            throw new CorruptionException(
                    NAME,
                    offset + got,
                    "stream",
                    (bytes - got) + " bytes longer at least",
                    "at its end");
        }
        offset += bytes;
    }

    private CorruptionException damaged(String what, String expected, String found) {
        return new CorruptionException(NAME, chunkOffset, what, expected, found);
    }
}
