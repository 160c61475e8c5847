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

/**
 * The manifest file: the envelope around one payload ({@link ManifestCodec}), nothing else.
 *
 * <pre>
 * offset          bytes field
 *      0             64 {@link FileHeader}, format "manifest", version 5, file id 0
 *     64              n payload
 * 64 + n             64 {@link FileFooter} of the payload
 * </pre>
 */
final class ManifestFile {
    static final String FORMAT = "manifest";
    static final int VERSION = 5;

    /** The manifest has no number: there is one. */
    private static final long FILE_ID = 0;

    /** A manifest larger than this is not believed: 1 GiB would name ten million components. */
    private static final long BYTES_MAX = 1L << 30;

    private ManifestFile() {}

    /**
     * Writes a new manifest over the old one; when it returns, the change is durable.
     *
     * @throws StorageIoException if the draft can't be written: the old manifest stands
     * @throws StoreFailedException if the draft can't be put in its place for sure: which manifest stands
     *     is known only after reopening, so no file that either names may be deleted
     */
    static void write(Disk disk, ManifestState state) {
        byte[] payload = ManifestCodec.encode(state);
        byte[] bytes = new byte[FileHeader.BYTES + payload.length + FileFooter.BYTES];
        MemorySegment image = MemorySegment.ofArray(bytes);
        new FileHeader(FORMAT, VERSION, 0, state.storeId(), FILE_ID).write(image, 0);
        System.arraycopy(payload, 0, bytes, FileHeader.BYTES, payload.length);
        int checksum = new Crc32c().compute(image, FileHeader.BYTES, payload.length);
        new FileFooter(FileHeader.BYTES, payload.length, checksum, state.storeId(), FILE_ID)
                .write(image, FileHeader.BYTES + (long) payload.length);
        if (disk.exists(StoreFiles.MANIFEST_DRAFT)) {
            disk.delete(StoreFiles.MANIFEST_DRAFT);
        }
        try (DiskFile file = disk.create(StoreFiles.MANIFEST_DRAFT)) {
            file.write(0, image, 0, bytes.length);
            file.sync();
        }
        try {
            disk.rename(StoreFiles.MANIFEST_DRAFT, StoreFiles.MANIFEST);
            disk.syncDirectory("");
        } catch (StorageIoException uncertain) {
            throw new StoreFailedException(
                    "the manifest could not be replaced for sure: " + uncertain.getMessage(),
                    uncertain);
        }
    }

    static ManifestState read(Disk disk) {
        try (DiskFile file = disk.openReadOnly(StoreFiles.MANIFEST)) {
            FileHeader header = FileHeader.readFrom(file).check(file.name(), FORMAT, VERSION);
            header.checkOwner(file.name(), header.storeId(), FILE_ID);
            long fileBytes = file.size();
            FileFooter footer =
                    FileFooter.readFrom(file).checkOwner(file.name(), fileBytes, header);
            long wanted = fileBytes - FileHeader.BYTES - FileFooter.BYTES;
            if (footer.payloadOffset() != FileHeader.BYTES
                    || footer.payloadBytes() != wanted
                    || wanted > BYTES_MAX) {
                throw new CorruptionException(
                        file.name(),
                        fileBytes - FileFooter.BYTES,
                        "payload",
                        wanted + " bytes at " + FileHeader.BYTES,
                        footer.payloadBytes() + " bytes at " + footer.payloadOffset());
            }
            byte[] payload = new byte[(int) wanted];
            MemorySegment target = MemorySegment.ofArray(payload);
            int got = file.read(FileHeader.BYTES, target, 0, payload.length);
            if (got < payload.length) {
                throw new CorruptionException(
                        file.name(), got, "payload", wanted + " bytes", got + " bytes");
            }
            footer.checkPayload(file.name(), target, 0);
            return decode(file.name(), header.storeId(), payload);
        }
    }

    private static ManifestState decode(String name, long storeId, byte[] payload) {
        try {
            return ManifestCodec.decode(storeId, payload);
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
