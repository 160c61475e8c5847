package io.turbidite.lsm.version;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.time.Clock;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Components and bitmaps that an opening found and no manifest names. An unfinished flush, merge or repair
 * leaves such files; so does a manifest that somebody replaced by an older one, and then they may be the only
 * copy of what they hold. So they go to a directory of their own, by rename, and are deleted later: by
 * command, when the store has been open for a day, or when the disk is nearly full.
 *
 * <p>The day is one of running time: a clock of the day may jump.
 *
 * <p><em>Thread-safe</em> by its monitor, which is held over its I/O; it is on no write or read path.
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
    public record Item(String name, long bytes) {
        /** The bytes of all of them. */
        public static long bytes(List<Item> items) {
            return items.stream().mapToLong(Item::bytes).sum();
        }
    }

    private Trash(Disk disk, Clock clock, List<Item> items) {
        this.disk = disk;
        this.clock = clock;
        this.sinceNanos = clock.monotonicNanos();
        this.items = items;
    }

    /** What is in the trash of a store; looks, and changes nothing. */
    public static Trash of(Disk disk, Clock clock) {
        List<Item> items = new ArrayList<>();
        if (disk.exists(StoreFiles.TRASH)) {
            for (String name : disk.list(StoreFiles.TRASH)) {
                items.add(new Item(name, bytesOf(disk, StoreFiles.TRASH + "/" + name)));
            }
        }
        return new Trash(disk, clock, items);
    }

    /**
     * Takes in what is in the data directory and has no name in the manifest. Of what is unfinished nothing
     * could be read: a file without a sound footer is deleted, as are the runs of sorts. To be called when
     * the log was found to reach back to where the manifest says.
     *
     * @param named file ids of components and bitmaps that the manifest names
     * @return what was taken in
     */
    public synchronized List<Item> takeIn(Set<Long> named) {
        List<Item> taken = new ArrayList<>();
        boolean deleted = false;
        for (String name : disk.list(StoreFiles.DATA)) {
            long fileId = StoreFiles.fileIdOf(name);
            String path = StoreFiles.DATA + "/" + name;
            if (fileId >= 0 && !named.contains(fileId) && isWhole(path)) {
                if (taken.isEmpty() && !disk.exists(StoreFiles.TRASH)) {
                    disk.createDirectories(StoreFiles.TRASH);
                    disk.syncDirectory("");
                }
                long bytes = bytesOf(disk, path);
                String free = freeName(name);
                disk.rename(path, StoreFiles.TRASH + "/" + free);
                taken.add(new Item(free, bytes));
            } else if (StoreFiles.isSortRun(name) || (fileId >= 0 && !named.contains(fileId))) {
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

    /** A file whose id was given out again has a namesake there. */
    private String freeName(String name) {
        String free = name;
        for (int i = 2; disk.exists(StoreFiles.TRASH + "/" + free); i++) {
            free = name + "." + i;
        }
        return free;
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
     * Deletes all that is in it.
     *
     * @return what was deleted
     * @throws StorageIoException if a file can't be deleted; those before it are gone
     */
    public synchronized List<Item> empty() {
        List<Item> deleted = new ArrayList<>();
        try {
            for (Item item : items) {
                String path = StoreFiles.TRASH + "/" + item.name;
                if (disk.exists(path)) { // somebody may have put it back
                    disk.delete(path);
                    deleted.add(item);
                }
            }
            items = List.of();
        } finally {
            if (!deleted.isEmpty()) {
                disk.syncDirectory(StoreFiles.TRASH);
            }
        }
        return deleted;
    }
}
