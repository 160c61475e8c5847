package io.turbidite.core.file;

import io.turbidite.core.memory.NativeMemory;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.util.Objects;

/**
 * Bytes of a file that are used as memory: read and written in place. Each of them has been written
 * before, so that no store needs space.
 *
 * <p>A use of a file that was cut, or whose device fails, is an {@link InternalError} of the JVM.
 * So nothing but copies and single words is done to it: what the JVM does to whole ranges by other
 * means, sums and comparisons for example, may not survive the signal.
 *
 * <p><em>Thread-safe</em> as memory is. It outlives the file's own {@link DiskFile#close()}.
 */
public final class MappedRange implements AutoCloseable {
    /** Mappings whose lines the processor writes back; null in a runtime without their module. */
    private static final FileChannel.@Nullable MapMode SYNCHRONOUS = synchronousMode();

    private final String name;
    private final Arena arena;
    private final MemorySegment memory;

    private MappedRange(String name, Arena arena, MemorySegment memory) {
        this.name = name;
        this.arena = arena;
        this.memory = memory;
    }

    /**
     * Maps a range of a file.
     *
     * @param synchronous whether a forced range must be durable by the processor's means alone
     * @return null if the machine, or the file, has no mapping of this kind
     */
    static @Nullable MappedRange of(
            String name, FileChannel channel, long from, long bytes, boolean synchronous)
            throws IOException {
        FileChannel.MapMode mode = synchronous ? SYNCHRONOUS : FileChannel.MapMode.READ_WRITE;
        if (mode == null) {
            return null;
        }
        Arena arena = NativeMemory.shared("the mapped file " + name);
        MappedRange made = null;
        try {
            made = new MappedRange(name, arena, channel.map(mode, from, bytes, arena));
            return made;
        } catch (ClosedChannelException interrupted) {
            throw interrupted;
        } catch (IOException | UnsupportedOperationException refused) {
            // both mean no: the file system has no such mapping, or the processor no write-back
            return null;
        } finally {
            if (made == null) {
                arena.close();
            }
        }
    }

    /** The bytes; a use after {@link #close()} is an {@link IllegalStateException}. */
    public MemorySegment memory() {
        return memory;
    }

    /**
     * Makes stores durable: lines of a synchronous mapping, pages of another.
     *
     * @throws io.turbidite.core.StorageIoException if the system can't
     */
    public void force(long offset, long byteCount) {
        try {
            memory.asSlice(offset, byteCount).force();
        } catch (UncheckedIOException e) {
            throw IoErrors.translate("force", name, Objects.requireNonNull(e.getCause()));
        }
    }

    /** Waits until no thread is in the middle of a use. */
    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    /** Found by its name: a runtime image may lack the module. */
    private static FileChannel.@Nullable MapMode synchronousMode() {
        try {
            Object mode = Class.forName("jdk.nio.mapmode.ExtendedMapMode")
                    .getField("READ_WRITE_SYNC")
                    .get(null);
            return mode instanceof FileChannel.MapMode found ? found : null;
        } catch (ReflectiveOperationException e) {
            return null; // nothing is mapped that way then
        }
    }
}
