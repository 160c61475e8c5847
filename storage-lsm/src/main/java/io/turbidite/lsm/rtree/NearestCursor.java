package io.turbidite.lsm.rtree;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryCursor;

/**
 * The entries of a layer of an R-tree by (distance, key, timestamp descending). Their keys have the
 * distance in front, eight bytes that are ordered as distances are: so layers are merged,
 * reconciled and gone back to as those of any search, and anti-matter, which is as far as what it
 * deletes, meets it.
 *
 * <p>It goes forward only, from the nearest or from where it is sought. <em>Confined to one
 * thread.</em>
 */
public abstract class NearestCursor implements EntryCursor {
    /** Bytes of the distance in front of a key. */
    public static final int DISTANCE_BYTES = Double.BYTES;

    /** Elements that wait at most, some fifty bytes each; what is farther is found again later. */
    public static final int WAITING_MAX = 1 << 14;

    private final EntryCursor entries;

    /** Belongs to another one when this is closed. */
    final NearestRoom room = NearestRoom.take();

    private final ByteSink key = room.key;
    private final Slice keySlice = new Slice();
    private boolean hasKey;
    private double distance;
    private boolean closed;

    NearestCursor(EntryCursor entries) {
        this.entries = entries;
    }

    /** Starts over, at the first entry so far away whose key is at or above {@code from}. */
    abstract void start(double distanceFrom, Slice from);

    /** Stands behind the last entry. */
    abstract void end();

    /**
     * Moves {@link #entries} to the next entry, and says how far it is; negative if none is left.
     */
    abstract double move();

    @Override
    public final boolean next() {
        if (closed) {
            throw new ClosedException("the cursor");
        }
        hasKey = false;
        distance = move();
        return distance >= 0;
    }

    @Override
    public final void seek(Slice target) {
        hasKey = false;
        if (target.length() < DISTANCE_BYTES) {
            start(0, new Slice());
            return;
        }
        double from = Double.longBitsToDouble(target.segment().get(Bytes.I64_BE, target.offset()));
        start(
                from,
                new Slice()
                        .set(
                                target.segment(),
                                target.offset() + DISTANCE_BYTES,
                                target.length() - DISTANCE_BYTES));
    }

    @Override
    public final void seekEnd() {
        hasKey = false;
        end();
    }

    /** Neighbours are asked for from the nearest on. */
    @Override
    public final boolean previous() {
        throw new InvalidRequestException("neighbours come nearest first, and not the other way");
    }

    @Override
    public final Slice key() {
        if (!hasKey) {
            key.clear().putLongBigEndian(Double.doubleToRawLongBits(distance));
            key.putBytes(entries.key()).asSlice(keySlice);
            hasKey = true;
        }
        return keySlice;
    }

    @Override
    public final long keyPrefix() {
        return Double.doubleToRawLongBits(distance);
    }

    @Override
    public final int keyLength() {
        return DISTANCE_BYTES + entries.keyLength();
    }

    @Override
    public final long timestamp() {
        return entries.timestamp();
    }

    @Override
    public final boolean isAntimatter() {
        return entries.isAntimatter();
    }

    @Override
    public final boolean isInMemory() {
        return entries.isInMemory();
    }

    @Override
    public final Slice value() {
        return entries.value();
    }

    @Override
    public final void close() {
        if (!closed) {
            closed = true;
            entries.close();
            room.giveBack();
        }
    }
}
