package io.turbidite.core.format;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.file.DiskFile;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The envelope around one payload that is made and read at once. <em>Stateless.</em>
 *
 * <pre>
 * offset          bytes field
 *      0             64 {@link FileHeader}
 *     64              n payload
 * 64 + n             64 {@link FileFooter} of the payload, with the header's ids
 * </pre>
 *
 * <p>Reading is three steps, because a format has its say between them: {@link #readImage} takes
 * the bytes, {@link #header} finds what the file is, and {@link #payload} what it holds.
 */
public final class Envelope {
    private static final int BYTES_MIN = FileHeader.BYTES + FileFooter.BYTES;

    private Envelope() {}

    /** The bytes of a file. */
    public static byte[] wrap(FileHeader header, byte[] payload) {
        byte[] bytes = new byte[BYTES_MIN + payload.length];
        MemorySegment image = MemorySegment.ofArray(bytes);
        header.write(image, 0);
        System.arraycopy(payload, 0, bytes, FileHeader.BYTES, payload.length);
        int checksum = new Crc32c().compute(image, FileHeader.BYTES, payload.length);
        new FileFooter(
                        FileHeader.BYTES,
                        payload.length,
                        checksum,
                        header.storeId(),
                        header.fileId())
                .write(image, FileHeader.BYTES + (long) payload.length);
        return bytes;
    }

    /**
     * Reads an image that lies in a file from {@code offset} to the end. No memory is taken for it
     * before its footer, its length and its checksum were found right. The rest is for {@link
     * #header} and {@link #payload}.
     *
     * @param bytesMax more is not believed
     * @throws CorruptionException if it is damaged
     */
    public static byte[] readImage(DiskFile file, long offset, int bytesMax) {
        long imageBytes = file.size() - offset;
        if (imageBytes > bytesMax) {
            throw new CorruptionException(
                    file.name(), offset, "file", "at most " + bytesMax + " bytes", "" + imageBytes);
        }
        if (imageBytes >= BYTES_MIN) {
            MemorySegment end = MemorySegment.ofArray(new byte[FileFooter.BYTES]);
            int got = file.read(offset + imageBytes - FileFooter.BYTES, end, 0, FileFooter.BYTES);
            assert got == FileFooter.BYTES : got;
            FileFooter.read(file.name(), imageBytes, end, 0)
                    .checkFills(file.name(), imageBytes)
                    .checkPayload(file, offset + FileHeader.BYTES);
        }
        byte[] image = new byte[(int) Math.max(0, imageBytes)];
        int got = file.read(offset, MemorySegment.ofArray(image), 0, image.length);
        return got < image.length ? Arrays.copyOf(image, got) : image;
    }

    /**
     * The header of an image; the caller checks format, version and owner.
     *
     * @param name for messages
     * @throws CorruptionException if it is damaged, or the image too short for an envelope
     */
    public static FileHeader header(String name, byte[] image) {
        if (image.length < BYTES_MIN) {
            throw new CorruptionException(
                    name, 0, "file", BYTES_MIN + " bytes or more", image.length + " bytes");
        }
        return FileHeader.read(name, MemorySegment.ofArray(image), 0);
    }

    /**
     * The payload of an image.
     *
     * @param name for messages
     * @param header what {@link #header} returned
     * @throws CorruptionException if footer or payload are damaged
     */
    public static byte[] payload(String name, FileHeader header, byte[] image) {
        MemorySegment bytes = MemorySegment.ofArray(image);
        int end = image.length - FileFooter.BYTES;
        FileFooter.read(name, image.length, bytes, end)
                .checkOwner(name, image.length, header)
                .checkFills(name, image.length)
                .checkPayload(name, bytes, FileHeader.BYTES);
        return Arrays.copyOfRange(image, FileHeader.BYTES, end);
    }
}
