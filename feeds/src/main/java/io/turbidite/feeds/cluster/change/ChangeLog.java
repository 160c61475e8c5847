package io.turbidite.feeds.cluster.change;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.WholeFile;
import io.turbidite.core.format.FileHeader;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The numbered log of a cluster's changes: the controller's, or the copy that a node keeps. Its
 * file is described by {@link ChangeFrame}; it holds all entries in memory too.
 *
 * <p><em>Confined to one thread at a time.</em> Nothing here keeps another process out: whoever
 * opens it holds the directory's lock. Invariants:
 *
 * <ol>
 *   <li>Entries have the numbers 1, 2, 3 …, their chain is right, and {@link #map} is made of them.
 *   <li>What {@link #append} or {@link #raise} returned from is durable. Memory shows nothing that
 *       is not.
 *   <li>A torn end is no entry. Damage before the end is a {@link CorruptionException}.
 *   <li>A failed write or sync fails the log (D6): only opening it again tells what is durable.
 * </ol>
 */
public final class ChangeLog implements AutoCloseable {
    /** Some hundred thousand changes; more is not believed, and not written. */
    static final int BYTES_MAX = 64 << 20;

    private final String name;
    private final FileHeader header;
    private final DiskFile file;
    private final List<Entry> entries;
    private Epoch epoch;
    private ClusterMap map;

    /** Where the next frame goes: behind the last change or epoch. */
    private long end;

    private @Nullable RuntimeException failure;

    private ChangeLog(String name, FileHeader header, DiskFile file, ChangeScan scan) {
        this.name = name;
        this.header = header;
        this.file = file;
        this.entries = new ArrayList<>(scan.entries());
        this.epoch = scan.epoch();
        this.map = scan.map();
        this.end = scan.end();
    }

    /** Who keeps a log; it decides what to do about a damaged one. */
    public enum Keeper {
        /** What it has is decided. */
        CONTROLLER("start the controller with --recover when all nodes are there: it takes the"
                + " highest copy of them"),
        /** What it has is a copy. */
        NODE("delete the file: the node gets all changes from the controller again");

        private final String remedy;

        Keeper(String remedy) {
            this.remedy = remedy;
        }

        private CorruptionException remedied(CorruptionException damage) {
            return damage.in("the log of changes can't be used (" + remedy + ")");
        }
    }

    /**
     * Makes an empty log; durable when it returns.
     *
     * @param name of its file, in a directory that is there
     * @param clusterId a random number
     * @throws InvalidRequestException if there is a file of this name
     */
    public static ChangeLog create(Disk disk, String name, long clusterId) {
        if (disk.exists(name)) {
            throw new InvalidRequestException("there is a log of changes in %s of %s already"
                    .formatted(name, disk.description()));
        }
        return replace(disk, name, clusterId, List.of(), Epoch.NONE);
    }

    /**
     * Makes a log of these entries in place of the one that is there, if there is one; durable when
     * it returns. A power cut leaves the old file or the new one.
     *
     * @param entries from number 1
     * @throws InvalidRequestException if they don't follow on one another
     */
    public static ChangeLog replace(
            Disk disk, String name, long clusterId, List<Entry> entries, Epoch epoch) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        FileHeader header = new FileHeader(
                ChangeFrame.FORMAT, ChangeFrame.VERSION, 0, clusterId, epoch.number());
        byte[] head = new byte[FileHeader.BYTES];
        header.write(MemorySegment.ofArray(head), 0);
        bytes.writeBytes(head);
        long number = 0;
        long chain = Entry.CHAIN_START;
        for (Entry entry : entries) {
            checkFollows(entry, number, chain);
            bytes.writeBytes(ChangeFrame.of(entry).encode(header, bytes.size()));
            number = entry.number();
            chain = entry.chain();
        }
        if (epoch.number() > 0) {
            bytes.writeBytes(ChangeFrame.of(epoch).encode(header, bytes.size()));
        }
        WholeFile.of(disk, name).write(bytes.toByteArray());
        return open(disk, name, clusterId, Keeper.CONTROLLER);
    }

    /**
     * Opens a log. Its last frame is written and synced once more: it may have been read from what
     * the system holds in memory. What is torn is cut off.
     *
     * @param clusterId of the cluster that it must be of
     * @throws InvalidRequestException if it is missing, or of another cluster
     * @throws CorruptionException if it is damaged; tells where, and what to do
     * @throws io.turbidite.core.FormatVersionException if another release wrote it
     */
    public static ChangeLog open(Disk disk, String name, long clusterId, Keeper keeper) {
        if (!disk.exists(name)) {
            throw new InvalidRequestException(
                    "there is no log of changes in %s of %s".formatted(name, disk.description()));
        }
        DiskFile file = disk.open(name);
        try {
            FileHeader header = header(file, clusterId, keeper);
            ChangeScan scan = scan(file, header, keeper);
            ChangeLog log = new ChangeLog(name, header, file, scan);
            log.harden(scan.bytes(), scan.lastOffset());
            return log;
        } catch (RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    private static FileHeader header(DiskFile file, long clusterId, Keeper keeper) {
        FileHeader header;
        try {
            header = FileHeader.readFrom(file)
                    .check(file.name(), ChangeFrame.FORMAT, ChangeFrame.VERSION);
        } catch (CorruptionException e) {
            throw keeper.remedied(e);
        }
        if (header.storeId() != clusterId) {
            throw new InvalidRequestException("%s is of cluster %016x, and this one is %016x"
                    .formatted(file.name(), header.storeId(), clusterId));
        }
        return header;
    }

    private static ChangeScan scan(DiskFile file, FileHeader header, Keeper keeper) {
        try {
            return ChangeScan.of(file, header);
        } catch (CorruptionException e) {
            throw keeper.remedied(e);
        }
    }

    private void harden(byte[] bytes, int lastOffset) {
        byte[] last = Arrays.copyOfRange(bytes, lastOffset, (int) end);
        file.write(lastOffset, MemorySegment.ofArray(last), 0, last.length);
        file.truncate(end);
        file.sync();
        write(ChangeFrame.mark(number()));
    }

    /** A random number of the cluster. */
    public long clusterId() {
        return header.storeId();
    }

    /** Of the last change; 0 if there is none. */
    public long number() {
        return entries.size();
    }

    /** Of the last change. */
    public long chain() {
        return chainAt(number());
    }

    /**
     * The chain of a change.
     *
     * @param number 0 to {@link #number()}
     */
    public long chainAt(long number) {
        return number == 0 ? Entry.CHAIN_START : entries.get((int) number - 1).chain();
    }

    /** The changes behind a number, at most so many. */
    public List<Entry> after(long number, int countMax) {
        int from = (int) Math.min(number, entries.size());
        return List.copyOf(entries.subList(from, from + Math.min(entries.size() - from, countMax)));
    }

    /** What all changes make. */
    public ClusterMap map() {
        return map;
    }

    /**
     * What the changes up to one make.
     *
     * @param number 0 to {@link #number()}
     */
    public ClusterMap mapAt(long number) {
        if (number == number()) {
            return map;
        }
        ClusterMap then = ClusterMap.EMPTY;
        for (Entry entry : entries.subList(0, (int) number)) {
            then = then.with(entry.change());
        }
        return then;
    }

    /** The latest that was {@linkplain #raise raised}. */
    public Epoch epoch() {
        return epoch;
    }

    /**
     * The entry of a change that would follow.
     *
     * @throws InvalidRequestException if it does not fit the map
     */
    public Entry next(Change change) {
        var _ = map.with(change);
        return Entry.after(number(), chain(), change);
    }

    /**
     * Adds an entry; durable when it returns.
     *
     * @throws InvalidRequestException if it does not follow, does not fit the map, or the log is
     *     full: nothing was written
     * @throws StoreFailedException if an earlier write failed
     * @throws io.turbidite.core.StorageIoException if this one does: it may be there, or not
     */
    public void append(Entry entry) {
        checkFollows(entry, number(), chain());
        ClusterMap changed = map.with(entry.change());
        appendFrame(ChangeFrame.of(entry));
        entries.add(entry);
        map = changed;
    }

    /**
     * Notes a later epoch; durable when it returns.
     *
     * @throws InvalidRequestException if it is not later
     */
    public void raise(Epoch later) {
        if (later.number() <= epoch.number()) {
            throw new InvalidRequestException(
                    "%s is not later than %s, which %s has".formatted(later, epoch, name));
        }
        appendFrame(ChangeFrame.of(later));
        epoch = later;
    }

    private static void checkFollows(Entry entry, long number, long chain) {
        if (!entry.follows(number, chain)) {
            throw new InvalidRequestException(
                    "change %d does not follow on change %d: it is of another log"
                            .formatted(entry.number(), number));
        }
    }

    private void appendFrame(ChangeFrame frame) {
        if (failure != null) {
            throw new StoreFailedException(
                    "%s failed before: %s; open it again".formatted(name, failure.getMessage()),
                    failure);
        }
        if (end + frame.byteCount() > BYTES_MAX) {
            throw new InvalidRequestException(
                    "%s is full: it may have %d bytes".formatted(name, BYTES_MAX));
        }
        try {
            write(frame);
            file.sync();
            end += frame.byteCount();
            write(ChangeFrame.mark(
                    frame.kind() == ChangeFrame.KIND_CHANGE ? frame.number() : number()));
        } catch (RuntimeException e) {
            failure = e;
            throw e;
        }
    }

    private void write(ChangeFrame frame) {
        byte[] bytes = frame.encode(header, end);
        file.write(end, MemorySegment.ofArray(bytes), 0, bytes.length);
    }

    /** Closes the file. */
    @Override
    public void close() {
        file.close();
    }

    @Override
    public String toString() {
        return "%s of cluster %016x: %d changes, %s"
                .formatted(name, clusterId(), entries.size(), epoch);
    }
}
