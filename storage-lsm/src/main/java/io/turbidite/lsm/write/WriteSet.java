package io.turbidite.lsm.write;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.dataset.OpenDataset;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.strategy.KeyedRecord;
import io.turbidite.lsm.strategy.Maintainer;

import java.util.Arrays;

/**
 * What one write has to do: of the operations of a batch the last one on each key, with what the
 * earlier ones ask for, its partition, and the record that it replaces.
 *
 * <p>Operations keep their place in the batch, from 0; {@link #at} lists the places of those that
 * are left to do, ascending. {@link #resolve} begins it anew for each write.
 *
 * <p><em>Confined to one thread;</em> reused.
 */
final class WriteSet {
    /** The outcome of an operation that a later one makes void. */
    private static final int VOID = -1;

    private static final long INDEX_MASK = Operations.COUNT_MAX - 1;

    private final Operations batch;

    /** Places of the operations that are left to do. */
    private int[] left = new int[16];

    private int leftCount;

    /** What is to be done in the end, with what the earlier operations on the key ask for. */
    private int[] outcomes = new int[16];

    private Partition[] partitions = new Partition[16];

    /** Where the old record lies in the old bytes; -1 if there is none. */
    private int[] oldOffsets = new int[16];

    private int[] oldLengths = new int[16];
    private final ByteSink oldBytes = new ByteSink(1 << 10, Integer.MAX_VALUE - 16);

    /** Of an old record, the bytes of entry keys that lie behind it. */
    private int[] oldMadeLengths = new int[16];

    private long[] byHash = new long[0];
    private final Slice key = new Slice();
    private final Slice otherKey = new Slice();

    WriteSet(Operations batch) {
        this.batch = batch;
    }

    /**
     * Leaves out operations that a later one on the same key makes void, and hands the later one
     * what they ask for.
     *
     * @throws DuplicateKeyException if an insert follows an operation that leaves a record
     */
    void resolve() {
        int count = batch.size();
        if (outcomes.length < count) {
            grow(count);
        }
        oldBytes.clear();
        Arrays.fill(oldOffsets, 0, count, -1);
        for (int at = 0; at < count; at++) {
            outcomes[at] = batch.kind(at);
        }
        if (count > 1) {
            resolveRepeats(count);
        }
        leftCount = 0;
        for (int at = 0; at < count; at++) {
            if (outcomes[at] != VOID) {
                left[leftCount++] = at;
                partitions[at] = batch.dataset(at).partition(batch.hash(at));
            }
        }
    }

    private void grow(int count) {
        int larger = Math.max(count, 2 * outcomes.length);
        left = new int[larger];
        outcomes = new int[larger];
        partitions = new Partition[larger];
        oldOffsets = new int[larger];
        oldLengths = new int[larger];
        oldMadeLengths = new int[larger];
    }

    private void resolveRepeats(int count) {
        // high bits of the hash, then the place: sorting brings equal keys together in adding order
        if (byHash.length < count) {
            byHash = new long[outcomes.length];
        }
        for (int at = 0; at < count; at++) {
            byHash[at] = (batch.hash(at) & ~INDEX_MASK) | at;
        }
        Arrays.sort(byHash, 0, count);
        for (int i = 1; i < count; i++) {
            int later = (int) (byHash[i] & INDEX_MASK);
            long high = byHash[i] & ~INDEX_MASK;
            for (int j = i - 1; j >= 0 && (byHash[j] & ~INDEX_MASK) == high; j--) {
                int earlier = (int) (byHash[j] & INDEX_MASK);
                if (outcomes[earlier] != VOID && sameKey(earlier, later)) {
                    outcomes[later] = outcomeOf(earlier, later);
                    outcomes[earlier] = VOID;
                }
            }
        }
    }

    /** What two operations on one key come to, of which {@code earlier} was put in before. */
    private int outcomeOf(int earlier, int later) {
        int kind = batch.kind(later);
        if (Operations.needsFreeKey(kind) && leavesRecord(earlier)) {
            throw batch.dataset(later).duplicate(batch.key(later, key));
        }
        boolean mustBeFree = Operations.needsFreeKey(outcomes[earlier]);
        if (Operations.putsRecord(kind)) {
            return mustBeFree ? Operations.INSERT : Operations.UPSERT;
        }
        return mustBeFree ? Operations.INSERT_AND_DELETE : Operations.DELETE;
    }

    private boolean sameKey(int a, int b) {
        return batch.dataset(a).equals(batch.dataset(b))
                && batch.key(a, key).contentEquals(batch.key(b, otherKey));
    }

    /** How many operations are left to do. */
    int size() {
        return leftCount;
    }

    /** How many operations the batch has: each place is below it. */
    int operationCount() {
        return batch.size();
    }

    /** The place of the i-th operation that is left to do. */
    int at(int i) {
        return left[i];
    }

    /**
     * Puts an operation that stays behind the {@code i} that stay before it; for one pass over all.
     */
    void keep(int i, int at) {
        left[i] = at;
    }

    /** Ends the pass: so many stay. */
    void keepFirst(int count) {
        leftCount = count;
    }

    /** Whether a later operation makes it void. */
    boolean isVoid(int at) {
        return outcomes[at] == VOID;
    }

    /** What is to be done. */
    int outcome(int at) {
        return outcomes[at];
    }

    /** Whether there is a record under the key when the operation is done. */
    boolean leavesRecord(int at) {
        return Operations.putsRecord(outcomes[at]);
    }

    OpenDataset dataset(int at) {
        return batch.dataset(at);
    }

    Partition partition(int at) {
        return partitions[at];
    }

    /** What maintains the operation's dataset as it is now. */
    Maintainer maintainer(int at) {
        return batch.maintainer(batch.dataset(at));
    }

    long hash(int at) {
        return batch.hash(at);
    }

    Slice key(int at, Slice slice) {
        return batch.key(at, slice);
    }

    Slice record(int at, Slice slice) {
        return batch.record(at, slice);
    }

    /** Bytes of its key and record. */
    int byteCount(int at) {
        return batch.byteCount(at);
    }

    /** Which one of those that were put in from outside it is, from 0. */
    int number(int at) {
        return batch.number(at);
    }

    /** Remembers the record that an operation replaces, and makes those keys that take long. */
    void setOld(int at, ByteSink old) {
        oldOffsets[at] = oldBytes.length();
        oldLengths[at] = old.length();
        oldMadeLengths[at] = 0;
        oldBytes.putBytes(old.segment(), 0, old.length());
        Maintainer keys = maintainer(at);
        if (keys.makesAhead() && old.length() > 0) {
            int start = oldBytes.length();
            keys.makeAhead(key(at, key), old.asSlice(otherKey), oldBytes);
            oldMadeLengths[at] = oldBytes.length() - start;
        }
    }

    /** Moves to the record that an operation puts, and to its entry keys. */
    KeyedRecord record(int at, KeyedRecord keyed) {
        batch.record(at, keyed.record());
        batch.made(at, keyed.made());
        return keyed;
    }

    /** Moves to the record that an operation replaces, and to its entry keys; empty if none. */
    KeyedRecord old(int at, KeyedRecord keyed) {
        if (oldOffsets[at] < 0) {
            return keyed.clear();
        }
        old(at, keyed.record());
        long made = oldOffsets[at] + (long) oldLengths[at];
        keyed.made().set(oldBytes.segment(), made, oldMadeLengths[at]);
        return keyed;
    }

    /** The record that an operation replaces; empty if there is none. */
    Slice old(int at, Slice slice) {
        return oldOffsets[at] < 0
                ? slice.clear()
                : slice.set(oldBytes.segment(), oldOffsets[at], oldLengths[at]);
    }
}
