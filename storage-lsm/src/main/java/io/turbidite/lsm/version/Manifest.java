package io.turbidite.lsm.version;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.KnownFormat;
import io.turbidite.core.index.RegionSessions;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * The durable truth of which components a store consists of. A change is a whole new file, written,
 * synced, renamed over the old one and made durable by a sync of the directory: so an edit is there
 * or not, there is no tail to tear, and one checksum covers it. A few kilobytes a flush buy that.
 *
 * <p><em>Thread-safe:</em> one lock, held over the file's I/O; it is on no write or read path.
 */
public final class Manifest {
    /** Its format and the versions that are read. */
    public static final KnownFormat FORMAT =
            new KnownFormat(ManifestFile.FORMAT, ManifestFile.VERSION_MIN, ManifestFile.VERSION);

    /** A larger file is not believed: it would name ten million components. */
    public static final int BYTES_MAX = ManifestFile.BYTES_MAX;

    private final Disk disk;
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicLong nextFileId;
    private volatile ManifestState state;

    /** Of this opening for writing. */
    private volatile RegionSessions sessions;

    /** Whether edits name this session. */
    private volatile boolean sessionBegun;

    /** Each timestamp from this one on is of one operation. */
    private volatile long ownFrom;

    /** Of the format of the file that stands. */
    private volatile int version;

    /** Since a change of which memory and disk may know differently; guarded by the lock. */
    private @Nullable StoreFailedException uncertain;

    private Manifest(Disk disk, ManifestState state, int version) {
        this.disk = disk;
        this.state = state;
        this.version = version;
        this.ownFrom = state.ownFrom();
        this.sessions = new RegionSessions(state.session(), state.session());
        this.nextFileId = new AtomicLong(state.nextFileId());
    }

    /** Writes the first manifest of a new store. */
    public static Manifest create(Disk disk, long storeId) {
        Manifest manifest = new Manifest(disk, ManifestState.empty(storeId), ManifestFile.VERSION);
        manifest.edit(first -> first, () -> {});
        return manifest;
    }

    /** Reads the manifest of an existing store. */
    public static Manifest open(Disk disk) {
        ManifestFile.Found found = ManifestFile.read(disk);
        return new Manifest(disk, found.state(), found.version());
    }

    /**
     * Writes the manifest of a store whose other files are all in place: with it, they are a store.
     */
    public static void write(Disk disk, ManifestState state) {
        ManifestFile.write(disk, state);
    }

    /** The bytes of the file that {@link #write} would write. */
    public static byte[] encode(ManifestState state) {
        return ManifestFile.encode(state);
    }

    /**
     * What the bytes of a manifest file say.
     *
     * @param name of what holds them, for messages
     * @throws io.turbidite.core.CorruptionException if they are damaged
     * @throws io.turbidite.core.FormatVersionException if they are of another version
     */
    public static ManifestState decode(String name, byte[] image) {
        return ManifestFile.decode(name, image);
    }

    /**
     * The bytes of a manifest that lie in a file from {@code offset} to the end, when they were
     * found right.
     *
     * @throws io.turbidite.core.CorruptionException if they are damaged
     */
    public static byte[] readWhole(DiskFile file, long offset) {
        return ManifestFile.readWhole(file, offset);
    }

    /** What is durable. */
    public ManifestState state() {
        return state;
    }

    /** Whether an older release's format is the file's: the next edit writes it in today's. */
    public boolean isOutdated() {
        return version < ManifestFile.VERSION;
    }

    /** A file id that no file has. */
    public long newFileId() {
        return nextFileId.getAndIncrement();
    }

    /**
     * Names this opening for writing: before its regions are opened.
     *
     * @param random that no other opening has, of this store or of a copy of it
     */
    public void drawSession(long random) {
        sessions = new RegionSessions(state.session(), random);
    }

    /**
     * From the next edit on the manifest names this session: its regions know of it. Before any of
     * them absorbs something there must be one.
     */
    public void beginSession() {
        sessionBegun = true;
    }

    /**
     * Says that from a timestamp on, which was not drawn yet, each is of one operation: in a store
     * whose manifest could not say so. From the next edit on it does.
     */
    public void noteOwnFrom(long timestamp) {
        ownFrom = Math.min(ownFrom, timestamp);
    }

    /** Each timestamp from this one on is of one operation; those below may be of a batch. */
    public long ownFrom() {
        return ownFrom;
    }

    /** The session that the manifest named when it was opened, and this one. */
    public RegionSessions sessions() {
        return sessions;
    }

    /**
     * From now on, {@link #newFileId} gives ids above this one: a file has it that no manifest
     * names.
     */
    public void passOver(long fileId) {
        nextFileId.accumulateAndGet(fileId + 1, Math::max);
    }

    /**
     * Asks while nothing changes: the durable state and the partitions' components agree.
     *
     * @param question does no I/O
     */
    public <T> T atRest(Function<ManifestState, T> question) {
        lock.lock();
        try {
            return question.apply(state);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Makes a change durable, then visible; none after one whose outcome is unknown. The store's
     * own way to it looks first whether there may be a change.
     *
     * @param change from the current state; not called again
     * @param install makes the change visible in memory; runs under the lock, when the file is
     *     durable
     * @throws StorageIoException if the file can't be written; nothing has happened
     * @throws StoreFailedException if it can't be known which manifest stands, or {@code install}
     *     failed, so that memory and disk disagree
     */
    public void edit(UnaryOperator<ManifestState> change, Runnable install) {
        lock.lock();
        try {
            if (uncertain != null) {
                // who waited for the lock meanwhile may not know yet that the store has failed
                throw new StoreFailedException(
                        "the manifest is not changed after a failure: " + uncertain.getMessage(),
                        uncertain);
            }
            ManifestState changed = change.apply(state).withNextFileId(nextFileId.get());
            if (sessionBegun) {
                changed = changed.withSession(sessions.now());
            }
            changed = changed.withOwnFrom(ownFrom);
            ManifestFile.write(disk, changed);
            state = changed;
            version = ManifestFile.VERSION;
            installed(install);
        } catch (StoreFailedException failure) {
            if (uncertain == null) {
                uncertain = failure;
            }
            throw failure;
        } finally {
            lock.unlock();
        }
    }

    private static void installed(Runnable install) {
        try {
            install.run();
        } catch (RuntimeException | Error failure) {
            throw new StoreFailedException(
                    "a change of the manifest is durable, but could not be followed in memory: "
                            + failure,
                    failure);
        }
    }
}
