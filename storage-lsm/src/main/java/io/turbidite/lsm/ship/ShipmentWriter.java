package io.turbidite.lsm.ship;

import static io.turbidite.lsm.ship.ShipmentFormat.CHUNK_HEADER_BYTES;
import static io.turbidite.lsm.ship.ShipmentFormat.PAYLOAD_BYTES_MAX;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;

/**
 * Writes a {@link ShipmentFormat} stream. <em>Confined to one thread.</em> Holds one chunk, on the
 * heap, because streams take arrays.
 */
final class ShipmentWriter {
    /** Puts bytes of a file into a chunk. */
    @FunctionalInterface
    interface Content {
        void read(long position, MemorySegment target, long targetOffset, int byteCount);
    }

    private final OutputStream out;
    private final FileHeader header;
    private final int first;
    private final byte[] chunk = new byte[CHUNK_HEADER_BYTES + PAYLOAD_BYTES_MAX];
    private final MemorySegment segment = MemorySegment.ofArray(chunk);
    private final Crc32c crc = new Crc32c();
    private long offset;
    private long componentBytes;

    /**
     * @param first the first component file that is sent, from 1
     */
    ShipmentWriter(OutputStream out, FileHeader header, int first) {
        this.out = out;
        this.header = header;
        this.first = first;
    }

    void begin() {
        header.write(segment, 0);
        send(FileHeader.BYTES);
    }

    /** Sends a file; the next in order. */
    void file(int number, long fileBytes, Content content) {
        segment.set(Bytes.I64, ShipmentFormat.SHIPMENT_OFFSET, header.fileId());
        segment.set(Bytes.I32, ShipmentFormat.FILE_OFFSET, number);
        segment.set(Bytes.I32, ShipmentFormat.FIRST_OFFSET, first);
        segment.set(Bytes.I64, ShipmentFormat.FILE_BYTES_OFFSET, fileBytes);
        for (long position = 0; position < fileBytes; position += PAYLOAD_BYTES_MAX) {
            int bytes = (int) Math.min(PAYLOAD_BYTES_MAX, fileBytes - position);
            content.read(position, segment, CHUNK_HEADER_BYTES, bytes);
            segment.set(Bytes.I32, ShipmentFormat.PAYLOAD_BYTES_OFFSET, bytes);
            segment.set(Bytes.I64, ShipmentFormat.POSITION_OFFSET, position);
            int checksum = crc.compute(
                    segment,
                    ShipmentFormat.PAYLOAD_BYTES_OFFSET,
                    CHUNK_HEADER_BYTES - ShipmentFormat.PAYLOAD_BYTES_OFFSET + (long) bytes);
            segment.set(Bytes.I32, ShipmentFormat.CHECKSUM_OFFSET, checksum);
            send(CHUNK_HEADER_BYTES + bytes);
        }
        if (number != ShipmentFormat.MANIFEST) {
            componentBytes += fileBytes;
        }
    }

    /**
     * Ends the stream, which stays open.
     *
     * @param fileCount component files that the manifest names
     */
    void finish(int fileCount) {
        segment.set(Bytes.I32, ShipmentFormat.TOTAL_FIRST_OFFSET, first);
        segment.set(Bytes.I32, ShipmentFormat.TOTAL_FILE_COUNT_OFFSET, fileCount);
        segment.set(Bytes.I64, ShipmentFormat.TOTAL_BYTES_OFFSET, componentBytes);
        int checksum = crc.compute(segment, 0, ShipmentFormat.TOTALS_BYTES);
        new FileFooter(
                        offset,
                        ShipmentFormat.TOTALS_BYTES,
                        checksum,
                        header.storeId(),
                        header.fileId())
                .write(segment, ShipmentFormat.TOTALS_BYTES);
        send(ShipmentFormat.TOTALS_BYTES + FileFooter.BYTES);
        try {
            out.flush();
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private void send(int bytes) {
        try {
            out.write(chunk, 0, bytes);
        } catch (IOException e) {
            throw failed(e);
        }
        offset += bytes;
    }

    private StorageIoException failed(IOException e) {
        return new StorageIoException(
                StorageIoException.Kind.IO,
                "sending",
                "a shipment, at offset " + offset + ",",
                String.valueOf(e.getMessage()),
                e);
    }
}
