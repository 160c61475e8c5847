package io.turbidite.lsm.backup;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.cache.CacheOptions;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.strategy.bitmap.ImmutableValidityBitmap;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Puts files of components into a directory and checks what came there. <em>Confined to one
 * thread.</em>
 */
public final class ComponentCopies implements AutoCloseable {
    private static final int BUFFER_BYTES = 1 << 20;

    /** Pages are read past the cache; it holds what is opened. */
    private static final long CACHE_BYTES = 16 << 20;

    private final Disk target;
    private final BufferCache cache;
    private final Arena arena = NativeMemory.confined("a backup");
    private final MemorySegment buffer = arena.allocate(BUFFER_BYTES);

    /**
     * @param cache of the store that is copied, or one for the purpose; pages are read past it
     */
    public ComponentCopies(Disk target, BufferCache cache) {
        this.target = target;
        this.cache = cache;
    }

    /** A cache for checks where no store is open; the caller closes it. */
    public static BufferCache newCache(Tasks tasks, Clock clock) {
        return BufferCache.create(
                MemoryBudget.of(CACHE_BYTES).account("checks of copies"),
                CacheOptions.of(CACHE_BYTES),
                tasks,
                clock,
                new Meters());
    }

    /**
     * Copies a file, makes the copy durable and checks every byte of it.
     *
     * @throws CorruptionException if the original or the copy is damaged
     */
    void copy(Disk source, StoredFile stored) {
        String name = stored.name();
        try (DiskFile from = source.openReadOnly(name);
                DiskFile to = target.create(name)) {
            long bytes = from.size();
            for (long offset = 0; offset < bytes; ) {
                int step =
                        from.read(offset, buffer, 0, (int) Math.min(BUFFER_BYTES, bytes - offset));
                if (step == 0) {
                    throw new CorruptionException(
                            name, offset, "file", bytes + " bytes", offset + " bytes");
                }
                to.write(offset, buffer, 0, step);
                offset += step;
            }
            to.sync();
        }
        check(stored);
    }

    /**
     * Checks every byte of a file in the directory.
     *
     * @throws CorruptionException the first thing that is wrong
     */
    public void check(StoredFile stored) {
        switch (stored) {
            case StoredFile.Component file -> {
                try (DiskComponent component = open(file)) {
                    component.verify(damage -> {
                        throw damage;
                    });
                }
            }
            case StoredFile.InvalidEntries file -> open(file);
        }
    }

    /** Opens a file in the directory, which checks all but the leaf pages of a component. */
    void checkQuickly(StoredFile stored) {
        switch (stored) {
            case StoredFile.Component file -> open(file).close();
            case StoredFile.InvalidEntries file -> open(file);
        }
    }

    private DiskComponent open(StoredFile.Component file) {
        return DiskComponent.open(target, file.name(), file.header(), cache);
    }

    private void open(StoredFile.InvalidEntries file) {
        ImmutableValidityBitmap.open(target, file.name(), file.owner()).close();
    }

    @Override
    public void close() {
        arena.close();
    }
}
