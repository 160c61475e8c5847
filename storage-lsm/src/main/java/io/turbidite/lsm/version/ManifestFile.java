package io.turbidite.lsm.version;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.WholeFile;
import io.turbidite.core.format.Envelope;
import io.turbidite.core.format.FileHeader;

import java.io.IOException;

/**
 * The manifest file: the envelope around one payload ({@link ManifestCodec}), nothing else.
 *
 * <pre>
 * offset          bytes field
 *      0             64 {@link FileHeader}, format "manifest", version 15, file id 0
 *     64              n payload
 * 64 + n             64 {@link io.turbidite.core.format.FileFooter} of the payload
 * </pre>
 */
final class ManifestFile {
    static final String FORMAT = "manifest";
    static final int VERSION = 16;

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
     * @throws StoreFailedException if the draft can't be put in its place for sure: which manifest
     *     stands is known only after reopening, so no file that either names may be deleted
     */
    static void write(Disk disk, ManifestState state) {
        WholeFile.of(disk, StoreFiles.MANIFEST, StoreFiles.MANIFEST_DRAFT)
                .writeForSure(encode(state), "the manifest", "the store");
    }

    /**
     * A manifest as it was found.
     *
     * @param version of its format
     */
    record Found(ManifestState state, int version) {}

    static Found read(Disk disk) {
        try (DiskFile file = disk.openReadOnly(StoreFiles.MANIFEST)) {
            byte[] image = readWhole(file, 0);
            return new Found(
                    decode(file.name(), image),
                    Envelope.header(file.name(), image).version());
        }
    }

    /** As {@link Envelope#readImage}, of an image of a manifest. */
    static byte[] readWhole(DiskFile file, long offset) {
        return Envelope.readImage(file, offset, BYTES_MAX);
    }

    /** The bytes of a manifest file. */
    static byte[] encode(ManifestState state) {
        return Envelope.wrap(
                new FileHeader(FORMAT, VERSION, 0, state.storeId(), FILE_ID),
                ManifestCodec.encode(state));
    }

    /**
     * Reads the bytes of a manifest file.
     *
     * @param name for messages
     */
    static ManifestState decode(String name, byte[] image) {
        FileHeader header = Envelope.header(name, image).check(name, FORMAT, VERSION_MIN, VERSION);
        header.checkOwner(name, header.storeId(), FILE_ID);
        return decode(name, header, Envelope.payload(name, header, image));
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
