package io.turbidite.lsm.read;

import io.turbidite.lsm.entry.EntriesAhead;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.SelectingCursor;

/** The entries of a band. <em>Confined to one thread.</em> Owns the cursor it reads. */
record TimestampRangeCursor(EntryCursor entries, TimestampRange band) implements SelectingCursor {
    @Override
    public boolean isShown() {
        return band.contains(entries.timestamp());
    }

    @Override
    public void cutToShown(EntriesAhead ahead) {
        ahead.cutToTimestamps(band.low(), band.end());
    }
}
