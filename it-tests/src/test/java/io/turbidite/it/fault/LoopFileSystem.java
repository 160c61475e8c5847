package io.turbidite.it.fault;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;

/**
 * A file system of its own in a file, on a loop device, that can lose its power: the shutdown ioctl
 * of ext4 and XFS stops all I/O at once without flushing their journal, so what was not synced is
 * gone at the next mount. <em>Confined to one thread.</em>
 *
 * <p>Closing it unmounts; so does the end of the JVM. The loop device goes with the mount.
 */
final class LoopFileSystem implements AutoCloseable {
    enum Kind {
        /** 128 MiB, or what is asked for: two segments of the log, and the trash of many cuts. */
        EXT4(128 << 20),
        /** Its mkfs makes none below 300 MiB; the file is sparse. */
        XFS(320 << 20);

        private final long bytes;

        Kind(long bytes) {
            this.bytes = bytes;
        }

        String type() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** FS_IOC_SHUTDOWN, the same number as XFS_IOC_GOINGDOWN. */
    private static final long SHUTDOWN = 0x8004587DL;

    private static final int NO_LOG_FLUSH = 2;
    private static final int READ_ONLY = 0;
    private static final int MNT_DETACH = 2;

    /** A kernel under load lets go of closed files late: 50 tries, 1.5 s, were too few once. */
    private static final Duration UNMOUNT_WAIT_MAX = Duration.ofSeconds(30);

    private final Path image;
    private final Path directory;
    private final Thread atExit = new Thread(this::unmountQuietly);
    private boolean mounted;

    private LoopFileSystem(Path image, Path directory) {
        this.image = image;
        this.directory = directory;
    }

    /** Why this machine can't have one; null if it can. */
    static @Nullable String refusal(Kind kind) throws IOException, InterruptedException {
        if (!Files.exists(Path.of("/dev/loop-control"))) {
            return "no loop devices";
        }
        if (!Shell.isRoot()) {
            return "not root";
        }
        if (!Shell.has("mkfs." + kind.type())) {
            return "no mkfs." + kind.type();
        }
        Path directory = Files.createTempDirectory("loop");
        try (LoopFileSystem tried = create(kind, directory, kind.bytes)) {
            return Files.isDirectory(tried.directory()) ? null : "not mounted";
        } catch (IOException e) {
            return e.getMessage();
        } finally {
            Files.deleteIfExists(directory.resolve("image"));
            Files.deleteIfExists(directory.resolve("mounted"));
            Files.delete(directory);
        }
    }

    static LoopFileSystem create(Kind kind, Path directory)
            throws IOException, InterruptedException {
        return create(kind, directory, kind.bytes);
    }

    /** A new one, mounted; its file and its mount point are in {@code directory}. */
    static LoopFileSystem create(Kind kind, Path directory, long bytes)
            throws IOException, InterruptedException {
        Path image = directory.resolve("image");
        Path mountPoint = Files.createDirectory(directory.resolve("mounted"));
        Shell.must("truncate", "-s", Long.toString(bytes), image.toString());
        String force = kind == Kind.EXT4 ? "-F" : "-f";
        Shell.must("mkfs." + kind.type(), "-q", force, image.toString());
        LoopFileSystem made = new LoopFileSystem(image, mountPoint);
        Runtime.getRuntime().addShutdownHook(made.atExit);
        made.mount();
        return made;
    }

    /** Where it is mounted. */
    Path directory() {
        return directory;
    }

    void mount() throws IOException, InterruptedException {
        Shell.must("mount", "-o", "loop", image.toString(), directory.toString());
        mounted = true;
    }

    /** From here on every call fails, and what was not synced is lost. */
    @SuppressWarnings("restricted") // native access is allowed to tests
    void cutPower() throws IOException {
        Linker linker = Linker.nativeLinker();
        MethodHandle open = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("open"),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT),
                Linker.Option.firstVariadicArg(2));
        MethodHandle ioctl = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("ioctl"),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.ADDRESS),
                Linker.Option.firstVariadicArg(2));
        MethodHandle close = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("close"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(directory.toString());
            MemorySegment flags = arena.allocateFrom(ValueLayout.JAVA_INT, NO_LOG_FLUSH);
            int descriptor = (int) open.invokeExact(name, READ_ONLY);
            int result = (int) ioctl.invokeExact(descriptor, SHUTDOWN, flags);
            int closed = (int) close.invokeExact(descriptor);
            if (descriptor < 0 || result != 0 || closed != 0) {
                throw new IOException("the shutdown of %s gave %d".formatted(directory, result));
            }
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Ends the mount; whoever has a file open there has a moment to close it. */
    void unmount() throws IOException, InterruptedException {
        if (!mounted) {
            return;
        }
        Shell.Result result = Shell.run("umount", directory.toString());
        long start = System.nanoTime();
        while (!result.isDone() && System.nanoTime() - start < UNMOUNT_WAIT_MAX.toNanos()) {
            Thread.sleep(20);
            result = Shell.run("umount", directory.toString());
        }
        if (!result.isDone()) {
            throw new IOException("%s Held by: %s".formatted(result.output(), holders()));
        }
        mounted = false;
    }

    /** Whatever of any process is open, mapped or stood in there, as Linux tells it. */
    private String holders() throws IOException, InterruptedException {
        String script = """
                for p in /proc/[0-9]*; do
                  { ls -l $p/fd $p/cwd $p/root; cat $p/maps; } 2>/dev/null \
                    | grep -F "$0" | sed "s|^|$p $(cat $p/comm): |"
                done
                true
                """;
        return Shell.run("sh", "-c", script, directory.toString()).output();
    }

    /** By the system's call: a JVM that is told to end can't start commands any more. */
    @SuppressWarnings("restricted") // native access is allowed to tests
    private void unmountQuietly() {
        if (!mounted) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            Linker linker = Linker.nativeLinker();
            MethodHandle unmount = linker.downcallHandle(
                    linker.defaultLookup().findOrThrow("umount2"),
                    FunctionDescriptor.of(
                            ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
            int result =
                    (int) unmount.invokeExact(arena.allocateFrom(directory.toString()), MNT_DETACH);
            if (result != 0) {
                System.err.printf("%s stays mounted%n", directory);
            }
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Unmounts, lazily if a file is still open there, which is an error nevertheless. */
    @Override
    public void close() throws IOException {
        try {
            unmount();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        } finally {
            unmountQuietly();
            mounted = false;
            Runtime.getRuntime().removeShutdownHook(atExit);
        }
    }
}
