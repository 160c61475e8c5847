package io.turbidite.lsm.ship;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.format.KnownFormat;
import io.turbidite.lsm.backup.StoreCut;
import io.turbidite.lsm.backup.StoredFile;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.version.Manifest;
import io.turbidite.lsm.version.ManifestState;

import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A store as it was at one timestamp, held to be sent to another machine, where a {@link Reception}
 * makes a store of it: all datasets, all indexes, no half batch. Writers, flushes and merges go on
 * meanwhile.
 *
 * <p>While the shipment is open, its component files stay on disk, and so do files with the
 * contents of memory; close it soon. You can send it again, to another receiver or from where a
 * receiver stopped. If the sender dies, it leaves files that the next opening puts into the trash.
 *
 * <em>Confined to one thread.</em> Memory: the manifest, and while sending one chunk of {@value
 * ShipmentFormat#PAYLOAD_BYTES_MAX} bytes.
 */
public final class Shipment implements AutoCloseable {
    /** The format of the stream. */
    public static final KnownFormat FORMAT =
            new KnownFormat(ShipmentFormat.FORMAT, ShipmentFormat.VERSION);

    private final StoreCore core;
    private final StoreCut cut;
    private final ManifestState image;
    private final byte[] manifest;
    private final List<StoredFile> files;

    private Shipment(StoreCore core, StoreCut cut) {
        this.core = core;
        this.cut = cut;
        this.image = cut.writeMemory(core.disk());
        this.manifest = Manifest.encode(image);
        this.files = StoredFile.allOf(image);
    }

    /**
     * Cuts a store now.
     *
     * @throws io.turbidite.core.StoreFailedException if the store takes no writes
     * @throws io.turbidite.core.StorageIoException if there is no room for the contents of memory
     */
    public static Shipment open(PartitionRegistry partitions) {
        StoreCore core = partitions.core();
        StoreCut cut = StoreCut.take(partitions);
        try (Undo undo = Undo.of(() -> letGo(core.disk(), cut))) {
            return undo.keep(new Shipment(core, cut));
        }
    }

    /** The last operation in the shipment. */
    public long timestamp() {
        return image.lastTimestamp();
    }

    /** Files that it consists of: components, and the bitmaps of their invalid entries. */
    public int fileCount() {
        return files.size();
    }

    /** The bytes of all these files together. */
    public long bytes() {
        return StoredFile.bytes(files);
    }

    /**
     * Sends everything, or what a receiver lacks.
     *
     * @param out takes the stream; stays open
     * @param received how many files of this shipment the receiver has ({@link
     *     Reception#fileCount}); 0 at first
     * @throws InvalidRequestException if the shipment has fewer files; nothing is sent
     * @throws io.turbidite.core.StorageIoException if {@code out} fails
     * @throws CorruptionException if a file does not have the length that was written
     */
    public ShipmentReport writeTo(OutputStream out, int received) {
        if (received < 0 || received > files.size()) {
            throw new InvalidRequestException("the receiver can't have %d files of a shipment of %d"
                    .formatted(received, files.size()));
        }
        FileHeader header = new FileHeader(
                ShipmentFormat.FORMAT,
                ShipmentFormat.VERSION,
                0,
                image.storeId(),
                cut.wallMicros());
        ShipmentWriter writer = new ShipmentWriter(out, header, received + 1);
        writer.begin();
        writer.file(
                ShipmentFormat.MANIFEST,
                manifest.length,
                (position, target, at, bytes) -> MemorySegment.copy(
                        MemorySegment.ofArray(manifest), position, target, at, bytes));
        for (int i = received; i < files.size(); i++) {
            send(writer, i + 1, files.get(i));
        }
        writer.finish(files.size());
        List<StoredFile> sent = files.subList(received, files.size());
        ShipmentReport report = new ShipmentReport(
                timestamp(),
                cut.wallMicros(),
                sent.size(),
                received,
                StoredFile.bytes(sent),
                StoredFile.quarantined(image));
        ShipmentMeter meter = ShipmentMeter.of(core.meters());
        meter.count().increment();
        meter.bytes().add(report.bytes());
        core.events().shipped(report.timestamp(), report.sent(), report.bytes());
        return report;
    }

    private void send(ShipmentWriter writer, int number, StoredFile stored) {
        try (DiskFile file = core.disk().openReadOnly(stored.name())) {
            long size = file.size();
            if (size != stored.bytes()) {
                throw new CorruptionException(
                        file.name(), 0, "file", stored.bytes() + " bytes", size + " bytes");
            }
            writer.file(number, size, (position, target, at, bytes) -> {
                core.health().checkReadable();
                int got = file.read(position, target, at, bytes);
                if (got < bytes) {
                    throw new CorruptionException(
                            file.name(), position + got, "file", size + " bytes", "at its end");
                }
            });
        }
    }

    /** Releases the files. */
    @Override
    public void close() {
        letGo(core.disk(), cut);
    }

    private static void letGo(Disk disk, StoreCut cut) {
        List<String> written = cut.written();
        cut.close();
        for (String name : written) {
            try {
                if (disk.exists(name)) {
                    disk.delete(name);
                }
            } catch (StorageException left) {
                // no manifest names it: the next opening of the store puts it into the trash
            }
        }
    }
}
