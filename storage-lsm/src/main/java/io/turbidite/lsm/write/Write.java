package io.turbidite.lsm.write;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Claim;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.strategy.KeyedRecord;

import org.jspecify.annotations.Nullable;

import java.util.BitSet;

/**
 * One write: the operations that were put in, what is to be done of them, and what
 * {@link WritePath} needs and holds on the way. Can be written again, and reused after
 * {@link Operations#clear}.
 *
 * <p><em>Confined to one thread at a time.</em>
 */
public final class Write {
    final Operations operations;
    final WriteSet set;
    final Found found = new Found(Limits.RECORD_BYTES_MAX);
    final Slice key = new Slice();
    final Slice record = new Slice();
    final Slice old = new Slice();
    final KeyedRecord keyedRecord = new KeyedRecord();
    final KeyedRecord keyedOld = new KeyedRecord();
    final Change change = new Change();
    final UniqueKeys uniqueKeys = new UniqueKeys();
    final OldPositions positions = new OldPositions();
    int[] stripes = new int[16];
    int stripeCount;
    Partition[] partitions = new Partition[4];
    int partitionCount;

    /** Of the partitions, those whose gates were entered and not left. */
    int insideCount;

    /** Of timestamps, not completed; 0 if there is none. */
    long draw;

    /** Neither published nor given up, as far as is known; null if there is none. */
    @Nullable
    Claim claim;

    /** Of the claim. */
    long sequence;

    /** Whether another version was there than the one that was asked for: nothing was done. */
    boolean isRefused;

    /** When it began to wait for being durable, by the monotonic clock; 0 if it does not. */
    long awaitedNanos;

    /** What {@link #version()} says. */
    long version;

    /** The operations whose records had changed, as they were put in from outside, from 0. */
    final BitSet changed = new BitSet();

    /**
     * @param bytesMax most bytes of its log record
     */
    public Write(int bytesMax) {
        this.operations = new Operations(bytesMax);
        this.set = new WriteSet(operations);
    }

    public Operations operations() {
        return operations;
    }

    /**
     * Of a write that has returned: whether it did nothing because another version was there than
     * {@link Operations#onlyIf} or {@link Operations#onlyIfUnchangedSince} asked for.
     */
    public boolean isRefused() {
        return isRefused;
    }

    /**
     * Of a write that has returned: the timestamp of the record that it put under the key that
     * {@link Operations#onlyIf} was asked for, of the last record without that, or of the last
     * operation if it put none; 0 if it did nothing.
     */
    public long version() {
        return version;
    }

    /**
     * Of a write that was {@link #isRefused refused}: the operations whose keys had another record
     * than {@link Operations#onlyIfUnchangedSince} asked for, or none, from 0.
     */
    public BitSet changed() {
        return changed;
    }

    /** Whether others wait for something of it. */
    boolean isHolding() {
        return claim != null || draw != 0 || insideCount > 0;
    }
}
