package io.turbidite.feeds.store;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The file of a feed's dead letters, one JSON object a line, made when the first one comes.
 *
 * <p>Letters are durable before the position behind them is committed, together with the file's
 * length; at opening the file is cut to the length that was committed. So each dead letter is there
 * once, like each record.
 *
 * <p><em>Confined to one thread at a time</em>: of several lanes to the one that holds it.
 */
final class DeadLetterFile implements AutoCloseable {
    private final Disk disk;
    private final String name;
    private final AtomicBoolean held = new AtomicBoolean();
    private volatile boolean isInDoubt;
    private volatile @Nullable DiskFile file;
    private volatile long byteCount;

    /** Whether there may be letters behind those that count. */
    private boolean hasRest;

    private DeadLetterFile(Disk disk, String name) {
        this.disk = disk;
        this.name = name;
    }

    /**
     * Opens the file, or waits to make it.
     *
     * @param committedBytes the length it had at the last commit; what is behind is cut off. A file
     *     that is shorter was emptied or moved away by its reader, and is left as it is
     */
    static DeadLetterFile open(Disk disk, String name, long committedBytes) {
        DeadLetterFile letters = new DeadLetterFile(disk, name);
        letters.begin(committedBytes);
        return letters;
    }

    private void begin(long committedBytes) {
        DiskFile there = file;
        if (there == null && disk.exists(name)) {
            there = disk.open(name);
            file = there;
        }
        if (there == null) {
            return;
        }
        byteCount = Math.min(there.size(), committedBytes);
        hasRest = false;
        if (there.size() > committedBytes) {
            there.truncate(committedBytes);
        }
    }

    /** Whether {@link #fail} was called, and nobody may have it. */
    boolean isInDoubt() {
        return isInDoubt;
    }

    /** As at the opening; when nobody holds it. */
    void beginAnew(long committedBytes) {
        begin(committedBytes);
        isInDoubt = false;
    }

    /**
     * Whether the caller has it from now on, since nobody has.
     *
     * @throws StorageIoException if nobody may have it until it is opened again
     */
    boolean tryHold() {
        if (isInDoubt) {
            throw new StorageIoException(
                    StorageIoException.Kind.IO,
                    "write",
                    name,
                    "the batch of its last letters failed; whether the store has that is known when it is opened again",
                    null);
        }
        return held.compareAndSet(false, true);
    }

    /** Nobody may have it until it is opened again. */
    void fail() {
        isInDoubt = true;
        held.set(false);
    }

    /** Somebody else may have it. */
    void letGo() {
        held.set(false);
    }

    /** What was appended behind {@code byteCountBefore} does not count. */
    void goBack(long byteCountBefore) {
        byteCount = byteCountBefore;
        hasRest = true;
    }

    /** Appends whole lines and makes them durable. */
    void append(Slice lines) {
        if (lines.length() == 0) {
            return;
        }
        DiskFile target = file;
        boolean created = target == null;
        if (target == null) {
            int directoryEnd = name.lastIndexOf('/');
            if (directoryEnd > 0) {
                disk.createDirectories(name.substring(0, directoryEnd));
            }
            target = disk.create(name);
            file = target;
        }
        if (hasRest) {
            target.truncate(byteCount);
            hasRest = false;
        }
        long end = byteCount + lines.length();
        target.write(byteCount, lines.segment(), lines.offset(), lines.length());
        target.sync();
        byteCount = end;
        if (created) {
            syncDirectories();
        }
    }

    /** The name on its disk, or null while there is no file. */
    @Nullable
    String name() {
        return file == null ? null : name;
    }

    /** To be committed with the position. */
    long byteCount() {
        return byteCount;
    }

    @Override
    public void close() {
        DiskFile open = file;
        if (open != null) {
            open.close();
        }
    }

    /** Makes the new file's entry durable, and those of the directories that hold it. */
    private void syncDirectories() {
        for (int end = name.lastIndexOf('/'); end > 0; end = name.lastIndexOf('/', end - 1)) {
            disk.syncDirectory(name.substring(0, end));
        }
        disk.syncDirectory("");
    }
}
