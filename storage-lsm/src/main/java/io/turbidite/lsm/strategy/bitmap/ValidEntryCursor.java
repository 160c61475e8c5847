package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.lsm.entry.EntriesAhead;
import io.turbidite.lsm.entry.OrdinalCursor;
import io.turbidite.lsm.entry.SelectingCursor;

/**
 * The entries of a component without the invalid ones.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor it reads, not the bitmap. It asks the bitmap
 * once for each run of valid entries, so that a component with few invalid ones costs two
 * comparisons an entry.
 */
public final class ValidEntryCursor implements SelectingCursor {
    private final OrdinalCursor entries;
    private final ImmutableValidityBitmap invalidEntries;

    /** Ordinals from here to {@link #validTo}, which is invalid or none, are known to be valid. */
    private long validFrom;

    private long validTo;

    public ValidEntryCursor(OrdinalCursor entries, ImmutableValidityBitmap invalidEntries) {
        this.entries = entries;
        this.invalidEntries = invalidEntries;
    }

    @Override
    public OrdinalCursor entries() {
        return entries;
    }

    @Override
    public boolean isShown() {
        long ordinal = entries.ordinal();
        if (ordinal >= validFrom && ordinal < validTo) {
            return true;
        }
        validTo = invalidEntries.next(ordinal);
        validFrom = invalidEntries.previous(ordinal) + 1;
        return ordinal < validTo;
    }

    @Override
    public void cutToShown(EntriesAhead ahead) {
        ahead.cutTo(validTo - entries.ordinal() - 1);
    }
}
