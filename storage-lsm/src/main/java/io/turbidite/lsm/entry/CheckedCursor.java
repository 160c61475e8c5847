package io.turbidite.lsm.entry;

/**
 * The entries of one layer of a secondary index, with how far the layer is known to be checked.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor it reads.
 *
 * @param checkedUntil as {@link EntryCursor#checkedUntil} says
 */
public record CheckedCursor(EntryCursor entries, long checkedUntil) implements ForwardingCursor {
    @Override
    public boolean fill(EntryBatch batch, int countMax) {
        boolean found = entries.fill(batch, countMax);
        batch.setCheckedUntil(checkedUntil);
        return found;
    }
}
