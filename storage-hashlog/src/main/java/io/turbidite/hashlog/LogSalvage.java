package io.turbidite.hashlog;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.Disk;
import io.turbidite.hashlog.log.Deletion;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.log.SessionMark;
import io.turbidite.hashlog.log.SoundRecords;
import io.turbidite.hashlog.log.SoundRecords.Loss;
import io.turbidite.hashlog.log.TimeMark;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.registry.RegisteredPsf;
import io.turbidite.hashlog.registry.RegistryFile;
import io.turbidite.hashlog.registry.RegistryState;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Reads the sound part of a damaged log into a new one, and says what is lost. For a log that can't
 * be opened, or whose queries meet damage. The damaged log is locked meanwhile and not changed.
 *
 * <em>Used once, by one thread.</em> In this order: 1. it collects deletions, so that a deleted
 * record does not come back; 2. it appends records to the new log unchanged, in the order of their
 * addresses; 3. it writes each session's mark again, so that its client goes on at its place; 4. it
 * registers the PSFs and indexes the history by them. PSFs come last, since a PSF's parser might
 * refuse a record that is there.
 */
public final class LogSalvage implements AutoCloseable {
    private final Disk disk;
    private final LogSite site;
    private final Disk.Lock lock;
    private final SoundRecords source;
    private final LogShape shape;
    private final ParserSpec parser;
    private final List<RegisteredPsf> psfs;
    private final @Nullable StorageException registryDamage;

    private LogSalvage(
            LogSite site,
            Disk disk,
            Disk.Lock lock,
            Known known,
            @Nullable StorageException registryDamage) {
        this.site = site;
        this.disk = disk;
        this.lock = lock;
        this.shape = known.shape();
        this.parser = known.parser();
        this.psfs = known.psfs();
        this.registryDamage = registryDamage;
        this.source = new SoundRecords(disk, site.directory(), known.logId(), shape);
    }

    private record Known(long logId, LogShape shape, ParserSpec parser, List<RegisteredPsf> psfs) {}

    /**
     * The result of a salvage. <em>Immutable.</em>
     *
     * @param records in the new log
     * @param bytes of these records
     * @param deleted records that were left out, since they had been deleted
     * @param lostBytes of the damaged log, between the readable places
     * @param psfsLeft names of PSFs whose functions the new log doesn't have
     * @param finished whether it ran to the end
     * @param unreadFiles for which the disk gave an error, in all or in part: a second try may read
     *     more
     */
    public record Result(
            long records,
            long bytes,
            long deleted,
            long lostBytes,
            List<String> psfsLeft,
            boolean finished,
            List<String> unreadFiles) {}

    /**
     * Locks a damaged log.
     *
     * @param site of the log, on a disk
     * @param parser how to read its records, if its registry is lost and they are not JSON; or null
     * @throws InvalidRequestException if there is no log
     * @throws StoreInUseException if it is open
     * @throws StorageException if neither the registry nor a segment says which log it is
     */
    public static LogSalvage open(LogSite site, @Nullable ParserSpec parser) {
        Disk disk = site.disk();
        if (disk == null) {
            throw new InvalidRequestException("a log in memory can't be salvaged");
        }
        String directory = site.directory();
        if (!RegistryFile.exists(disk, directory)
                && SoundRecords.identify(disk, directory) == null) {
            throw new InvalidRequestException(
                    "there is no hash log in %s, nor a segment of one that can be read"
                            .formatted(site.where()));
        }
        Disk.Lock lock = disk.tryLock(directory + "/LOCK").orRefuse(site.where());
        try (Undo undo = Undo.of(lock::close)) {
            StorageException damage = null;
            Known known;
            try {
                known = registered(RegistryFile.read(disk, directory).state());
            } catch (StorageIoException e) {
                SoundRecords.requireOfFile(e);
                damage = e;
                known = guessed(disk, directory, parser, e);
            } catch (CorruptionException e) {
                damage = e;
                known = guessed(disk, directory, parser, e);
            }
            return undo.keep(new LogSalvage(site, disk, lock, known, damage));
        }
    }

    private static Known registered(RegistryState state) {
        List<RegisteredPsf> active =
                state.psfs().stream().filter(RegisteredPsf::active).toList();
        return new Known(state.logId(), state.shape(), state.parser(), active);
    }

    private static Known guessed(
            Disk disk, String directory, @Nullable ParserSpec parser, StorageException why) {
        SoundRecords.Identity identity = SoundRecords.identify(disk, directory);
        if (identity == null) {
            throw why;
        }
        ParserSpec read = parser == null ? new ParserSpec.Json() : parser;
        return new Known(identity.logId(), identity.shape(), read, List.of());
    }

    /** The reason why parser and PSFs are unknown, or null if they are known. */
    public @Nullable StorageException registryDamage() {
        return registryDamage;
    }

    /** The parser of the records. */
    public ParserSpec parser() {
        return parser;
    }

    /**
     * {@code options} for the new log: with the parser of the damaged one, and pages that hold its
     * records.
     */
    public HashLogOptions targetOptions(HashLogOptions options) {
        LogOptions log = options.log();
        long ringBytes = log.shape().ringBytes();
        int ringPages = (int) Math.max(4, ringBytes / shape.pageBytes());
        return options.withParser(parser)
                .withLog(log.withShape(
                        new LogShape(shape.pageBytes(), ringPages, shape.segmentPageCount())));
    }

    /**
     * Copies the sound records.
     *
     * @param target a new log, of {@link #targetOptions}
     * @param losses gets each loss
     * @param stopped ends the copying; the records copied by then stay
     */
    public Result copy(HashLog target, Consumer<Loss> losses, BooleanSupplier stopped) {
        Deleted deleted = new Deleted();
        boolean finished = source.visit(deleted, stopped);
        if (source.marksLost() > 0) {
            losses.accept(
                    new Loss(
                            0,
                            0,
                            site.directory() + "/TAIL",
                            source.marksLost() == 2
                                    ? "no mark can be read: records that were truncated may come back"
                                    : "one of two marks can't be read, maybe the newest: a newest page without checksums of its own may have gone further"));
        }
        try (IngestSession session = target.openSession("salvage")) {
            Copy copy = new Copy(session, deleted.addresses, losses);
            finished = finished && source.visit(copy, stopped);
            session.awaitDurable();
            List<String> left = finished ? finish(target, copy.sessions) : List.of();
            return new Result(
                    session.acceptedCount(),
                    session.payloadBytes(),
                    copy.deletedCount,
                    copy.lostBytes,
                    left,
                    finished,
                    unreadFiles());
        }
    }

    private List<String> unreadFiles() {
        List<String> unread = new ArrayList<>(source.unreadFiles());
        if (registryDamage instanceof StorageIoException) {
            unread.add(site.directory() + "/HASHLOG");
        }
        return unread.stream().sorted().toList();
    }

    /** Writes marks and registers PSFs; returns the names of the PSFs that can't be registered. */
    private List<String> finish(HashLog target, Map<String, Long> sessions) {
        sessions.forEach((name, serial) -> {
            if (!name.equals("salvage")) {
                try (IngestSession session = target.openSession(name, serial, record -> {})) {
                    session.markNow();
                }
            }
        });
        List<String> left = new ArrayList<>();
        Map<Integer, Map<String, PsfDefinition>> byChains = new TreeMap<>();
        Set<String> known = target.options().functions().byName().keySet();
        for (RegisteredPsf psf : psfs) {
            if (psf.definition() instanceof PsfDefinition.Function function
                    && !known.contains(function.name())) {
                left.add(psf.name());
            } else {
                byChains.computeIfAbsent(psf.chainCount(), _ -> new LinkedHashMap<>())
                        .put(psf.name(), psf.definition());
            }
        }
        byChains.forEach((chains, definitions) -> {
            for (RegisteredPsf psf : target.registerAll(definitions, chains)) {
                try (HistoryIndexing indexing = target.indexHistory(psf.name())) {
                    indexing.await();
                }
            }
        });
        target.awaitDurable();
        return left;
    }

    /** Collects the addresses of deleted records. */
    private static final class Deleted implements SoundRecords.Visitor {
        private final Set<Long> addresses = new HashSet<>();

        @Override
        public void record(long address, long header, MemorySegment segment, long offset) {
            if (RecordHeader.kind(header) == RecordHeader.DELETION) {
                addresses.add(Deletion.read(segment, offset));
            }
        }

        @Override
        public void lost(Loss loss) {
            // told when the records are copied
        }
    }

    /** Appends the remaining records. */
    private static final class Copy implements SoundRecords.Visitor {
        private final IngestSession session;
        private final Set<Long> deleted;
        private final Consumer<Loss> losses;
        private final Map<String, Long> sessions = new HashMap<>();
        private long deletedCount;
        private long lostBytes;

        Copy(IngestSession session, Set<Long> deleted, Consumer<Loss> losses) {
            this.session = session;
            this.deleted = deleted;
            this.losses = losses;
        }

        @Override
        public void record(long address, long header, MemorySegment segment, long offset) {
            switch (RecordHeader.kind(header)) {
                case RecordHeader.RECORD -> {
                    if (deleted.contains(address)) {
                        deletedCount++;
                    } else {
                        session.append(
                                segment,
                                offset + RecordHeader.payloadOffset(header),
                                RecordHeader.payloadBytes(header));
                    }
                }
                case RecordHeader.SESSION_MARK -> {
                    if (!TimeMark.is(header)) {
                        SessionMark mark = SessionMark.read(segment, offset, header);
                        sessions.put(mark.session(), mark.serial()); // the newest one comes last
                    }
                }
                default -> {
                    // deletions were collected before
                }
            }
        }

        @Override
        public void lost(Loss loss) {
            lostBytes += loss.to() - loss.from();
            losses.accept(loss);
        }
    }

    /** Unlocks the damaged log. */
    @Override
    public void close() {
        lock.close();
    }

    @Override
    public String toString() {
        return "LogSalvage[%s of %s]".formatted(site.directory(), disk.description());
    }
}
