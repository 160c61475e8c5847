package io.turbidite.lsm.version;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.FileStatus;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.DatasetState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.ManifestState.TreeState;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Components and bitmaps that an opening found and no manifest names. An unfinished flush, merge or
 * repair leaves such files; so does a manifest that somebody replaced by an older one, and then
 * they may be the only copy of what they hold. So they go to a directory of their own, by rename,
 * and are deleted later: by command or when the disk is nearly full, but not by the opening that
 * moved them; or when the store has been open for a day. When the manifest that names one comes
 * back, the next opening {@linkplain #putBack puts it back}; while it names one, that is not
 * deleted.
 *
 * <p>The day is one of running time: a clock of the day may jump.
 *
 * <p><em>Thread-safe</em> by its monitor, which is held over its I/O; it is on no write or read
 * path.
 */
public final class Trash {
    /** A mistake that nobody has noticed for a day of work is not noticed by its files. */
    private static final long KEPT_NANOS = TimeUnit.DAYS.toNanos(1);

    private final Disk disk;
    private final Clock clock;
    private final long sinceNanos;
    private List<Item> items;

    /**
     * A file in the trash.
     *
     * @param name plain, as it was in the data directory
     */
    public record Item(String name, long bytes, Place place) {
        /** The bytes of all of them. */
        public static long bytes(List<Item> items) {
            return items.stream().mapToLong(Item::bytes).sum();
        }
    }

    /** Where an opening found a file. */
    public enum Place {
        /** In the trash. */
        TRASH,

        /** In the data directory; it is in the trash now. */
        TAKEN_IN,

        /** In the data directory, where it is still: the opening only reads. */
        DATA
    }

    private Trash(Disk disk, Clock clock, List<Item> items) {
        this.disk = disk;
        this.clock = clock;
        this.sinceNanos = clock.monotonicNanos();
        this.items = items;
    }

    /**
     * What is in the trash of a store; looks, and changes nothing. What people put there besides is
     * theirs.
     */
    public static Trash of(Disk disk, Clock clock) {
        List<Item> items = new ArrayList<>();
        if (disk.exists(StoreFiles.TRASH)) {
            for (String name : disk.list(StoreFiles.TRASH)) {
                String path = StoreFiles.TRASH + "/" + name;
                if (StoreFiles.fileIdOf(nameInData(name)) >= 0 && isFile(disk, path)) {
                    items.add(new Item(name, bytesOf(disk, path), Place.TRASH));
                }
            }
        }
        return new Trash(disk, clock, items);
    }

    /** The files that a manifest names, by their plain names, with the bytes that they have. */
    public static Map<String, Long> filesOf(ManifestState state) {
        Map<String, Long> files = new HashMap<>();
        for (DatasetState dataset : state.datasets()) {
            for (PartitionState partition : dataset.partitions()) {
                for (TreeState tree : partition.trees()) {
                    for (ComponentState component : tree.components()) {
                        files.put(
                                plain(StoreFiles.component(component.fileId())), component.bytes());
                        if (!component.invalidEntries().isNone()) {
                            files.put(
                                    plain(StoreFiles.bitmap(component.bitmapFileId())),
                                    component.invalidEntries().bytes());
                        }
                    }
                }
            }
        }
        return files;
    }

    private static String plain(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /**
     * Puts back what the manifest names, is missing where it belongs and lies here whole: an
     * opening with another manifest put it here. To be called before components are opened. A
     * rename is there or not, so what a power cut leaves undone the next opening does.
     *
     * @return what was put back
     */
    public synchronized List<Item> putBack(ManifestState state) {
        Map<String, Long> named = filesOf(state);
        List<Item> back = new ArrayList<>();
        for (Item item : items) {
            String name = nameInData(item.name);
            String from = StoreFiles.TRASH + "/" + item.name;
            String to = StoreFiles.DATA + "/" + name;
            if (named.getOrDefault(name, -1L) == item.bytes
                    && disk.exists(from)
                    && !disk.exists(to)
                    && isWhole(from, name, state)) {
                disk.rename(from, to);
                back.add(item);
            }
        }
        if (!back.isEmpty()) {
            // first where they are to be found from now on
            disk.syncDirectory(StoreFiles.DATA);
            disk.syncDirectory(StoreFiles.TRASH);
            List<Item> rest = new ArrayList<>(items);
            rest.removeAll(back);
            items = rest;
        }
        return back;
    }

    /** Without the number that a namesake has. */
    private static String nameInData(String name) {
        int number = name.indexOf('.', name.indexOf('.') + 1);
        return number < 0 ? name : name.substring(0, number);
    }

    /** A pipe would be waited for, a link or directory can't be opened. */
    private static boolean isFile(Disk disk, String path) {
        return disk.status(path).kind() == FileStatus.Kind.FILE;
    }

    /** The files here that a file of the data directory can be, by its plain name. */
    public synchronized List<Item> namesakes(String name) {
        return items.stream().filter(item -> nameInData(item.name).equals(name)).toList();
    }

    /**
     * Takes in what is in the data directory and has no name in the manifest. Of what is unfinished
     * nothing could be read: a file that was plainly cut is deleted, as are the runs of sorts. One
     * whose header or footer is damaged was finished once. To be called when the log was found to
     * reach back to where the manifest says.
     *
     * @return what was taken in
     */
    public synchronized List<Item> takeIn(ManifestState state) {
        Set<String> named = filesOf(state).keySet();
        List<Item> taken = new ArrayList<>();
        boolean deleted = false;
        for (String name : disk.list(StoreFiles.DATA)) {
            long fileId = StoreFiles.fileIdOf(name);
            String path = StoreFiles.DATA + "/" + name;
            if (belongsHere(name, named, state)) {
                if (taken.isEmpty() && !disk.exists(StoreFiles.TRASH)) {
                    disk.createDirectories(StoreFiles.TRASH);
                    disk.syncDirectory("");
                }
                long bytes = bytesOf(disk, path);
                String free = freeName(name);
                disk.rename(path, StoreFiles.TRASH + "/" + free);
                taken.add(new Item(free, bytes, Place.TAKEN_IN));
            } else if ((StoreFiles.isSortRun(name) || (fileId >= 0 && !named.contains(name)))
                    && isFile(disk, path)) {
                disk.delete(path);
                deleted = true;
            }
        }
        if (!taken.isEmpty()) {
            disk.syncDirectory(StoreFiles.TRASH);
        }
        if (deleted || !taken.isEmpty()) {
            disk.syncDirectory(StoreFiles.DATA);
        }
        List<Item> all = new ArrayList<>(items);
        all.addAll(taken);
        items = all;
        return taken;
    }

    /**
     * Finds what {@link #takeIn} would take, and leaves it where it is: for an opening that only
     * reads.
     */
    public synchronized void find(ManifestState state) {
        if (!disk.exists(StoreFiles.DATA)) {
            return;
        }
        Set<String> named = filesOf(state).keySet();
        List<Item> all = new ArrayList<>(items);
        for (String name : disk.list(StoreFiles.DATA)) {
            if (belongsHere(name, named, state)) {
                long bytes = bytesOf(disk, StoreFiles.DATA + "/" + name);
                all.add(new Item(name, bytes, Place.DATA));
            }
        }
        items = all;
    }

    /** Whether a file of the data directory, by its plain name, is one to be taken in. */
    private boolean belongsHere(String name, Set<String> named, ManifestState state) {
        long fileId = StoreFiles.fileIdOf(name);
        return fileId >= 0
                && !named.contains(name)
                && isFile(disk, StoreFiles.DATA + "/" + name)
                && !isPlainlyCut(StoreFiles.DATA + "/" + name, state.storeId(), fileId);
    }

    /** A file whose id was given out again has a namesake there. */
    private String freeName(String name) {
        String free = name;
        for (int i = 2; disk.exists(StoreFiles.TRASH + "/" + free); i++) {
            free = name + "." + i;
        }
        return free;
    }

    /**
     * Whether a file has no end: the last thing that a writer writes is the footer, and nothing at
     * the end is as in this file's, which damage has hardly done to three numbers at once.
     */
    private boolean isPlainlyCut(String path, long storeId, long fileId) {
        try (DiskFile file = disk.openReadOnly(path)) {
            return !FileFooter.isRecognizable(file, storeId, fileId);
        }
    }

    /** Whether header and footer are there and sound: the footer is what a writer writes last. */
    private boolean isWhole(String path) {
        try (DiskFile file = disk.openReadOnly(path)) {
            FileHeader header = FileHeader.readFrom(file);
            FileFooter footer = FileFooter.readFrom(file);
            return footer.checkOwner(path, file.size(), header).equals(footer);
        } catch (FormatVersionException newer) {
            return true; // another version wrote it, and knows what it is
        } catch (CorruptionException half) {
            return false;
        }
    }

    /** As {@link #isWhole(String)}, and of this store and the file id in {@code name}. */
    private boolean isWhole(String path, String name, ManifestState state) {
        try (DiskFile file = disk.openReadOnly(path)) {
            FileHeader.readFrom(file).checkOwner(path, state.storeId(), StoreFiles.fileIdOf(name));
        } catch (FormatVersionException | CorruptionException another) {
            return false;
        }
        return isWhole(path);
    }

    /** Whether a file is where it belongs: a power cut in a rename may leave it in both places. */
    private boolean isInPlace(String name, long bytes, ManifestState state) {
        String path = StoreFiles.DATA + "/" + name;
        return disk.exists(path) && bytesOf(disk, path) == bytes && isWhole(path, name, state);
    }

    private static long bytesOf(Disk disk, String path) {
        try (DiskFile file = disk.openReadOnly(path)) {
            return file.size();
        }
    }

    /** What is in it. */
    public synchronized List<Item> items() {
        return List.copyOf(items);
    }

    /** Whether the store has been open for so long that what is in the trash should go. */
    public synchronized boolean isOld() {
        return !items.isEmpty() && clock.monotonicNanos() - sinceNanos >= KEPT_NANOS;
    }

    /**
     * Deletes what is in it, but for what this opening took in, which nobody may have seen yet
     * unless the store has been open {@linkplain #isOld for long}, and for what the manifest names
     * and is not where it belongs: though it is not whole, it may be the only copy.
     *
     * @return what was deleted
     * @throws StorageIoException if a file can't be deleted; those before it are gone
     */
    public synchronized List<Item> empty(ManifestState state) {
        boolean all = isOld();
        Map<String, Long> named = filesOf(state);
        List<Item> kept = new ArrayList<>();
        List<Item> deleted = new ArrayList<>();
        try {
            for (Item item : items) {
                String path = StoreFiles.TRASH + "/" + item.name;
                String name = nameInData(item.name);
                if ((!all && item.place != Place.TRASH)
                        || (named.containsKey(name) && !isInPlace(name, named.get(name), state))) {
                    kept.add(item);
                } else if (disk.exists(path)) { // somebody may have put it back
                    disk.delete(path);
                    deleted.add(item);
                }
            }
            items = kept;
        } finally {
            if (!deleted.isEmpty()) {
                disk.syncDirectory(StoreFiles.TRASH);
            }
        }
        return deleted;
    }
}
