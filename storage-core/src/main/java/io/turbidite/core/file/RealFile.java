package io.turbidite.core.file;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.task.OwnThreads;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;

/**
 * A file of the operating system.
 *
 * <p><em>Thread-safe</em> for disjoint ranges: reads and writes are positional.
 *
 * <p>Interrupts. A {@link FileChannel} is closed when a thread that uses it is interrupted, for
 * every thread. An embedder may interrupt whom it likes, so:
 *
 * <ol>
 *   <li>an operation puts the interrupt status aside and sets it again when it is done;
 *   <li>an interrupt that comes while a read or write is under way makes it open the file again and
 *       start over, which is harmless as both are positional; the file's identity is checked, so
 *       that another file under the same name is not taken for it;
 *   <li>syncs have a channel of their own, opened with the file, which no reader's interrupt can
 *       close, and run on threads that nobody interrupts ({@link OwnThreads}): a sync that was cut
 *       short has an unknown outcome, so it would fail the store (D6).
 * </ol>
 */
final class RealFile implements DiskFile {
    /** The JDK copies heap segments through a per-thread buffer of the transfer's size. */
    private static final int HEAP_TRANSFER_BYTES_MAX = 1 << 20;

    private static final int REOPEN_COUNT_MAX = 100;

    /**
     * File systems over a network name a megabyte: to read a page as a block of that costs more.
     */
    private static final int DIRECT_BLOCK_BYTES_MAX = DirectDisk.BLOCK_BYTES_MAX;

    private static final @Nullable OpenOption DIRECT = directOption();

    private final RealDisk disk;
    private final String name;
    private final boolean writable;

    /** 1 unless the file was opened for direct I/O. */
    private final int blockBytes;

    private final @Nullable FileChannel syncChannel;
    private final @Nullable Object identity;
    private volatile Path path;
    private volatile FileChannel channel;

    /** Of {@link #syncChannel}; guarded by the monitor. */
    private @Nullable FileLock lock;

    private volatile boolean closed;

    private RealFile(
            RealDisk disk,
            String name,
            Path path,
            FileChannel channel,
            @Nullable FileChannel syncChannel,
            int blockBytes)
            throws IOException {
        this.disk = disk;
        this.name = name;
        this.path = path;
        this.blockBytes = blockBytes;
        this.channel = channel;
        this.writable = syncChannel != null;
        this.syncChannel = syncChannel;
        this.identity = identityOf(path);
    }

    static RealFile open(RealDisk disk, String name, Path path, boolean create, boolean writable)
            throws IOException {
        FileChannel channel = FileChannel.open(path, options(create, writable), OwnerOnly.file());
        FileChannel syncChannel = null;
        try {
            syncChannel = writable ? FileChannel.open(path, options(false, true)) : null;
            return new RealFile(disk, name, path, channel, syncChannel, 1);
        } catch (IOException | RuntimeException e) {
            channel.close();
            if (syncChannel != null) {
                syncChannel.close();
            }
            throw e;
        }
    }

    /**
     * Opens a file for direct I/O: for reading, or made anew for writing.
     *
     * <p>The system names no reason that could be relied on when it refuses direct I/O, and what it
     * creates before it refuses stays. So the file is opened the ordinary way first; if that works
     * and the direct way does not, it was refused.
     *
     * @return null if it was; a file that was made is gone again
     */
    static @Nullable RealFile openDirect(RealDisk disk, String name, Path path, boolean create)
            throws IOException {
        FileChannel buffered = FileChannel.open(path, options(create, create), OwnerOnly.file());
        FileChannel channel = null;
        boolean refused = false;
        RealFile file = null;
        try {
            long blockBytes = Files.getFileStore(path).getBlockSize();
            boolean usable = blockBytes <= DIRECT_BLOCK_BYTES_MAX && Long.bitCount(blockBytes) == 1;
            channel = usable && DIRECT != null ? openDirectly(path, create) : null;
            refused = channel == null;
            if (channel != null) {
                FileChannel syncChannel = create ? buffered : null;
                file = new RealFile(disk, name, path, channel, syncChannel, (int) blockBytes);
            }
            return file;
        } finally {
            if (file == null && channel != null) {
                channel.close();
            }
            if (file == null || !create) {
                buffered.close();
            }
            if (refused && create) {
                Files.delete(path);
            }
        }
    }

    private static @Nullable FileChannel openDirectly(Path path, boolean writable)
            throws IOException {
        try {
            return FileChannel.open(path, direct(writable));
        } catch (UnsupportedOperationException e) {
            return null;
        } catch (IOException e) {
            if (IoErrors.kindOf(e) == StorageIoException.Kind.IO) {
                return null;
            }
            throw e;
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int blockBytes() {
        return blockBytes;
    }

    @Override
    public long size() {
        return retried("size", 0, (from, done) -> from.size());
    }

    @Override
    public int read(long fileOffset, MemorySegment target, long targetOffset, int byteCount) {
        ByteBuffer buffer = view(target, targetOffset, byteCount);
        return (int) retried("read", 0, (from, done) -> {
            while (limit(buffer, (int) done, byteCount)) {
                int read = from.read(buffer, fileOffset + done);
                if (read < 0) {
                    break;
                }
                done += read;
                if (done % blockBytes != 0) {
                    break; // the end: a direct read could not go on from here
                }
            }
            return done;
        });
    }

    @Override
    public void write(long fileOffset, MemorySegment source, long sourceOffset, int byteCount) {
        requireWritable();
        ByteBuffer buffer = view(source, sourceOffset, byteCount);
        var _ = retried("write", byteCount, (to, done) -> {
            while (limit(buffer, (int) done, byteCount)) {
                done += to.write(buffer, fileOffset + done);
            }
            return done;
        });
    }

    @Override
    public @Nullable MappedFile map(long byteCount) {
        requireWritable();
        if (blockBytes > 1) {
            return null;
        }
        @Nullable MappedFile[] made = new @Nullable MappedFile[1];
        var _ = retried("map", 0, (from, done) -> {
            made[0] = RealMapping.isSafe(path) ? RealMapping.of(name, from, byteCount) : null;
            return done;
        });
        return made[0];
    }

    @Override
    public @Nullable MappedRange mapRange(long fileOffset, long byteCount, boolean synchronous) {
        requireWritable();
        if (blockBytes > 1) {
            return null;
        }
        @Nullable MappedRange[] made = new @Nullable MappedRange[1];
        var _ = retried("map", 0, (from, done) -> {
            made[0] = synchronous || RealMapping.isSafe(path)
                    ? MappedRange.of(name, from, fileOffset, byteCount, synchronous)
                    : null;
            return done;
        });
        return made[0];
    }

    @Override
    public void truncate(long size) {
        requireWritable();
        if (size < 0) {
            throw new InvalidRequestException("size " + size);
        }
        var _ = retried("truncate", 1, (to, done) -> {
            if (to.size() < size) {
                return to.write(ByteBuffer.allocate(1), size - 1);
            }
            return to.truncate(size).size();
        });
    }

    @Override
    public void sync() {
        requireWritable();
        FileChannel target = Objects.requireNonNull(syncChannel);
        boolean interrupted = Thread.interrupted();
        try {
            OwnThreads.run(() -> target.force(false));
        } catch (ClosedChannelException e) {
            if (closed) {
                throw new ClosedException(name);
            }
            throw new StorageIoException(
                    StorageIoException.Kind.IO,
                    "sync",
                    name,
                    disk.description(),
                    "interrupted, now or before; what is durable is unknown",
                    e);
        } catch (IOException e) {
            throw disk.spaceFailure("sync", name, e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** On the channel that no reader's interrupt can close. */
    @Override
    public synchronized boolean tryLock() {
        requireWritable();
        Object key = identity == null ? path : identity;
        if (lock != null || !HeldLocks.add(key)) {
            throw new InvalidRequestException(path + " is locked by this process already");
        }
        try {
            lock = Objects.requireNonNull(syncChannel).tryLock();
            return lock != null;
        } catch (OverlappingFileLockException e) {
            // by another class loader's copy of this class
            throw new InvalidRequestException(path + " is locked by this process already", e);
        } catch (IOException e) {
            throw disk.failure("lock", name, e);
        } finally {
            if (lock == null) {
                HeldLocks.remove(key);
            }
        }
    }

    /**
     * The system has given the lock up with the channel that an interrupt closed. Whoever came in
     * meanwhile has it now.
     */
    private void lockAgain() throws IOException {
        FileLock before = lock;
        if (before != null) {
            before.release();
            lock = Objects.requireNonNull(syncChannel).tryLock();
            if (lock == null) {
                lock = before; // for whoever closes this file
                throw new IOException(
                        "an interrupt gave up this process's lock, and another process has it now");
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        disk.forget(this);
        try {
            closeChannels();
        } finally {
            forgetLock();
        }
    }

    private synchronized void forgetLock() {
        if (lock != null) {
            lock = null;
            HeldLocks.remove(identity == null ? path : identity);
        }
    }

    private void closeChannels() {
        try {
            if (syncChannel != null) {
                syncChannel.close();
            }
        } catch (IOException e) {
            throw disk.failure("close", name, e);
        } finally {
            closeChannel();
        }
    }

    Path path() {
        return path;
    }

    /** The disk has renamed the file: a reopening has to look there. */
    void movedTo(Path newPath) {
        path = newPath;
    }

    /** Does what an interrupt in the middle of a transfer does; for tests. */
    void breakChannel() throws IOException {
        channel.close();
    }

    private synchronized void closeChannel() {
        try {
            channel.close();
        } catch (IOException e) {
            throw disk.failure("close", name, e);
        }
    }

    private void requireWritable() {
        if (!writable) {
            throw new InvalidRequestException(name + " was opened for reading only");
        }
    }

    /**
     * Runs {@code transfer}, again from the start on a new channel if an interrupt closed this one.
     *
     * @param wantedBytes of space; 0 if it only reads
     */
    private long retried(String operation, long wantedBytes, Transfer transfer) {
        boolean interrupted = Thread.interrupted();
        try {
            for (int i = 0; ; i++) {
                FileChannel current = channel;
                try {
                    return transfer.run(current, 0);
                } catch (ClosedChannelException e) {
                    interrupted |= Thread.interrupted();
                    if (closed) {
                        throw new ClosedException(name);
                    }
                    if (i == REOPEN_COUNT_MAX) {
                        throw e;
                    }
                    reopen(current);
                }
            }
        } catch (IOException e) {
            throw wantedBytes == 0
                    ? disk.failure(operation, name, e).asOfReading()
                    : disk.spaceFailure(operation, name, e, wantedBytes);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private synchronized void reopen(FileChannel broken) throws IOException {
        if (!channel.equals(broken)) {
            return;
        }
        if (closed) {
            throw new ClosedException(name);
        }
        FileChannel opened = FileChannel.open(
                path, blockBytes > 1 ? direct(writable) : options(false, writable));
        if (!Objects.equals(identity, identityOf(path))) {
            opened.close();
            throw new NoSuchFileException(path.toString());
        }
        channel = opened;
        lockAgain();
    }

    /** A page is read into a segment of its own: no slice of that is needed. */
    private static ByteBuffer view(MemorySegment segment, long offset, int byteCount) {
        boolean isWhole = offset == 0 && byteCount == segment.byteSize();
        return (isWhole ? segment : segment.asSlice(offset, byteCount)).asByteBuffer();
    }

    /** Sets the buffer to what is left of a transfer; false if nothing is. */
    private static boolean limit(ByteBuffer buffer, int done, int byteCount) {
        int left = byteCount - done;
        int step = buffer.isDirect() ? left : Math.min(left, HEAP_TRANSFER_BYTES_MAX);
        buffer.limit(done + step).position(done);
        return left > 0;
    }

    private static @Nullable Object identityOf(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                .fileKey();
    }

    private static Set<OpenOption> options(boolean create, boolean writable) {
        if (create) {
            return Set.of(
                    StandardOpenOption.CREATE_NEW,
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE);
        }
        return writable
                ? Set.of(
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE,
                        LinkOption.NOFOLLOW_LINKS)
                : Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
    }

    /**
     * The JDK's option, found by its name: it is in module jdk.unsupported, which a runtime image
     * may lack; null then.
     */
    private static @Nullable OpenOption directOption() {
        try {
            Object[] options =
                    Class.forName("com.sun.nio.file.ExtendedOpenOption").getEnumConstants();
            for (Object option : options) {
                if (option instanceof OpenOption found && "DIRECT".equals(found.toString())) {
                    return found;
                }
            }
        } catch (ClassNotFoundException e) {
            // nothing is opened for direct I/O then
        }
        return null;
    }

    /** The options that open an existing file for direct I/O. */
    private static Set<OpenOption> direct(boolean writable) {
        Set<OpenOption> options = new HashSet<>(options(false, writable));
        options.add(Objects.requireNonNull(DIRECT));
        return options;
    }

    /** Something done to a channel from the start; returns how far it came. */
    @FunctionalInterface
    private interface Transfer {
        long run(FileChannel channel, long done) throws IOException;
    }
}
