package io.turbidite.lsm.version;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The manifest file: the envelope around one payload ({@link ManifestCodec}), nothing else.
 *
 * <pre>
 * offset          bytes field
 *      0             64 {@link FileHeader}, format "manifest", version 12, file id 0
 *     64              n payload
 * 64 + n             64 {@link FileFooter} of the payload
 * </pre>
 */
final class ManifestFile {
    static final String FORMAT = "manifest";
    static final int VERSION = 12;

    /** The oldest version that is read; it is written anew with the next edit. */
    static final int VERSION_MIN = 10;

    /** The manifest has no number: there is one. */
    private static final long FILE_ID = 0;

    /** A manifest larger than this is not believed: 1 GiB would name ten million components. */
    static final int BYTES_MAX = 1 << 30;

    private ManifestFile() {}

    /**
     * Writes a new manifest over the old one; when it returns, the change is durable.
     *
     * @throws StorageIoException if the draft can't be written: the old manifest stands
     * @throws StoreFailedException if the draft can't be put in its place for sure: which manifest stands
     *     is known only after reopening, so no file that either names may be deleted
     */
    static void write(Disk disk, ManifestState state) {
        byte[] bytes = encode(state);
        if (disk.exists(StoreFiles.MANIFEST_DRAFT)) {
            disk.delete(StoreFiles.MANIFEST_DRAFT);
        }
        try (DiskFile file = disk.create(StoreFiles.MANIFEST_DRAFT)) {
            file.write(0, MemorySegment.ofArray(bytes), 0, bytes.length);
            file.sync();
        }
        try {
            disk.rename(StoreFiles.MANIFEST_DRAFT, StoreFiles.MANIFEST);
            disk.syncDirectory("");
        } catch (RuntimeException | Error uncertain) {
            // whatever it was: whoever took the change for undone would delete files that it names
            throw new StoreFailedException(
                    "the manifest could not be replaced for sure: " + uncertain.getMessage(),
                    uncertain);
        }
    }

    static ManifestState read(Disk disk) {
        try (DiskFile file = disk.openReadOnly(StoreFiles.MANIFEST)) {
            byte[] image = readWhole(file, 0);
            return decode(file.name(), image);
        }
    }

    /**
     * Reads an image of a manifest that lies in a file from {@code offset} to the end. No memory is taken for
     * it before its footer, its length and its checksum were found right.
     *
     * @throws CorruptionException if it is damaged
     */
    static byte[] readWhole(DiskFile file, long offset) {
        long imageBytes = file.size() - offset;
        if (imageBytes > BYTES_MAX) {
            throw new CorruptionException(
                    file.name(),
                    offset,
                    "file",
                    "at most " + BYTES_MAX + " bytes",
                    "" + imageBytes);
        }
        if (imageBytes >= FileHeader.BYTES + FileFooter.BYTES) {
            MemorySegment end = MemorySegment.ofArray(new byte[FileFooter.BYTES]);
            int got = file.read(offset + imageBytes - FileFooter.BYTES, end, 0, FileFooter.BYTES);
            assert got == FileFooter.BYTES : got;
            FileFooter footer = FileFooter.read(file.name(), imageBytes, end, 0);
            checkPlace(file.name(), imageBytes, footer);
            footer.checkPayload(file, offset + FileHeader.BYTES);
        }
        byte[] image = new byte[(int) Math.max(0, imageBytes)];
        int got = file.read(offset, MemorySegment.ofArray(image), 0, image.length);
        return got < image.length ? Arrays.copyOf(image, got) : image;
    }

    private static void checkPlace(String name, long fileBytes, FileFooter footer) {
        long payloadBytes = fileBytes - FileHeader.BYTES - FileFooter.BYTES;
        if (footer.payloadOffset() != FileHeader.BYTES || footer.payloadBytes() != payloadBytes) {
            throw new CorruptionException(
                    name,
                    fileBytes - FileFooter.BYTES,
                    "payload",
                    payloadBytes + " bytes at " + FileHeader.BYTES,
                    footer.payloadBytes() + " bytes at " + footer.payloadOffset());
        }
    }

    /** The bytes of a manifest file. */
    static byte[] encode(ManifestState state) {
        byte[] payload = ManifestCodec.encode(state);
        byte[] bytes = new byte[FileHeader.BYTES + payload.length + FileFooter.BYTES];
        MemorySegment image = MemorySegment.ofArray(bytes);
        new FileHeader(FORMAT, VERSION, 0, state.storeId(), FILE_ID).write(image, 0);
        System.arraycopy(payload, 0, bytes, FileHeader.BYTES, payload.length);
        int checksum = new Crc32c().compute(image, FileHeader.BYTES, payload.length);
        new FileFooter(FileHeader.BYTES, payload.length, checksum, state.storeId(), FILE_ID)
                .write(image, FileHeader.BYTES + (long) payload.length);
        return bytes;
    }

    /**
     * Reads the bytes of a manifest file.
     *
     * @param name for messages
     */
    static ManifestState decode(String name, byte[] image) {
        int fileBytes = image.length;
        if (fileBytes < FileHeader.BYTES + FileFooter.BYTES) {
            throw new CorruptionException(
                    name,
                    0,
                    "file",
                    (FileHeader.BYTES + FileFooter.BYTES) + " bytes or more",
                    fileBytes + " bytes");
        }
        MemorySegment bytes = MemorySegment.ofArray(image);
        FileHeader header =
                FileHeader.read(name, bytes, 0).check(name, FORMAT, VERSION_MIN, VERSION);
        header.checkOwner(name, header.storeId(), FILE_ID);
        int footerOffset = fileBytes - FileFooter.BYTES;
        FileFooter footer = FileFooter.read(name, fileBytes, bytes, footerOffset)
                .checkOwner(name, fileBytes, header);
        int payloadBytes = footerOffset - FileHeader.BYTES;
        checkPlace(name, fileBytes, footer);
        footer.checkPayload(name, bytes, FileHeader.BYTES);
        return decode(
                name,
                header,
                Arrays.copyOfRange(image, FileHeader.BYTES, FileHeader.BYTES + payloadBytes));
    }

    private static ManifestState decode(String name, FileHeader header, byte[] payload) {
        try {
            return ManifestCodec.decode(header.version(), header.storeId(), payload);
        } catch (IOException | InvalidRequestException | IllegalArgumentException wrong) {
            // the checksum is right, so this is a writer's fault rather than the disk's; say so
            throw new CorruptionException(
                    name,
                    FileHeader.BYTES,
                    "payload",
                    "a manifest",
                    String.valueOf(wrong.getMessage()));
        }
    }
}
