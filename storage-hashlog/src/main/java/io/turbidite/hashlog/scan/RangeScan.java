package io.turbidite.hashlog.scan;

import io.turbidite.hashlog.chain.ChainWalk;
import io.turbidite.hashlog.chain.Property;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.RecordHeader;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Goes through the parts of a plan, newest first, by chain walk or full scan.
 *
 * <p><em>Confined to one thread.</em> The reader is protected between the first record and the end: whoever
 * takes long between two calls holds back the reuse of memory, and is reported as a stalled session.
 */
public final class RangeScan {
    /** Records between two refreshes of a walk in memory: a microsecond's work in some tens. */
    private static final int REFRESH_COUNT = 64;

    private final LogReader reader;
    private final List<ScanPart> parts;
    private final PageScan pages;
    private final RecordTest residual;
    private final Function<Property, ChainWalk> walks;
    private final Function<Integer, Property> properties;
    private final Map<Integer, ChainWalk> begun = new HashMap<>();
    private int partIndex = -1;
    private @Nullable ChainWalk walk;
    private long address;
    private long header;
    private int sinceRefresh;

    /**
     * @param parts newest first
     * @param tests what is asked of records, for this thread
     * @param properties what to look for in the chains of a PSF
     * @param walks a walk along the chain of a property through {@code reader}
     */
    public RangeScan(
            LogReader reader,
            List<ScanPart> parts,
            Tests tests,
            Function<Integer, Property> properties,
            Function<Property, ChainWalk> walks) {
        this.reader = reader;
        this.parts = parts;
        this.pages = new PageScan(reader, tests.scanned());
        this.residual = tests.residual();
        this.properties = properties;
        this.walks = walks;
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
        if (!part.isIndexed()) {
            walk = null;
            pages.start(part);
            return;
        }
        ChainWalk known = begun.get(part.psfId());
        if (known == null) {
            known = walks.apply(properties.apply(part.psfId()));
            begun.put(part.psfId(), known);
            known.start(part.from());
        } else {
            known.startAt(known.position(), part.from());
        }
        walk = known;
    }

    private boolean nextInPart(ScanPart part) {
        ChainWalk chain = walk;
        if (chain == null) {
            if (!pages.next()) {
                return false;
            }
            address = pages.address();
            header = pages.header();
            return true;
        }
        if (++sinceRefresh == REFRESH_COUNT) {
            sinceRefresh = 0;
            reader.refresh();
        }
        while (chain.next()) {
            // above the part lies what another part has shown, or the query does not want
            if (chain.address() < part.to()
                    && residual.matches(
                            chain.segment(), chain.payloadOffset(), chain.payloadBytes())) {
                address = chain.address();
                header = chain.header();
                return true;
            }
        }
        return false;
    }

    /** The record's address. */
    public long address() {
        return address;
    }

    /** What holds the payload, until the next call. */
    public MemorySegment segment() {
        return reader.segment();
    }

    public long payloadOffset() {
        return reader.offset() + RecordHeader.payloadOffset(header);
    }

    public int payloadBytes() {
        return RecordHeader.payloadBytes(header);
    }

    /** Records that a full scan looked at so far. */
    public long scannedCount() {
        return pages.scannedCount();
    }

    /** Key pointers that chain walks looked at so far. */
    public long hopCount() {
        return begun.values().stream().mapToLong(ChainWalk::hopCount).sum();
    }
}
