package io.turbidite.hashlog;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.task.Tasks;
import io.turbidite.hashlog.history.RunEntries;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogScan;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.psf.Properties;
import io.turbidite.hashlog.psf.PropertyExtractor;
import io.turbidite.hashlog.psf.PsfSet;
import io.turbidite.hashlog.registry.Interval;
import io.turbidite.hashlog.registry.RegisteredPsf;
import io.turbidite.hashlog.registry.RegistryState;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Indexes by one PSF the records that the log took before the PSF was registered, in the background
 * (FISH19 appendix A), newest first, piece by piece:
 *
 * <ol>
 *   <li>takes the newest range that neither chains nor runs cover, 256 MiB of it at most;
 *   <li>reads its pages upwards, one a step, and notes each record's property by hash and address;
 *   <li>once the range is durable, sorts the notes and writes them as a run; the registry names the
 *       run, and queries use it from then on.
 * </ol>
 *
 * <p>Finished runs stay when the log is closed or the power goes. A later call goes on with the
 * rest.
 *
 * <p><em>Thread-safe;</em> the work is its worker's.
 */
public final class HistoryIndexing implements AutoCloseable {
    private static final long IDLE_MICROS = 10_000;

    private final HashLog log;
    private final Bounds bounds;
    private final HybridLog addresses;
    private final History history;
    private final int psfId;
    private final PropertyExtractor extractor;
    private final Properties properties = new Properties();
    private final RunEntries entries;
    private final Tasks.Worker worker;
    private final long end;
    private @Nullable Interval piece;
    private long next;
    private final AtomicLong indexedBytes = new AtomicLong();
    private volatile boolean done;
    private volatile boolean complete;
    private volatile @Nullable Throwable failure;
    private boolean released;

    /**
     * The bounds of one piece.
     *
     * @param pieceBytes most log bytes of a run
     * @param entryCountMax most properties of a run; a piece with more becomes several runs
     */
    record Bounds(long pieceBytes, int entryCountMax) {
        /** 32 MiB of memory to sort entries in. */
        static final Bounds DEFAULT = new Bounds(256L << 20, 1 << 20);
    }

    HistoryIndexing(HashLog log, History history, RegisteredPsf psf, Bounds bounds) {
        this.log = log;
        this.bounds = bounds;
        this.addresses = log.log();
        this.history = history;
        this.psfId = psf.id();
        RegistryState registry = history.registry();
        this.extractor = PsfSet.empty(registry.parser(), log.functions())
                .with(psfId, psf.definition())
                .newReader();
        this.end = addresses.safeTail();
        this.entries = new RunEntries(history.account(), bounds.entryCountMax);
        this.worker = history.site().tasks().start("hashlog-history", IDLE_MICROS, this::step);
    }

    int psfId() {
        return psfId;
    }

    /** Whether the indexing has ended: everything is indexed, it failed, or it was closed. */
    public boolean isDone() {
        return done;
    }

    /** The number of log bytes indexed so far. */
    public long indexedBytes() {
        return indexedBytes.get();
    }

    /**
     * Blocks until all records from before the PSF are indexed.
     *
     * @throws io.turbidite.core.StorageException if the indexing failed; finished runs stay
     * @throws ClosedException if the indexing or the log was closed before
     */
    public void await() {
        history.site().tasks().await(() -> done);
        switch (failure) {
            case null -> {}
            case Error e -> throw e;
            case RuntimeException e -> throw e;
            case Throwable e -> throw new IllegalStateException(e);
        }
        if (!complete) {
            throw new ClosedException("the indexing of history");
        }
    }

    private boolean step() {
        if (done) {
            return false;
        }
        try {
            complete = !advance();
            done = complete;
        } catch (ClosedException closing) {
            failure = closing;
            done = true;
        } catch (RuntimeException | Error e) {
            failure = e; // an Error too: somebody may wait for it
            done = true;
            history.site()
                    .events()
                    .publish(new StoreEvent.Failed(
                            history.site().clock().wallMicros(),
                            "indexing of history of log " + history.site().name(),
                            e));
        }
        if (done) {
            release();
        }
        history.site().tasks().signal();
        return !done;
    }

    private synchronized void release() {
        if (!released) {
            released = true;
            entries.close();
        }
    }

    /** Reads a page, or finishes a piece; false if nothing is left. */
    private boolean advance() {
        Interval now = piece;
        if (now == null || now.to() <= addresses.begin()) {
            piece = newPiece();
            return piece != null;
        }
        boolean isFull = next < now.to() && !readPage(now);
        if (isFull || next >= now.to()) {
            addresses.awaitDurable(next);
            history.add(psfId, now.from(), next, entries);
            indexedBytes.addAndGet(next - now.from());
            // what is left of a piece that had too many properties becomes one of its own
            piece = next < now.to() ? start(new Interval(next, now.to())) : null;
        }
        return true;
    }

    private @Nullable Interval newPiece() {
        long begin = addresses.begin();
        List<Interval> gaps = history.registry().psf(psfId).gaps(begin, end);
        if (gaps.isEmpty()) {
            return null;
        }
        LogShape shape = addresses.shape();
        Interval newest = gaps.getLast();
        long lowest = shape.startOf(shape.pageOf(Math.max(0, newest.to() - bounds.pieceBytes)));
        return start(new Interval(Math.max(newest.from(), lowest), newest.to()));
    }

    private Interval start(Interval taken) {
        entries.clear();
        next = taken.from();
        return taken;
    }

    /**
     * Reads a page. False if its entries exceed the room: the record at {@link #next} is not noted.
     */
    private boolean readPage(Interval now) {
        LogShape shape = addresses.shape();
        long pageEnd = Math.min(now.to(), shape.startOf(shape.pageOf(next) + 1));
        try (LogReader reader = log.reader("history")) {
            reader.protect();
            LogScan scan = new LogScan(reader);
            scan.start(Math.max(next, addresses.begin()), pageEnd);
            while (scan.next()) {
                if (!note(scan)) {
                    next = scan.address();
                    return false;
                }
            }
            next = pageEnd;
        } catch (ClosedException e) {
            throw e;
        } catch (InvalidRequestException gone) {
            if (addresses.begin() <= next) {
                throw gone;
            }
            next = Math.min(now.to(), addresses.begin()); // retention was quicker
        }
        return true;
    }

    /** Notes the record's entries. False if there is no room for them. */
    private boolean note(LogScan scan) {
        long word = scan.header();
        if (RecordHeader.kind(word) != RecordHeader.RECORD
                || addresses.deleted().contains(scan.address())) {
            return true;
        }
        long payload = scan.offset() + RecordHeader.payloadOffset(word);
        boolean read = extractor.extract(
                scan.segment(), payload, RecordHeader.payloadBytes(word), properties);
        return !read || properties.count() == 0 || entries.add(properties.hash(0), scan.address());
    }

    /** Ends the indexing; finished runs stay. */
    @Override
    public void close() {
        worker.close();
        done = true;
        release();
        history.site().tasks().signal();
    }
}
