package io.turbidite.core.file;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.task.OwnThreads;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A directory of the operating system's file system.
 *
 * <p><em>Thread-safe.</em> Holds no file open itself. Symbolic links inside the directory are not
 * followed when a file is opened; the directory itself may be reached through one.
 */
public final class RealDisk implements Disk {
    /** Names that are locked in this process, also where the file that had the name is gone. */
    private static final Set<Path> LOCKED_NAMES = ConcurrentHashMap.newKeySet();

    private final Path root;
    private final Set<RealFile> openFiles = ConcurrentHashMap.newKeySet();

    private RealDisk(Path root) {
        this.root = root;
    }

    /**
     * Opens the directory, made durably if there is none.
     *
     * @throws InvalidRequestException if it, or one that it is to lie in, is a file
     * @throws StorageIoException if it can't be made
     */
    public static RealDisk open(Path root) {
        try {
            Path absolute = root.toAbsolutePath().normalize();
            for (Path at = absolute; at != null; at = at.getParent()) {
                if (Files.exists(at)) {
                    requireDirectory(at, root);
                    break;
                }
            }
            if (!Files.isDirectory(absolute)) {
                Path oldest = absolute;
                for (Path parent = oldest.getParent();
                        parent != null && !Files.exists(parent);
                        parent = parent.getParent()) {
                    oldest = parent;
                }
                makeDirectories(absolute, root);
                for (Path made = absolute; made != null && made.startsWith(oldest); ) {
                    made = made.getParent();
                    if (made != null) {
                        syncPath(made);
                    }
                }
            }
            return new RealDisk(absolute.toRealPath());
        } catch (IOException e) {
            throw IoErrors.translate("opening", root.toString(), e);
        }
    }

    /** The system's reason speaks of the directory that is to be made: it is none of a cause. */
    private static void makeDirectories(Path absolute, Path wanted) {
        try {
            Path parent = absolute.getParent();
            if (parent != null) {
                Files.createDirectories(parent);
            }
            Files.createDirectories(absolute, OwnerOnly.directory());
        } catch (NoSuchFileException e) {
            throw unmade(wanted, "its file system takes no new directory there", e);
        } catch (FileAlreadyExistsException e) {
            throw unmade(wanted, "%s is a link to nothing".formatted(e.getFile()), e);
        } catch (IOException e) {
            throw IoErrors.translate("making", wanted.toString(), e);
        }
    }

    private static StorageIoException unmade(Path wanted, String reason, IOException cause) {
        return new StorageIoException(
                StorageIoException.Kind.IO, "making", wanted.toString(), reason, cause);
    }

    private static void requireDirectory(Path there, Path wanted) {
        if (!Files.isDirectory(there)) {
            throw new InvalidRequestException(
                    there.equals(wanted.toAbsolutePath().normalize())
                            ? "%s is a file, where a directory is meant".formatted(wanted)
                            : "%s can't be a directory, since %s is a file"
                                    .formatted(wanted, there));
        }
    }

    /** Whether there is a directory; asks without making one. */
    public static boolean isDirectory(Path path) {
        return Files.isDirectory(path);
    }

    /**
     * Requires that there is a directory; makes none.
     *
     * @throws InvalidRequestException that tells whether nothing is there or something else
     */
    public static void checkDirectory(Path path) {
        if (!Files.isDirectory(path)) {
            throw new InvalidRequestException(
                    Files.exists(path)
                            ? "%s is not a directory".formatted(path)
                            : "%s does not exist".formatted(path));
        }
    }

    /**
     * What tells this directory from another that has its name at another time, such as the one
     * that is seen while a file system is not mounted there: the number of its device, and the one
     * that its file system has for it. The roots of two file systems often have the same one. Where
     * both numbers are the same it is that directory; the device's may be another one after the
     * machine was started anew.
     *
     * @return empty if the system has none
     */
    public String inode() {
        if (!root.getFileSystem().supportedFileAttributeViews().contains("unix")) {
            return "";
        }
        try {
            return "%s:%s"
                    .formatted(
                            Files.getAttribute(root, "unix:dev"),
                            Files.getAttribute(root, "unix:ino"));
        } catch (IOException e) {
            throw IoErrors.translate("look at", root.toString(), e).asOfReading();
        }
    }

    /**
     * Whether a path lies in this directory, or is it; asks the file system where the path's
     * existing part really is, so that symbolic links don't hide it.
     */
    public boolean encloses(Path path) {
        try {
            Path absolute = path.toAbsolutePath().normalize();
            Path existing = absolute;
            for (Path up = existing; up != null; up = up.getParent()) {
                existing = up;
                if (Files.exists(up)) {
                    break;
                }
            }
            Path real = existing.toRealPath().resolve(existing.relativize(absolute));
            return real.startsWith(root);
        } catch (IOException e) {
            throw IoErrors.translate("resolving", path.toString(), e);
        }
    }

    /**
     * Has a directory filled that is made if there is none. If that fails and leaves a directory
     * empty that was not there before, it is deleted again; so a refusal changes nothing.
     *
     * @throws InvalidRequestException if something else than a directory is at the path
     */
    public static <T> T filled(Path path, Function<Disk, T> work) {
        boolean isNew = !Files.exists(path, LinkOption.NOFOLLOW_LINKS);
        if (!isNew && !Files.isDirectory(path)) {
            throw new InvalidRequestException("%s is there and is no directory".formatted(path));
        }
        boolean done = false;
        try {
            T result = work.apply(open(path));
            done = true;
            return result;
        } finally {
            if (!done && isNew) {
                deleteIfEmpty(path);
            }
        }
    }

    private static void deleteIfEmpty(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException notEmpty) {
            // what is in it says what it is
        }
    }

    /** What the system said of a file in this directory, or of itself if there is no name. */
    StorageIoException failure(String operation, String name, IOException error) {
        return name.isEmpty()
                ? IoErrors.translate(operation, root.toString(), error)
                : IoErrors.translate(operation, name, root.toString(), error);
    }

    /** As {@link #failure}, of what takes space. */
    StorageIoException spaceFailure(String operation, String name, IOException error) {
        return spaceFailure(operation, name, error, 1);
    }

    StorageIoException spaceFailure(
            String operation, String name, IOException error, long wantedBytes) {
        boolean isItself = name.isEmpty();
        return IoErrors.translate(
                operation,
                isItself ? String.valueOf(root.getFileName()) : name,
                String.valueOf(isItself ? root.getParent() : root),
                error,
                wantedBytes,
                usableBytesOrMax());
    }

    @Override
    public DiskFile create(String name) {
        return openBuffered("create", name, true, true);
    }

    @Override
    public DiskFile open(String name) {
        return openBuffered("open", name, false, true);
    }

    @Override
    public DiskFile openReadOnly(String name) {
        return openBuffered("open", name, false, false);
    }

    @Override
    public @Nullable DiskFile createDirect(String name) {
        return openFile("create", name, true, true, true);
    }

    @Override
    public @Nullable DiskFile openDirect(String name) {
        return openFile("open", name, false, false, true);
    }

    @Override
    public boolean exists(String name) {
        return Files.exists(resolve(name), LinkOption.NOFOLLOW_LINKS);
    }

    @Override
    public FileStatus status(String name) {
        try {
            BasicFileAttributes found = Files.readAttributes(
                    resolveDirectory(name), BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            FileStatus.Kind kind = found.isRegularFile()
                    ? FileStatus.Kind.FILE
                    : found.isDirectory() ? FileStatus.Kind.DIRECTORY : FileStatus.Kind.OTHER;
            return new FileStatus(
                    kind,
                    kind == FileStatus.Kind.FILE ? found.size() : 0,
                    found.lastModifiedTime().to(TimeUnit.MICROSECONDS),
                    kind == FileStatus.Kind.FILE ? Objects.toString(found.fileKey(), "") : "");
        } catch (IOException e) {
            throw failure("look at", name, e).asOfReading();
        }
    }

    @Override
    public int nameCount(String name) {
        Path path = resolve(name);
        if (!path.getFileSystem().supportedFileAttributeViews().contains("unix")) {
            return 1;
        }
        try {
            Object count = Files.getAttribute(path, "unix:nlink", LinkOption.NOFOLLOW_LINKS);
            return ((Number) count).intValue();
        } catch (IOException e) {
            throw failure("look at", name, e).asOfReading();
        }
    }

    @Override
    public List<String> list(String directory) {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> paths = Files.newDirectoryStream(resolveDirectory(directory))) {
            for (Path path : paths) {
                names.add(String.valueOf(path.getFileName()));
            }
        } catch (DirectoryIteratorException e) {
            IOException cause = Objects.requireNonNull(e.getCause());
            throw failure("list", directory, cause).asOfReading();
        } catch (IOException e) {
            throw failure("list", directory, e).asOfReading();
        }
        names.sort(null);
        return names;
    }

    @Override
    public void createDirectories(String directory) {
        try {
            Files.createDirectories(resolveDirectory(directory), OwnerOnly.directory());
        } catch (IOException e) {
            throw spaceFailure("create", directory, e);
        }
    }

    @Override
    public void delete(String name) {
        try {
            Files.delete(resolve(name));
        } catch (IOException e) {
            throw failure("delete", name, e);
        }
    }

    @Override
    public void rename(String from, String to) {
        Path fromPath = resolve(from);
        Path toPath = resolve(to);
        try {
            Files.move(
                    fromPath,
                    toPath,
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw spaceFailure("rename to " + to, from, e);
        }
        for (RealFile file : openFiles) {
            if (file.path().equals(fromPath)) {
                file.movedTo(toPath);
            }
        }
    }

    @Override
    public boolean link(String name, Disk target, String targetName) {
        if (!(target instanceof RealDisk other)) {
            return false;
        }
        Path from = resolve(name);
        Path to = other.resolve(targetName);
        try {
            Files.createLink(to, from);
            return true;
        } catch (UnsupportedOperationException e) {
            return false;
        } catch (IOException e) {
            StorageIoException failure = spaceFailure("link to " + to, name, e);
            // the system's words are translated, so what can't be linked is told by elimination: a
            // file of another file system, too many links, links forbidden by a rule of the system
            boolean tryCopying = switch (failure.kind()) {
                case IO, ACCESS_DENIED -> Files.isRegularFile(from);
                case NO_SPACE, TOO_MANY_FILES, NOT_FOUND, ALREADY_EXISTS, INTERRUPTED -> false;
            };
            if (tryCopying) {
                return false;
            }
            throw failure;
        }
    }

    @Override
    public void syncDirectory(String directory) {
        boolean interrupted = Thread.interrupted();
        try {
            syncPath(resolveDirectory(directory));
        } catch (IOException e) {
            throw spaceFailure("sync", directory, e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public boolean mapsFiles() {
        try {
            return RealMapping.isSafe(root);
        } catch (IOException e) {
            throw IoErrors.translate("asking the file system", root.toString(), e);
        }
    }

    @Override
    public long usableBytes() {
        try {
            return Files.getFileStore(root).getUsableSpace();
        } catch (IOException e) {
            throw IoErrors.translate("asking the free space", root.toString(), e);
        }
    }

    @Override
    public LockAnswer tryLock(String name) {
        Path path = resolve(name);
        if (!LOCKED_NAMES.add(path)) {
            return LockAnswer.heldHere();
        }
        LockAnswer answer = LockAnswer.heldElsewhere();
        try {
            answer = lockPath(name, path);
            return answer;
        } catch (IOException e) {
            throw spaceFailure("lock", name, e);
        } finally {
            if (answer instanceof LockAnswer.Refused) {
                LOCKED_NAMES.remove(path);
            }
        }
    }

    @Override
    public String description() {
        return root.toString();
    }

    @Override
    public String toString() {
        return "RealDisk[" + root + "]";
    }

    /** Files that were opened here and not closed. */
    public int openHandleCount() {
        return openFiles.size();
    }

    void forget(RealFile file) {
        openFiles.remove(file);
    }

    /** For finding out why something failed: no second failure, please. */
    long usableBytesOrMax() {
        try {
            return usableBytes();
        } catch (StorageIoException e) {
            return Long.MAX_VALUE;
        }
    }

    private RealFile openBuffered(String operation, String name, boolean create, boolean writable) {
        return Objects.requireNonNull(openFile(operation, name, create, writable, false));
    }

    private @Nullable RealFile openFile(
            String operation, String name, boolean create, boolean writable, boolean direct) {
        boolean interrupted = Thread.interrupted();
        try {
            Path path = resolve(name);
            if (!create && HeldLocks.contains(path)) {
                throw new InvalidRequestException(
                        "%s is locked by this process; closing a second opening would give the lock up"
                                .formatted(path));
            }
            RealFile file = direct
                    ? RealFile.openDirect(this, name, path, create)
                    : RealFile.open(this, name, path, create, writable);
            if (file != null) {
                openFiles.add(file);
            }
            return file;
        } catch (IOException e) {
            StorageIoException failure = spaceFailure(operation, name, e);
            throw create ? failure : failure.asOfReading();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Path resolve(String name) {
        return root.resolve(DiskName.check(name));
    }

    private Path resolveDirectory(String name) {
        return root.resolve(DiskName.checkDirectory(name));
    }

    private static void syncPath(Path directory) throws IOException {
        OwnThreads.run(() -> {
            try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
                channel.force(true);
            }
        });
    }

    private static LockAnswer lockPath(String name, Path path) throws IOException {
        if (HeldLocks.contains(path)) {
            return LockAnswer.heldHere(); // under another name
        }
        FileChannel channel = FileChannel.open(
                path,
                Set.of(
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE,
                        LinkOption.NOFOLLOW_LINKS),
                OwnerOnly.file());
        RealLock lock = null;
        try {
            FileLock held = channel.tryLock();
            Object key = held == null ? null : HeldLocks.keyOf(path);
            if (key == null) {
                // or gone meanwhile: whoever comes next would lock another file
                return LockAnswer.heldElsewhere();
            }
            if (!HeldLocks.add(key)) {
                return LockAnswer.heldHere();
            }
            lock = new RealLock(name, path, key, channel);
            return new LockAnswer.Granted(lock);
        } catch (OverlappingFileLockException e) {
            return LockAnswer.heldHere(); // by another class loader's copy of this class
        } finally {
            if (lock == null) {
                channel.close();
            }
        }
    }

    /** Closing the channel gives up the lock. */
    private record RealLock(String name, Path path, Object key, FileChannel channel)
            implements Lock {
        @Override
        public boolean isInPlace() {
            try {
                return key.equals(HeldLocks.keyOf(path));
            } catch (IOException e) {
                throw IoErrors.translate("looking at", path.toString(), e).asOfReading();
            }
        }

        @Override
        public void close() {
            if (!channel.isOpen()) {
                return;
            }
            try {
                channel.close();
            } catch (IOException e) {
                throw IoErrors.translate("unlock", path.toString(), e);
            } finally {
                HeldLocks.remove(key);
                LOCKED_NAMES.remove(path);
            }
        }
    }
}
