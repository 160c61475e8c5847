package io.turbidite.core.file;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.memory.NativeMemory;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;

/**
 * A file that is mapped into memory, on systems where that is safe and pays:
 *
 * <ol>
 *   <li><em>Linux</em>: a sync of the file writes what was stored to a mapping of it too. Elsewhere
 *       that is not so.
 *   <li><em>File systems that write in place</em>. One that copies on write needs space for a store
 *       to bytes that were written before, and answers with a signal if there is none.
 * </ol>
 *
 * <p>A store to a file that was cut, or whose device fails, is an {@link InternalError} of the JVM.
 * That goes for copies; code that the JVM compiles in some other way may not survive the signal,
 * so nothing else is done to a mapping, and nothing is read from it.
 *
 * <p><em>Thread-safe</em> as {@link MappedFile} says.
 */
final class RealMapping implements MappedFile {
    private static final boolean LINUX =
            System.getProperty("os.name", "").toLowerCase(Locale.ROOT).equals("linux");

    private static final Set<String> IN_PLACE = Set.of("ext2", "ext3", "ext4", "xfs", "tmpfs");

    private final String name;
    private final Arena arena;
    private final MemorySegment memory;

    private RealMapping(String name, Arena arena, MemorySegment memory) {
        this.name = name;
        this.arena = arena;
        this.memory = memory;
    }

    /** Whether files at {@code path} may be mapped. */
    static boolean isSafe(Path path) throws IOException {
        return LINUX && IN_PLACE.contains(Files.getFileStore(path).type());
    }

    /**
     * Maps the first {@code bytes} of a file.
     *
     * @return null if the system has no room for a mapping
     */
    static @Nullable RealMapping of(String name, FileChannel channel, long bytes)
            throws IOException {
        Arena arena = NativeMemory.shared("the mapped file " + name);
        RealMapping made = null;
        try {
            MemorySegment memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
            made = new RealMapping(name, arena, memory);
            return made;
        } catch (IOException refused) {
            if (refused instanceof ClosedChannelException) {
                throw refused;
            }
            return null;
        } finally {
            if (made == null) {
                arena.close();
            }
        }
    }

    @Override
    public void write(long fileOffset, MemorySegment source, long sourceOffset, int byteCount) {
        try {
            MemorySegment.copy(source, sourceOffset, memory, fileOffset, byteCount);
        } catch (InternalError fault) {
            throw new StorageIoException(
                    StorageIoException.Kind.IO,
                    "write",
                    name,
                    "the mapped file was cut, or its device does not answer",
                    fault);
        }
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
