package io.turbidite.core.catalog;

import io.turbidite.core.bytes.Slice;

import java.util.BitSet;

/**
 * Changes of one dataset that happen together or not at all. Copies what it is given. <em>Confined
 * to one thread.</em>
 */
public interface ChangeBatch {
    /** Puts an encoded record whose primary key must be free. */
    void insert(Slice record);

    /** Puts an encoded record; it replaces the one with its primary key, if there is one. */
    void upsert(Slice record);

    /** Deletes the record with this encoded primary key. */
    void delete(Slice primaryKey);

    /** How many changes were put in. */
    int size();

    /**
     * Whether a record or key of so many bytes has room beside what was put in; an empty batch has
     * room for any.
     */
    boolean hasRoom(int bytes);

    /** Forgets what was put in. */
    void clear();

    /**
     * Does all changes or none. Returns when they are visible and as durable as the store's mode
     * says.
     *
     * @throws io.turbidite.core.DuplicateKeyException naming the key, if that of an insert is
     *     taken, or a unique index refuses one; nothing was changed
     * @throws io.turbidite.core.StoreFailedException if the store takes no writes
     */
    void write();

    /**
     * As {@link #write}, but only while each of the keys has the very record that a view of {@code
     * timestamp} shows: otherwise nothing is changed. No insert may
     * be in it. Then {@link #clear} it before {@link #write} is called.
     *
     * @param timestamp of a {@link Moment} that is still open
     * @return which changes met another record, or none any more, from 0 in the order of adding;
     *     empty if all were done
     */
    BitSet writeIfUnchangedSince(long timestamp);
}
