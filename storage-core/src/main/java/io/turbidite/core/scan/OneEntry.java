package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

import java.util.Objects;

/**
 * Shows the one entry that a cursor stands on. <em>Confined to one thread.</em>
 *
 * @param cursor that moves by single entries
 */
record OneEntry(IndexCursor cursor) implements IndexEntries {
    @Override
    public Slice secondaryKey(int entry, Slice slice) {
        Objects.checkIndex(entry, 1);
        return slice.set(cursor.secondaryKey());
    }

    @Override
    public Slice primaryKey(int entry, Slice slice) {
        Objects.checkIndex(entry, 1);
        return slice.set(cursor.primaryKey());
    }

    @Override
    public long timestamp(int entry) {
        Objects.checkIndex(entry, 1);
        return cursor.timestamp();
    }

    @Override
    public long checkedUntil(int entry) {
        Objects.checkIndex(entry, 1);
        return cursor.checkedUntil();
    }
}
