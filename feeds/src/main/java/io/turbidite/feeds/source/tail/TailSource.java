package io.turbidite.feeds.source.tail;

import io.turbidite.core.Cleanup;
import io.turbidite.core.DamagedSourceException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.FileStatus;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.file.Packing;
import io.turbidite.feeds.source.file.SourceStream;

import org.jspecify.annotations.Nullable;

import java.nio.file.FileSystems;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.PatternSyntaxException;

/**
 * The contents of the files of a directory whose names fit a pattern, followed as they grow. A
 * partition is one content, named after the file that it was first seen in.
 *
 * <p>At each look at the directory:
 *
 * <ol>
 *   <li>a content whose file is there, by its identity, and still has what was read, stays with it,
 *       whatever the file's name is now (rotation by rename). If the file has something else
 *       (truncation), the content is an orphan,
 *   <li>the file of an orphan that has what was read again is its own again (its directory was
 *       away),
 *   <li>a file that nobody owns and that is the beginning of one that is followed is a copy, and is
 *       left alone (rotation by copy, before the truncation),
 *   <li>a file of another name that has what an orphan had read holds that content now (rotation by
 *       copy, after the truncation; compression),
 *   <li>what is left is new.
 * </ol>
 *
 * <p>A content whose file has lost its name is read to its end by the open file.
 *
 * <p><em>Confined to the thread of the run.</em>
 */
final class TailSource implements FeedSource {
    /** How often the directory is looked at; each time that all is as before, twice as late. */
    private static final long LOOK_NANOS = 100_000_000;

    /** How late at most: a line is to be visible within half a second. */
    private static final long LOOK_NANOS_MAX = 200_000_000;

    /** Files that have not grown for so long are closed. */
    private static final long IDLE_NANOS = 600_000_000_000L;

    private static final char NUMBER_MARK = '#';

    private final Disk disk;
    private final PathMatcher pattern;
    private final Map<String, TailedFile> contents = new HashMap<>();

    /** Files that are copies, or compressed and not whole, as they were when that was found out. */
    private final Map<String, FileStatus> passed = new HashMap<>();

    private @Nullable SourceHost host;
    private long nextLookNanos;

    private long lookNanos = LOOK_NANOS;

    /** What was there at the last look. */
    private Map<String, FileStatus> seen = Map.of();

    private boolean hasLooked;

    /** Whether no content has lost its file since the look before. */
    private boolean ownersStay;

    /** Of the last look: the directory is not there. */
    private @Nullable StorageIoException missing;

    /** Whether {@link #partitions} has failed of that. */
    private boolean isAway;

    /** Whose header the parser has. */
    private @Nullable TailReader headerOwner;

    private TailSource(Disk disk, PathMatcher pattern) {
        this.disk = disk;
        this.pattern = pattern;
    }

    /**
     * Follows the files in the root of {@code disk} whose names fit {@code pattern}.
     *
     * @throws InvalidRequestException if it is no pattern
     */
    static TailSource open(Disk disk, String pattern) {
        try {
            return new TailSource(disk, FileSystems.getDefault().getPathMatcher("glob:" + pattern));
        } catch (PatternSyntaxException e) {
            throw new InvalidRequestException(
                    "%s is no pattern: %s".formatted(pattern, e.getDescription()), e);
        }
    }

    @Override
    public boolean canGoBack() {
        return true;
    }

    @Override
    public boolean isEndless() {
        return true;
    }

    @Override
    public void begin(Supplier<Map<String, PartitionState>> taken, SourceHost newHost) {
        host = newHost;
        taken.get().forEach((partition, state) -> {
            TailPosition position = TailPosition.of(state.position());
            if (position == null) {
                throw new InvalidRequestException(
                        "feed %s has read %s from another kind of source; give it another name"
                                .formatted(newHost.feed(), partition));
            }
            TailedFile content = new TailedFile(partition);
            content.position = position;
            content.identity = position.identity();
            content.name = position.file();
            contents.put(partition, content);
        });
    }

    /**
     * With the looks at the directory, a line is visible within 0.3 s. A worker that rests for
     * longer gives its thread away each time, which costs more than it saves.
     */
    @Override
    public long askMicrosMax() {
        return 95_000;
    }

    @Override
    public boolean hasNews() {
        return host().clock().monotonicNanos() >= nextLookNanos;
    }

    @Override
    public List<String> partitions() {
        isAway = false;
        if (!hasLooked || hasNews()) {
            try {
                look();
                hasLooked = true;
            } finally {
                nextLookNanos = host().clock().monotonicNanos() + lookNanos;
            }
        }
        List<String> partitions = contents.values().stream()
                .filter(TailedFile::mayHaveMore)
                .map(content -> content.partition)
                .sorted()
                .toList();
        StorageIoException why = missing;
        if (why != null && partitions.isEmpty()) {
            isAway = true;
            throw TailKind.away(disk.description(), "there is no such directory", why)
                    .in("feed " + host().feed());
        }
        return partitions; // of a directory that is gone: what open files still have
    }

    @Override
    public boolean isAway() {
        return isAway;
    }

    /** Whether the directory was not there at the last look: its files may come back with it. */
    boolean isMissing() {
        return missing != null;
    }

    @Override
    public PartitionReader open(
            String partition, @Nullable PartitionState taken, SourceHost newHost) {
        TailedFile content = contents.get(partition);
        if (content == null) {
            throw new InvalidRequestException("there is no content " + partition);
        }
        content.position = taken == null ? null : TailPosition.of(taken.position());
        return new TailReader(this, content, newHost);
    }

    @Override
    public void close() {
        new Cleanup().addAll(contents.values(), TailedFile::release).run();
    }

    /** The next look is due. */
    void lookSoon() {
        nextLookNanos = host().clock().monotonicNanos();
    }

    /**
     * Whether the parser has another header than that of {@code reader}, and has it from now on.
     */
    boolean changesHeader(TailReader reader) {
        boolean changes = !reader.equals(headerOwner);
        headerOwner = reader;
        return changes;
    }

    private SourceHost host() {
        SourceHost begun = host;
        if (begun == null) {
            throw new IllegalStateException("the source has not begun");
        }
        return begun;
    }

    /**
     * Nothing was read of a content yet. If its file was truncated since the look, what was then
     * held against its first bytes is a copy of something else.
     */
    void beginsToRead(TailedFile content) {
        if (content.first.length > 0) {
            content.first = new byte[0];
            passed.clear();
        }
    }

    /** What a name is now, or null if it is gone. */
    @Nullable
    FileStatus status(String name) {
        try {
            return disk.status(name);
        } catch (StorageIoException e) {
            if (e.kind() == StorageIoException.Kind.NOT_FOUND) {
                return null;
            }
            throw e;
        }
    }

    private void look() {
        Map<String, FileStatus> files = list();
        lookNanos = files.equals(seen) ? Math.min(2 * lookNanos, LOOK_NANOS_MAX) : LOOK_NANOS;
        seen = Map.copyOf(files);
        Set<String> owned = stay(files);
        passed.keySet().retainAll(files.keySet());
        List<String> left = new ArrayList<>();
        for (Map.Entry<String, FileStatus> file : files.entrySet()) {
            FileStatus before = passed.get(file.getKey());
            boolean isAsBefore = before != null && before.equals(file.getValue());
            if (!owned.contains(file.getKey())
                    && file.getValue().byteCount() > 0
                    && !(isAsBefore && ownersStay)) {
                left.add(file.getKey());
            }
        }
        left.removeIf(name -> isGivenBack(name, files.get(name)));
        left.sort(Comparator.naturalOrder());
        for (String name : left) {
            FileStatus status = files.get(name);
            if (status != null && !host().stopped().getAsBoolean()) {
                settle(name, status);
            }
        }
    }

    /**
     * Whether a file that nobody owns is the one that an orphan had, and still has what was read of
     * it. Then it is the orphan's again, before a copy of it can be: its directory was away.
     */
    private boolean isGivenBack(String name, @Nullable FileStatus status) {
        if (status == null) {
            return false;
        }
        TailedFile orphan = orphan(name, status, one -> one.identity.equals(status.identity()));
        if (orphan != null) {
            take(orphan, name, status);
        }
        return orphan != null;
    }

    /** The one that was read furthest of the orphans whose content a file has. */
    private @Nullable TailedFile orphan(
            String name, FileStatus status, Predicate<TailedFile> which) {
        return contents.values().stream()
                .filter(content -> content.isOrphan && which.test(content))
                .filter(orphan -> orphan.position != null && holds(name, status, orphan.position))
                .max(Comparator.comparingLong(TailedFile::offset))
                .orElse(null);
    }

    /** The files by name. */
    private Map<String, FileStatus> list() {
        Map<String, FileStatus> files = new HashMap<>();
        for (String name : names()) {
            FileStatus status = !name.startsWith(".") && fits(name) ? status(name) : null;
            if (status != null && status.kind() == FileStatus.Kind.FILE) {
                files.put(name, status);
            }
        }
        return files;
    }

    private List<String> names() {
        missing = null;
        try {
            return disk.list("");
        } catch (StorageIoException e) {
            if (e.kind() != StorageIoException.Kind.NOT_FOUND) {
                throw e;
            }
            missing = e;
            return List.of();
        }
    }

    private boolean fits(String name) {
        try {
            return pattern.matches(Path.of(name));
        } catch (InvalidPathException e) {
            return false; // a name that this system can't say
        }
    }

    /** Leaves contents with the files that have them; returns the names of those files. */
    private Set<String> stay(Map<String, FileStatus> files) {
        ownersStay = true;
        Map<String, String> nameOf = new HashMap<>();
        files.forEach((name, status) -> nameOf.put(status.identity(), name));
        Set<String> owned = new HashSet<>();
        // of several that one file has held, the one that was read furthest comes first
        List<TailedFile> followed = contents.values().stream()
                .filter(content -> !content.isOrphan)
                .sorted(Comparator.comparingLong(TailedFile::offset).reversed())
                .toList();
        for (TailedFile content : followed) {
            String name = nameOf.get(content.identity);
            FileStatus status = name == null ? null : files.get(name);
            if (name == null || status == null) {
                if (content.handle == null || (content.isThere && !holdsOpen(content))) {
                    ownersStay = false;
                    content.lose();
                } else {
                    if (content.isThere) {
                        ownersStay = false;
                        content.namelessNanos = host().clock().monotonicNanos();
                    }
                    content.isThere = false;
                }
            } else if (owned.contains(name) || !has(content, name, status)) {
                if (!isStill(name, status.identity())) {
                    owned.add(name); // renamed or deleted since: the next look will tell
                    continue;
                }
                ownersStay = false;
                content.lose();
            } else {
                owned.add(name);
                if (!content.isThere) {
                    content.isGzip = isGzip(name, status);
                }
                settleIn(content, name, status);
            }
        }
        return owned;
    }

    /** Whether a file still has what was read of a content. */
    private boolean has(TailedFile content, String name, FileStatus status) {
        if (content.isThere
                && content.fileBytes == status.byteCount()
                && content.modifiedMicros == status.modifiedMicros()) {
            return true;
        }
        TailPosition position = content.position;
        if (position == null) {
            content.first = new byte[0]; // nothing tells whether it is still the same
            return status.byteCount() >= content.fileBytes;
        }
        return !(content.isGzip && content.isThere) && holds(name, status, position);
    }

    /** Whether the open file, which has just lost its name, was not truncated before that. */
    private static boolean holdsOpen(TailedFile content) {
        DiskFile open = content.handle;
        TailPosition position = content.position;
        return open != null && (position == null || position.isIn(new PlainContent(open)));
    }

    private boolean holds(String name, FileStatus status, TailPosition position) {
        Boolean held = with(name, status, position::isIn);
        return held != null && held;
    }

    /** A look at a content. */
    @FunctionalInterface
    private interface Look<T> {
        T at(Content content);
    }

    /** Null if the file is gone, another one by now, or compressed and not whole or not gzip. */
    private <T> @Nullable T with(String name, FileStatus status, Look<T> look) {
        try (DiskFile file = disk.openReadOnly(name)) {
            FileStatus now = status(name);
            if (now == null || !now.identity().equals(status.identity()) || isUnreadable(file)) {
                return null;
            }
            return isGzip(name, file)
                    ? look.at(GzipContent.of(disk, name))
                    : look.at(new PlainContent(file));
        } catch (StorageIoException e) {
            if (e.kind() == StorageIoException.Kind.NOT_FOUND) {
                return null;
            }
            throw e;
        } catch (DamagedSourceException unfinished) {
            return null; // whoever writes it may not be through
        } catch (InvalidRequestException gone) {
            if (status(name) != null) {
                throw gone;
            }
            return null;
        }
    }

    /** Whether it is compressed by another program than gzip. */
    private static boolean isUnreadable(DiskFile file) {
        byte[] first = new byte[16];
        int count = new PlainContent(file).read(0, first, first.length);
        return Packing.of(first, 0, count) != null;
    }

    private static boolean isGzip(String name, DiskFile file) {
        byte[] magic = new byte[2];
        int count = new PlainContent(file).read(0, magic, magic.length);
        return name.endsWith(".gz") || SourceStream.isGzip(magic, 0, count);
    }

    private void settleIn(TailedFile content, String name, FileStatus status) {
        if (content.fileBytes != status.byteCount() || !content.isThere) {
            content.grewNanos = host().clock().monotonicNanos();
        } else if (content.handle != null
                && host().clock().monotonicNanos() - content.grewNanos > IDLE_NANOS) {
            content.release();
        }
        content.isThere = true;
        content.name = name;
        content.identity = status.identity();
        content.fileBytes = status.byteCount();
        content.modifiedMicros = status.modifiedMicros();
        passed.remove(name);
    }

    /** Finds out what a file that nobody owns is. */
    private void settle(String name, FileStatus status) {
        Boolean isWhole = with(name, status, content -> true);
        if (isWhole == null || isCopy(name, status)) {
            passed.put(name, status);
            return;
        }
        TailedFile content = orphan(
                name,
                status,
                orphan -> !orphan.name.equals(name) || orphan.identity.equals(status.identity()));
        if (content == null) {
            content = new TailedFile(newName(name));
            contents.put(content.partition, content);
        }
        take(content, name, status);
    }

    /** From now on the file has the content. */
    private void take(TailedFile content, String name, FileStatus status) {
        content.isOrphan = false;
        content.isRead = false;
        content.isGzip = isGzip(name, status);
        settleIn(content, name, status);
        if (!content.isGzip) {
            hold(content);
        }
    }

    private boolean isGzip(String name, FileStatus status) {
        Boolean packed = with(name, status, content -> content instanceof GzipContent);
        return packed != null && packed;
    }

    /** Opens the file of a content, if it is still the one; else the next look will tell. */
    void hold(TailedFile content) {
        if (content.handle != null || !content.isThere) {
            return;
        }
        DiskFile file;
        try {
            file = disk.openReadOnly(content.name);
        } catch (StorageIoException e) {
            if (e.kind() != StorageIoException.Kind.NOT_FOUND) {
                throw e;
            }
            lookSoon();
            return;
        }
        try (Undo undo = Undo.of(file::close)) {
            if (isStill(content)) {
                content.handle = file;
                undo.keep();
            } else {
                lookSoon();
            }
        }
    }

    /** Opens a compressed content, if its file is still the one; else the next look will tell. */
    @Nullable
    SourceStream stream(TailedFile content) {
        if (isStill(content)) {
            SourceStream stream = null;
            try {
                stream = GzipContent.stream(disk, content.name);
                if (isStill(content)) {
                    return stream;
                }
            } catch (InvalidRequestException gone) {
                if (isStill(content)) {
                    throw gone;
                }
            }
            if (stream != null) {
                stream.close();
            }
        }
        lookSoon();
        return null;
    }

    private boolean isStill(TailedFile content) {
        return isStill(content.name, content.identity);
    }

    private boolean isStill(String name, String identity) {
        FileStatus now = status(name);
        return now != null && now.identity().equals(identity);
    }

    private String newName(String file) {
        for (int number = 1; ; number++) {
            String name = file + NUMBER_MARK + number;
            if (!contents.containsKey(name)) {
                return name;
            }
        }
    }

    /** Whether a file is the beginning, or all, of one that is followed. */
    private boolean isCopy(String name, FileStatus status) {
        Glimpse glimpse = with(name, status, Glimpse::of);
        if (glimpse == null) {
            return true; // it changes under our eyes: the next look will tell
        }
        for (TailedFile content : contents.values()) {
            DiskFile open = content.handle;
            if (!glimpse.mayBegin(content.first)) {
                continue;
            }
            if (open != null
                    ? glimpse.begins(content, new PlainContent(open))
                    : content.isThere && isBegun(content, glimpse)) {
                return true;
            }
        }
        return false;
    }

    private boolean isBegun(TailedFile content, Glimpse glimpse) {
        FileStatus status = status(content.name);
        if (status == null || !isStill(content)) {
            return false;
        }
        Boolean begins = with(content.name, status, bytes -> glimpse.begins(content, bytes));
        return begins != null && begins;
    }
}
