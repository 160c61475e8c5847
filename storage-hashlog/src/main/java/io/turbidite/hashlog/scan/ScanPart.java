package io.turbidite.hashlog.scan;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.hashlog.registry.HistoryRun;

import org.jspecify.annotations.Nullable;

/**
 * A piece of an address range that is read in one way. <em>Immutable.</em>
 *
 * @param from the first record address, inclusive
 * @param to exclusive
 * @param psfId whose index holds every match of the piece; {@link #SCANNED} if all records must be
 *     looked at
 * @param run the sorted run that is its index there; null: its chains are
 */
public record ScanPart(
        long from, long to, int psfId, @Nullable HistoryRun run) {
    /** No index covers the piece. */
    public static final int SCANNED = -1;

    public ScanPart {
        if (from < 0 || to <= from) {
            throw new InvalidRequestException("a scan from %d to %d".formatted(from, to));
        }
    }

    /** A piece that is read by chains, or by looking at all of it. */
    public ScanPart(long from, long to, int psfId) {
        this(from, to, psfId, null);
    }

    /** Whether an index leads to its matches, by chains or a run. */
    public boolean isIndexed() {
        return psfId != SCANNED;
    }
}
