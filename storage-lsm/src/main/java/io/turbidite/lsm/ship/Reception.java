package io.turbidite.lsm.ship;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.file.WholeFile;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.backup.ComponentCopies;
import io.turbidite.lsm.backup.StoredFile;
import io.turbidite.lsm.backup.TargetDirectory;
import io.turbidite.lsm.version.Manifest;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.StoreFiles;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * Makes a store of a {@link Shipment} that arrives as a stream. What was received before a stream
 * broke is kept: another stream of the same shipment goes on behind the last whole file.
 *
 * <ol>
 *   <li>Read header and manifest; mark the directory as incomplete and note which shipment it is
 *       for.
 *   <li>Component files come, each made durable and then checked from end to end.
 *   <li>Write the manifest, take the marks away: only now it is a store.
 * </ol>
 *
 * <p><em>Confined to one thread.</em> Memory: the manifest and one chunk.
 */
public final class Reception {
    /** Of what a shipment begins with: more, and it was none. */
    private static final int DAMAGED_BYTES_MAX = 4;

    private final ShipmentReader reader;
    private final ManifestState state;
    private final List<StoredFile> files;

    /** What the file SHIPMENT holds. */
    private final byte[] mark;

    private final Disk target;
    private final TargetDirectory directory;

    private Reception(ShipmentReader reader, Disk target) {
        this.reader = reader;
        byte[] manifest = reader.manifest();
        this.state = Manifest.decode("manifest of a shipment", manifest);
        FileHeader header = reader.header()
                .checkOwner(
                        ShipmentFormat.FORMAT, state.storeId(), reader.header().fileId());
        this.files = StoredFile.allOf(state);
        if (reader.first() > files.size() + 1) {
            throw new CorruptionException(
                    ShipmentFormat.FORMAT,
                    FileHeader.BYTES,
                    "first component",
                    "at most " + (files.size() + 1),
                    "" + reader.first());
        }
        this.mark = new byte[FileHeader.BYTES + manifest.length];
        header.write(MemorySegment.ofArray(mark), 0);
        System.arraycopy(manifest, 0, mark, FileHeader.BYTES, manifest.length);
        this.target = target;
        this.directory = new TargetDirectory(target);
    }

    /**
     * Receives a shipment into a directory.
     *
     * @param in the stream; it is read to the shipment's end, not beyond, and not closed
     * @param directory new, empty, or with the beginning of this very shipment
     * @throws InvalidRequestException if {@code directory} holds something else, or lacks files
     *     that the stream leaves out; it is left as it was
     * @throws CorruptionException if the stream is damaged or ends too early; what had come whole
     *     is kept, in a directory that is no store
     */
    public static ShipmentReport receive(InputStream in, Path directory) {
        try (Tasks tasks = ThreadTasks.create("turbidite-receive")) {
            return RealDisk.filled(directory, target -> receive(in, target, tasks, Clock.system()));
        }
    }

    /** As {@link #receive(InputStream, Path)}, into the root of a disk. */
    public static ShipmentReport receive(InputStream in, Disk target, Tasks tasks, Clock clock) {
        Reception reception = new Reception(new ShipmentReader(in), target);
        try (BufferCache cache = ComponentCopies.newCache(tasks, clock)) {
            return reception.run(cache);
        }
    }

    /**
     * Whether a stream begins as a shipment does, as far as it goes, or as one with a damaged byte
     * or two. It stands where it stood afterwards.
     *
     * @param in supports {@link InputStream#mark}
     */
    public static boolean isShipment(InputStream in) throws IOException {
        byte[] wanted = ShipmentFormat.begin();
        in.mark(wanted.length);
        byte[] found = in.readNBytes(wanted.length);
        in.reset();
        int differing = 0;
        for (int i = 0; i < found.length; i++) {
            differing += found[i] == wanted[i] ? 0 : 1;
        }
        boolean isWhole = found.length == wanted.length;
        return isWhole ? differing <= DAMAGED_BYTES_MAX : differing == 0 && found.length > 0;
    }

    /**
     * Component files that were received whole before a stream broke: where the next one can go on.
     * A directory that is empty or missing has 0.
     *
     * @throws InvalidRequestException if something else is in the directory
     */
    public static int fileCount(Path directory) {
        return RealDisk.isDirectory(directory) ? fileCount(RealDisk.open(directory)) : 0;
    }

    /** As {@link #fileCount(Path)}, of the root of a disk. */
    public static int fileCount(Disk target) {
        if (target.list("").isEmpty()) {
            return 0;
        }
        byte[] mark = readMark(target);
        byte[] manifest =
                Arrays.copyOfRange(mark, Math.min(FileHeader.BYTES, mark.length), mark.length);
        return presentCount(
                target, StoredFile.allOf(Manifest.decode(StoreFiles.SHIPMENT, manifest)));
    }

    private ShipmentReport run(BufferCache cache) {
        try (ComponentCopies copies = new ComponentCopies(target, cache)) {
            int kept = 0;
            if (target.list("").isEmpty()) {
                checkReaches(0);
                begin();
            } else {
                if (!Arrays.equals(readMark(target), mark)) {
                    throw new InvalidRequestException(
                            "%s holds the beginning of another shipment; delete the directory first"
                                    .formatted(target.description()));
                }
                kept = presentCount(target, files);
                checkReaches(kept);
                kept = keep(kept, copies);
            }
            for (int i = reader.first() - 1; i < files.size(); i++) {
                StoredFile stored = files.get(i);
                if (i < kept) {
                    reader.file(i + 1, stored.bytes(), (position, source, at, bytes) -> {});
                } else {
                    receive(i + 1, stored);
                    copies.check(stored);
                }
            }
            reader.finish(files.size());
            directory.complete(state);
            List<StoredFile> sent = files.subList(kept, files.size());
            return new ShipmentReport(
                    state.lastTimestamp(),
                    reader.header().fileId(),
                    sent.size(),
                    kept,
                    StoredFile.bytes(sent),
                    StoredFile.quarantined(state));
        }
    }

    private void checkReaches(int present) {
        if (reader.first() - 1 > present) {
            throw new InvalidRequestException(
                    "the stream leaves out %d component files, of which %s has %d; ask for those behind them"
                            .formatted(reader.first() - 1, target.description(), present));
        }
    }

    /** Makes the directory one that is being filled from this shipment. */
    private void begin() {
        directory.prepare();
        try (Undo undo = Undo.of(directory::abandon)) {
            WholeFile.of(target, StoreFiles.SHIPMENT, StoreFiles.SHIPMENT_DRAFT).write(mark);
            undo.keep();
        }
    }

    /**
     * Keeps what has been received and is sound. It may have come just before the receiver was
     * killed, so it is made durable now.
     *
     * @return how many files that are
     */
    private int keep(int present, ComponentCopies copies) {
        for (int i = 0; i < present; i++) {
            StoredFile stored = files.get(i);
            try (DiskFile file = target.open(stored.name())) {
                file.sync();
            }
            try {
                copies.check(stored);
            } catch (CorruptionException damaged) {
                checkReaches(i);
                return i;
            }
        }
        return present;
    }

    private void receive(int number, StoredFile stored) {
        String name = stored.name();
        if (target.exists(name)) {
            target.delete(name); // the beginning of it
        }
        try (DiskFile file = target.create(name)) {
            reader.file(number, stored.bytes(), file::write);
            file.sync();
        }
    }

    /** Files that are there from the first on, as long as they should be. */
    private static int presentCount(Disk target, List<StoredFile> files) {
        int count = 0;
        for (StoredFile stored : files) {
            if (!target.exists(stored.name())) {
                break;
            }
            try (DiskFile file = target.openReadOnly(stored.name())) {
                if (file.size() != stored.bytes()) {
                    break;
                }
            }
            count++;
        }
        return count;
    }

    private static byte[] readMark(Disk target) {
        if (target.exists(StoreFiles.MANIFEST) || !target.exists(StoreFiles.SHIPMENT)) {
            throw new InvalidRequestException(
                    "%s is not empty and not being filled from a shipment; give a new directory"
                            .formatted(target.description()));
        }
        try (DiskFile file = target.openReadOnly(StoreFiles.SHIPMENT)) {
            byte[] manifest = Manifest.readWhole(file, FileHeader.BYTES);
            byte[] bytes = new byte[FileHeader.BYTES + manifest.length];
            int got = file.read(0, MemorySegment.ofArray(bytes), 0, FileHeader.BYTES);
            System.arraycopy(manifest, 0, bytes, FileHeader.BYTES, manifest.length);
            return got < FileHeader.BYTES ? Arrays.copyOf(bytes, got) : bytes;
        }
    }
}
