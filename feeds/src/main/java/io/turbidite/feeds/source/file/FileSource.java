package io.turbidite.feeds.source.file;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.FileStatus;
import io.turbidite.core.file.RealDisk;
import io.turbidite.feeds.parse.LineFramer;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.parse.RecordParser;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourceHost;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.zip.CRC32C;

/**
 * One file, or the files of one directory in the order of their names. Names that begin with a dot
 * and directories inside the directory are left out. <em>Immutable</em>: what files there are is
 * looked up once, at opening.
 */
public final class FileSource implements FeedSource {
    /** Enough to tell two files of one form apart, little enough to read at each start. */
    static final int HEAD_BYTES = 4096;

    /** So many bytes are read within a second. */
    private static final long DAMAGE_SOUGHT_BYTES = 32 << 20;

    private final Disk disk;
    private final List<SourceFile> files;

    /** A file alone, and not a directory that has one. */
    private final boolean isOneFile;

    private FileSource(Disk disk, List<SourceFile> files, boolean isOneFile) {
        this.disk = disk;
        this.files = List.copyOf(files);
        this.isOneFile = isOneFile;
    }

    /**
     * Looks up what files there are, and how they begin.
     *
     * @param path a file or a directory on {@code disk}; {@code ""} is the disk's root
     * @throws InvalidRequestException if there is neither, or no file in the directory, or one that
     *     is compressed by another program than gzip
     */
    public static FileSource open(Disk disk, String path) {
        if (!path.isEmpty() && !disk.exists(path)) {
            throw new InvalidRequestException(
                    "there is no file or directory " + path + " in " + disk.description());
        }
        if (!isDirectory(disk, path)) {
            checkFile(disk, path);
            String name = path.substring(path.lastIndexOf('/') + 1);
            return new FileSource(disk, List.of(sourceFile(disk, name, path)), true);
        }
        List<SourceFile> files = new ArrayList<>();
        for (String name : disk.list(path)) {
            String inDisk = path.isEmpty() ? name : path + "/" + name;
            if (!name.startsWith(".") && !isDirectory(disk, inDisk)) {
                checkFile(disk, inDisk);
                files.add(sourceFile(disk, name, inDisk));
            }
        }
        if (files.isEmpty()) {
            throw new InvalidRequestException(
                    "the directory %s in %s holds no file".formatted(path, disk.description()));
        }
        return new FileSource(disk, files, false);
    }

    /**
     * As {@link #open(Disk, String)}, for a path of the file system.
     *
     * @param path may go through symbolic links; those inside a directory of files are not followed
     */
    public static FileSource open(Path path) {
        Path real = real(path);
        Path parent = real.getParent();
        return parent == null
                ? open(RealDisk.open(real), "")
                : open(RealDisk.open(parent), String.valueOf(real.getFileName()));
    }

    /**
     * The content of a file that should be small.
     *
     * @throws InvalidRequestException if there is no such file, or it is larger than
     *     {@code bytesMax}
     */
    public static byte[] readSmall(Path path, int bytesMax) {
        Path real = real(path);
        Path parent = real.getParent();
        if (parent == null || RealDisk.isDirectory(real)) {
            throw new InvalidRequestException(path + " is a directory");
        }
        checkFile(RealDisk.open(parent), String.valueOf(real.getFileName()));
        try (DiskFile file =
                RealDisk.open(parent).openReadOnly(String.valueOf(real.getFileName()))) {
            if (file.size() > bytesMax) {
                throw new InvalidRequestException(
                        "%s has more than %d bytes".formatted(path, bytesMax));
            }
            byte[] bytes = new byte[(int) file.size()];
            int read = file.read(0, MemorySegment.ofArray(bytes), 0, bytes.length);
            return Arrays.copyOf(bytes, read);
        }
    }

    /** Opening something else may wait for ever: a pipe for its writer, a device for its user. */
    private static void checkFile(Disk disk, String path) {
        if (disk.status(path).kind() != FileStatus.Kind.FILE) {
            throw new InvalidRequestException(
                    "%s in %s is no ordinary file but a pipe, a device, a socket or a link; write its content to a file (./turbidite log ingest takes - for standard input)"
                            .formatted(path, disk.description()));
        }
    }

    private static Path real(Path path) {
        try {
            return path.toRealPath();
        } catch (IOException e) {
            throw new InvalidRequestException("there is no file or directory " + path, e);
        }
    }

    /** Sorted by name. */
    public List<SourceFile> files() {
        return files;
    }

    @Override
    public void begin(Supplier<Map<String, PartitionState>> taken, SourceHost host) {
        taken.get().forEach((partition, state) -> {
            if (FilePosition.of(state.position()) == null) {
                throw FileReader.otherKind(host, partition);
            }
        });
    }

    @Override
    public List<String> partitions() {
        return files.stream().map(SourceFile::name).toList();
    }

    @Override
    public boolean readsApart() {
        return true;
    }

    @Override
    public boolean isOnePartition() {
        return isOneFile;
    }

    @Override
    public boolean canGoBack() {
        return true;
    }

    @Override
    public long byteCount() {
        return files.stream().mapToLong(SourceFile::byteCount).sum();
    }

    @Override
    public PartitionReader open(String partition, @Nullable PartitionState taken, SourceHost host) {
        SourceFile file = files.stream()
                .filter(one -> one.name().equals(partition))
                .findFirst()
                .orElseThrow(() -> new InvalidRequestException("there is no file " + partition));
        return FileReader.open(this, file, taken, host);
    }

    /** Reads the header of the first file, quickly: the run reads it again, proven. */
    @Override
    public void check(RecordParser parser, char separator) {
        if (!parser.wantsHeader()) {
            return;
        }
        SourceFile first = files.getFirst();
        try (SourceStream stream = glance(first)) {
            RecordFramer framer = new LineFramer(stream::read, parser.quotes(), separator, 0, 1);
            try {
                if (framer.next()) {
                    parser.header(framer.frame());
                }
            } catch (InvalidRequestException e) {
                findDamage(stream);
                throw new InvalidRequestException(
                        "leads to %s, which does not fit: %s"
                                .formatted(first.name(), e.getMessage()),
                        e);
            }
        }
    }

    /** Reads on for a while to find damage: a header that does not fit may come from damage. */
    private static void findDamage(SourceStream stream) {
        byte[] step = new byte[64 << 10];
        int count = 0;
        while (count >= 0 && stream.fileBytesRead() < DAMAGE_SOUGHT_BYTES) {
            count = stream.read(step, 0, step.length);
        }
    }

    /** The content of {@code file} from its beginning. */
    public SourceStream read(SourceFile file) {
        return SourceStream.open(disk, file, true);
    }

    /**
     * As {@link #read}, for a look at how the content begins: that of gzip is not checked before it
     * is given out, so it is nothing to be delivered.
     */
    public SourceStream glance(SourceFile file) {
        return SourceStream.open(disk, file, false);
    }

    /**
     * What the file begins with, over a stated number of bytes: a file that only grows keeps it.
     */
    public Head head(SourceFile file, int byteCount) {
        try (DiskFile open = disk.openReadOnly(file.path())) {
            return Head.of(open, byteCount);
        }
    }

    /** By looking at it alone: listing a pipe waits for its writer. */
    private static boolean isDirectory(Disk disk, String path) {
        return disk.status(path).kind() == FileStatus.Kind.DIRECTORY;
    }

    private static SourceFile sourceFile(Disk disk, String name, String path) {
        try (DiskFile file = disk.openReadOnly(path)) {
            byte[] first = new byte[Packing.BYTES_MAX];
            int count = file.read(0, MemorySegment.ofArray(first), 0, first.length);
            Packing packing = Packing.of(first, 0, count);
            if (packing != null) {
                throw new InvalidRequestException(
                        "%s in %s is compressed by %s, and only gzip is uncompressed while it is read: %s FILE > PLAIN writes its content to a file"
                                .formatted(
                                        path,
                                        disk.description(),
                                        packing.label(),
                                        packing.command()));
            }
            return new SourceFile(name, path, file.size());
        }
    }

    /**
     * What a file begins with.
     *
     * @param byteCount how many bytes from the file's start
     * @param crc32c of those bytes as they lie in the file
     */
    public record Head(int byteCount, long crc32c) {
        /**
         * Over the first bytes of {@code file}, no more than {@code bytesMax} or what makes a
         * difference.
         */
        static Head of(DiskFile file, long bytesMax) {
            byte[] bytes = new byte[(int) Math.min(HEAD_BYTES, bytesMax)];
            int read = file.read(0, MemorySegment.ofArray(bytes), 0, bytes.length);
            return of(bytes, read);
        }

        /** Over the first {@code byteCount} of {@code bytes}, which are a file's first. */
        static Head of(byte[] bytes, int byteCount) {
            CRC32C crc = new CRC32C();
            crc.update(bytes, 0, byteCount);
            return new Head(byteCount, crc.getValue());
        }
    }
}
