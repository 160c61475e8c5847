package io.turbidite.hashlog.scan;

import io.turbidite.core.InvalidRequestException;

/**
 * A piece of an address range that is read in one way. <em>Immutable.</em>
 *
 * @param from the first record address, inclusive
 * @param to exclusive
 * @param psfId whose chains hold every match of the piece; {@link #SCANNED} if all records must be looked at
 */
public record ScanPart(long from, long to, int psfId) {
    /** No chain covers the piece. */
    public static final int SCANNED = -1;

    public ScanPart {
        if (from < 0 || to <= from) {
            throw new InvalidRequestException("a scan from %d to %d".formatted(from, to));
        }
    }

    /** Whether a chain walk reads it. */
    public boolean isIndexed() {
        return psfId != SCANNED;
    }
}
