package io.turbidite.core.file;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;

import java.lang.foreign.MemorySegment;

/**
 * A file that is replaced whole: a draft is written and made durable, then takes the name. A power
 * cut leaves the old file or the new one, never a part, and perhaps a draft that nobody reads.
 *
 * <p><em>Confined to one thread.</em> It holds nothing open. Steps, of which {@link #write} is all:
 *
 * <ol>
 *   <li>{@link #create()}: a draft that a power cut left behind is deleted, and a new one begun;
 *   <li>the caller writes, syncs and closes it;
 *   <li>{@link #place}: the draft is renamed, and the directory synced;
 *   <li>{@link #abandon()} instead, if the draft is not wanted, or what it takes on a full disk.
 * </ol>
 */
public final class WholeFile {
    private static final String SUFFIX = ".new";

    private final Disk disk;
    private final String name;
    private final String draft;

    private WholeFile(Disk disk, String name, String draft) {
        this.disk = disk;
        this.name = name;
        this.draft = draft;
    }

    /** A file whose draft is called as it is, with ".new" behind. */
    public static WholeFile of(Disk disk, String name) {
        return new WholeFile(disk, name, name + SUFFIX);
    }

    /**
     * A file with another draft.
     *
     * @param draft in the directory of {@code name}
     */
    public static WholeFile of(Disk disk, String name, String draft) {
        assert directoryOf(name).equals(directoryOf(draft)) : draft + " for " + name;
        return new WholeFile(disk, name, draft);
    }

    /** The directory of a name; {@code ""} is the root. */
    private static String directoryOf(String name) {
        return name.substring(0, Math.max(0, name.lastIndexOf('/')));
    }

    /** Begins a draft; whoever asks writes, syncs and closes it. */
    public DiskFile create() {
        abandon();
        return disk.create(draft);
    }

    /**
     * Writes a draft of these bytes, which is durable when it returns. The old file stands whatever
     * fails.
     */
    public void writeDraft(byte[] bytes) {
        try (DiskFile file = create()) {
            file.write(0, MemorySegment.ofArray(bytes), 0, bytes.length);
            file.sync();
        }
    }

    /**
     * Puts the draft in the file's place; durable when it returns.
     *
     * @throws StorageIoException if either file may stand
     */
    public void place() {
        disk.rename(draft, name);
        disk.syncDirectory(directoryOf(name));
    }

    /** Deletes the draft, if there is one. */
    public void abandon() {
        if (disk.exists(draft)) {
            disk.delete(draft);
        }
    }

    /** Replaces the file; durable when it returns. */
    public void write(byte[] bytes) {
        writeDraft(bytes);
        place();
    }

    /**
     * As {@link #write}, of a file on which the next step is built.
     *
     * @param what for the message: what is replaced
     * @param whole for the message: what must be opened again to learn which file stands
     * @throws StorageIoException if the draft can't be written: the old file stands
     * @throws StoreFailedException if it is not known which file stands
     */
    public void writeForSure(byte[] bytes, String what, String whole) {
        writeDraft(bytes);
        try {
            place();
        } catch (RuntimeException | Error uncertain) {
            // whatever it was: whoever took the change for undone would go on with the old state
            throw new StoreFailedException(
                    "%s could not be replaced for sure: %s; reopen %s"
                            .formatted(what, uncertain.getMessage(), whole),
                    uncertain);
        }
    }
}
