package io.turbidite.lsm.backup;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.lsm.component.ComponentHeader;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.version.StoreFiles;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Puts component files into a directory and checks what came there. <em>Confined to one thread.</em>
 */
final class ComponentCopies implements AutoCloseable {
    private static final int BUFFER_BYTES = 1 << 20;

    private final Disk target;
    private final BufferCache cache;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment buffer = arena.allocate(BUFFER_BYTES);

    /**
     * @param cache of the store that is copied, or one for the purpose; pages are read past it
     */
    ComponentCopies(Disk target, BufferCache cache) {
        this.target = target;
        this.cache = cache;
    }

    /**
     * Copies a component file, makes the copy durable and checks every byte of it.
     *
     * @throws CorruptionException if the original or the copy is damaged
     */
    void copy(Disk source, ComponentHeader header) {
        String name = StoreFiles.component(header.fileId());
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
        check(header);
    }

    /**
     * Checks every byte of a component file in the directory.
     *
     * @return its size
     * @throws CorruptionException the first thing that is wrong
     */
    long check(ComponentHeader header) {
        try (DiskComponent component = open(header)) {
            component.verify(damage -> {
                throw damage;
            });
            return component.bytes();
        }
    }

    /** Opens a component file in the directory, which checks all but its leaf pages. */
    DiskComponent open(ComponentHeader header) {
        return DiskComponent.open(target, StoreFiles.component(header.fileId()), header, cache);
    }

    @Override
    public void close() {
        arena.close();
    }
}
