package io.turbidite.hashlog.scan;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.hashlog.chain.ChainWalk;
import io.turbidite.hashlog.history.RunCursor;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.RecordHeader;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Goes through the parts of a plan, newest first, by chain walk, sorted run or full scan.
 *
 * <p><em>Confined to one thread,</em> which closes it. The reader is protected between the first
 * record and the end: whoever takes long between two calls holds back the reuse of memory, and is
 * reported as a stalled session.
 */
public final class RangeScan implements AutoCloseable {
    /** Records between two refreshes of a walk in memory: a microsecond's work in some tens. */
    private static final int REFRESH_COUNT = 64;

    private final LogReader reader;
    private final List<ScanPart> parts;
    private final PageScan pages;
    private final Tests tests;
    private final Ways ways;
    private final Map<Integer, ChainWalk> begun = new HashMap<>();
    private int partIndex = -1;
    private @Nullable ChainWalk walk;
    private @Nullable RunScan run;
    private long runHopCount;
    private long address;
    private long header;
    private int sinceRefresh;

    /**
     * @param parts newest first
     * @param tests what is asked of records, for this thread
     * @param ways to the wanted property, through {@code reader}
     */
    public RangeScan(LogReader reader, List<ScanPart> parts, Tests tests, Ways ways) {
        this.reader = reader;
        this.parts = parts;
        this.pages = new PageScan(reader, tests.scanned());
        this.tests = tests;
        this.ways = ways;
    }

    /**
     * The tests of a query.
     *
     * @param scanned decides on every record of a part without a chain
     * @param residual decides on what a chain has shown
     */
    public record Tests(RecordTest scanned, RecordTest residual) {}

    /** Moves to the next wanted record, an older one; false at the end. */
    public boolean next() {
        while (partIndex < parts.size()) {
            if (partIndex >= 0 && nextInPart(parts.get(partIndex))) {
                return true;
            }
            partIndex++;
            if (partIndex < parts.size()) {
                enter(parts.get(partIndex));
            }
        }
        return false;
    }

    private void enter(ScanPart part) {
        close();
        walk = null;
        if (!part.isIndexed()) {
            pages.start(part);
            return;
        }
        if (part.run() != null) {
            enterRun(part);
            return;
        }
        ChainWalk known = begun.get(part.psfId());
        if (known == null) {
            known = ways.chain(part.psfId());
            begun.put(part.psfId(), known);
            known.start(part.from());
        } else {
            known.goOn(part.from());
        }
        walk = known;
    }

    private void enterRun(ScanPart part) {
        RunCursor addresses;
        try {
            addresses = ways.run(part);
        } catch (CorruptionException | FormatVersionException | StorageIoException e) {
            ways.unreadable(part, e);
            pages.start(part);
            return;
        }
        run = new RunScan(reader, addresses, tests.scanned(), ways.readAhead(), part.to());
    }

    /** What a damaged run has not shown yet is looked at in full. */
    private void scanPast(ScanPart part, RunScan damaged, StorageException why) {
        ways.unreadable(part, why);
        long to = damaged.lookedFrom();
        close();
        pages.start(to > part.from() ? new ScanPart(part.from(), to, ScanPart.SCANNED) : null);
    }

    private boolean nextInPart(ScanPart part) {
        RunScan entries = run;
        if (entries != null) {
            refreshAtTimes();
            if (entries.next()) {
                address = entries.address();
                header = entries.header();
                return true;
            }
            StorageException damage = entries.damage();
            if (damage == null) {
                return false;
            }
            scanPast(part, entries, damage);
        }
        ChainWalk chain = walk;
        if (chain == null) {
            if (!pages.next()) {
                return false;
            }
            address = pages.address();
            header = pages.header();
            return true;
        }
        refreshAtTimes();
        while (chain.next()) {
            // above the part lies what another part has shown, or the query does not want
            if (chain.address() < part.to()
                    && tests.residual()
                            .matches(
                                    chain.segment(), chain.payloadOffset(), chain.payloadBytes())) {
                address = chain.address();
                header = chain.header();
                return true;
            }
        }
        return false;
    }

    private void refreshAtTimes() {
        if (++sinceRefresh == REFRESH_COUNT) {
            sinceRefresh = 0;
            reader.refresh();
        }
    }

    /** The record's address. */
    public long address() {
        return address;
    }

    /** What holds the payload, until the next call. */
    public MemorySegment segment() {
        return reader.segment();
    }

    /** Where the record begins in the segment, in bytes. */
    public long payloadOffset() {
        return reader.offset() + RecordHeader.payloadOffset(header);
    }

    /** How long the record is, in bytes. */
    public int payloadBytes() {
        return RecordHeader.payloadBytes(header);
    }

    /** Records that a full scan looked at so far. */
    public long scannedCount() {
        return pages.scannedCount();
    }

    /** Key pointers of chains and entries of runs looked at so far. */
    public long hopCount() {
        RunScan now = run;
        return begun.values().stream().mapToLong(ChainWalk::hopCount).sum()
                + runHopCount
                + (now == null ? 0 : now.hopCount());
    }

    /** Lets go of a run; the reader is the caller's. */
    @Override
    public void close() {
        RunScan open = run;
        if (open != null) {
            run = null;
            runHopCount += open.hopCount();
            open.close();
        }
    }
}
