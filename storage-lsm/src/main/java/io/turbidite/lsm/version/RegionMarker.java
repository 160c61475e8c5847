package io.turbidite.lsm.version;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.FileStatus;
import io.turbidite.core.file.WholeFile;
import io.turbidite.core.format.Envelope;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.index.OutsideFile;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.BiFunction;

/**
 * The file {@code regions/REGION.outside}: a region of this store has a file elsewhere, or is about
 * to have one. It is there before that file is, and until that is gone. <em>Immutable.</em>
 *
 * <pre>
 * offset          bytes field
 *      0             64 {@link FileHeader}, format "region-outside", version 1, the store's number,
 *                       the region's as file id
 *     64              n payload
 * 64 + n             64 {@link io.turbidite.core.format.FileFooter} of the payload
 *
 * payload := kind str, dataset str, partition i32, index str, store str, path str, place str
 * </pre>
 *
 * <p>Integers of the payload are big-endian, strings as {@link DataOutputStream#writeUTF}; it is
 * read only after its checksum was found right.
 *
 * @param regionId the region's number
 * @param kind of the index
 * @param dataset whose it is, for people; as are {@code partition} and {@code index}
 * @param partition from 0
 * @param index its name when the region was made
 * @param store the directory of the store that made it: a copy of the store has the same marker,
 *     and must leave the file alone
 * @param file that is marked
 */
public record RegionMarker(
        long regionId,
        String kind,
        String dataset,
        int partition,
        String index,
        String store,
        OutsideFile file) {
    static final String FORMAT = "region-outside";
    static final int VERSION = 1;

    /** Seven texts of which none is longer than a path may be. */
    private static final int BYTES_MAX = 64 << 10;

    /**
     * Writes it; durable when this returns.
     *
     * @param storeId the store's number
     */
    public void write(Disk disk, long storeId) {
        FileHeader header = new FileHeader(FORMAT, VERSION, 0, storeId, regionId);
        WholeFile.of(disk, StoreFiles.regionMarker(regionId))
                .write(Envelope.wrap(header, encode()));
    }

    /**
     * Reads the marker of a region.
     *
     * @throws CorruptionException if it is damaged, or of another store or region
     * @throws io.turbidite.core.FormatVersionException if it is of another version
     */
    public static RegionMarker read(Disk disk, long storeId, long regionId) {
        return read(disk, regionId, (file, header) -> header.checkOwner(file, storeId, regionId));
    }

    /**
     * As {@link #read}, of whichever store and region: to tell of it, not to delete by it.
     *
     * @throws CorruptionException if it is damaged
     * @throws io.turbidite.core.FormatVersionException if it is of another version
     */
    public static RegionMarker readToTell(Disk disk, long regionId) {
        return read(disk, regionId, (file, header) -> header);
    }

    private static RegionMarker read(
            Disk disk, long regionId, BiFunction<String, FileHeader, FileHeader> owner) {
        String name = StoreFiles.regionMarker(regionId);
        if (disk.status(name).kind() != FileStatus.Kind.FILE) {
            // to open a pipe waits for ever
            throw new CorruptionException(
                    name, 0, "kind", "a file", "a directory, a link, a pipe or a device");
        }
        try (DiskFile file = disk.openReadOnly(name)) {
            byte[] image = Envelope.readImage(file, 0, BYTES_MAX);
            FileHeader header = owner.apply(
                    file.name(),
                    Envelope.header(file.name(), image).check(file.name(), FORMAT, VERSION));
            return decode(file.name(), regionId, Envelope.payload(file.name(), header, image));
        }
    }

    private byte[] encode() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeUTF(kind);
            out.writeUTF(dataset);
            out.writeInt(partition);
            out.writeUTF(index);
            out.writeUTF(store);
            out.writeUTF(file.path());
            out.writeUTF(file.place());
        } catch (IOException e) {
            throw new UncheckedIOException(e); // nothing of a byte array can fail
        }
        return bytes.toByteArray();
    }

    private static RegionMarker decode(String name, long regionId, byte[] payload) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload))) {
            RegionMarker marker = new RegionMarker(
                    regionId,
                    in.readUTF(),
                    in.readUTF(),
                    in.readInt(),
                    in.readUTF(),
                    in.readUTF(),
                    new OutsideFile(in.readUTF(), in.readUTF()));
            if (in.available() != 0) {
                throw new IOException("%d bytes too many".formatted(in.available()));
            }
            return marker;
        } catch (IOException wrong) {
            // the checksum is right, so this is a writer's fault rather than the disk's; say so
            throw new CorruptionException(
                    name, FileHeader.BYTES, "payload", "a marker", String.valueOf(wrong));
        }
    }
}
