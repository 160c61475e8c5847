package io.turbidite.lsm.partition;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryCursor;

/**
 * The entries of one layer of a secondary index, with how far the layer is known to be checked.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor it reads.
 */
final class CheckedCursor implements EntryCursor {
    private final EntryCursor entries;
    private final long checkedUntil;

    /**
     * @param checkedUntil as {@link EntryCursor#checkedUntil} says
     */
    CheckedCursor(EntryCursor entries, long checkedUntil) {
        this.entries = entries;
        this.checkedUntil = checkedUntil;
    }

    @Override
    public long checkedUntil() {
        return checkedUntil;
    }

    @Override
    public void seek(Slice key) {
        entries.seek(key);
    }

    @Override
    public void seekEnd() {
        entries.seekEnd();
    }

    @Override
    public boolean next() {
        return entries.next();
    }

    @Override
    public boolean previous() {
        return entries.previous();
    }

    @Override
    public Slice key() {
        return entries.key();
    }

    @Override
    public long timestamp() {
        return entries.timestamp();
    }

    @Override
    public boolean isAntimatter() {
        return entries.isAntimatter();
    }

    @Override
    public boolean isInMemory() {
        return entries.isInMemory();
    }

    @Override
    public Slice value() {
        return entries.value();
    }

    @Override
    public void close() {
        entries.close();
    }
}
