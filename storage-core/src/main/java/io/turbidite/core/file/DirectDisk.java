package io.turbidite.core.file;

import io.turbidite.core.memory.MemoryBudget;

import org.jspecify.annotations.Nullable;

/**
 * A disk whose new and read-only files go past the operating system's page cache, for readers and
 * writers who need not know: what they read and append may be of any length and anywhere in memory.
 *
 * <p><em>Thread-safe.</em> Owns the buffers that transfers are aligned in; the owner closes it when
 * its files are closed. Files made here are written once, from their start to their end; what is
 * opened with {@link #open} is an ordinary file of the disk below.
 *
 * <p>Where the file system refuses, it says so once and is an ordinary disk from then on.
 */
public final class DirectDisk implements ForwardingDisk, AutoCloseable {
    /** The largest block to align to; pages are a few KiB to a megabyte. */
    public static final int BLOCK_BYTES_MAX = 64 << 10;

    private final Disk disk;
    private final AlignedBuffers buffers;
    private final Runnable onRefusal;
    private volatile boolean refused;

    /**
     * @param disk who opens files, and does everything else
     * @param account charged with the buffers: 320 KiB for each read under way at the same time, 5
     *     MiB at most, and 1088 KiB for each file being written
     * @param onRefusal told when the file system refuses direct I/O, seldom more than once
     */
    public DirectDisk(Disk disk, MemoryBudget.Account account, Runnable onRefusal) {
        this.disk = disk;
        this.buffers = new AlignedBuffers(account);
        this.onRefusal = onRefusal;
    }

    /** Whether files still go past the page cache: nothing was refused so far. */
    public boolean isDirect() {
        return !refused;
    }

    @Override
    public Disk disk() {
        return disk;
    }

    @Override
    public DiskFile create(String name) {
        DiskFile direct = refused ? null : disk.createDirect(name);
        if (direct == null) {
            refuse();
            return disk.create(name);
        }
        AlignedAppends appends = null;
        try {
            appends = new AlignedAppends(direct, buffers.account());
            return appends;
        } finally {
            if (appends == null) {
                direct.close();
                disk.delete(name);
            }
        }
    }

    /** As the disk below, for whoever aligns what is written; a refusal is told here, too. */
    @Override
    public @Nullable DiskFile createDirect(String name) {
        DiskFile direct = refused ? null : disk.createDirect(name);
        if (direct == null) {
            refuse();
        }
        return direct;
    }

    @Override
    public DiskFile openReadOnly(String name) {
        DiskFile direct = refused ? null : disk.openDirect(name);
        if (direct == null) {
            refuse();
            return disk.openReadOnly(name);
        }
        return new AlignedReads(direct, buffers);
    }

    /** Frees the buffers; no file may be in use. */
    @Override
    public void close() {
        buffers.close();
    }

    private void refuse() {
        if (!refused) {
            refused = true;
            onRefusal.run();
        }
    }
}
