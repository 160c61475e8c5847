package io.turbidite.core.sort;

import io.turbidite.core.Cleanup;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.util.Arrays;
import java.util.List;

/**
 * Several sorted inputs read as one; of equal entries that of the earlier input comes first.
 *
 * <p>A tournament tree of losers: an inner slot holds the loser of its match, so the next entry
 * costs log2(k) comparisons on one path. Keys are compared by eight bytes behind what all of them
 * have in common, kept beside the tree, and by the rest only if these are equal.
 *
 * <p><em>Confined to one thread.</em> Owns the inputs. Allocates nothing after construction.
 */
public final class SortedMerge implements SortedInput {
    private final SortedInput[] inputs;

    /** What is compared first, as signed numbers. */
    private final long[] ranks;

    private final boolean[] ended;

    /** Slot 0 holds the winner, slots 1.. the losers; input i plays first at slot (i + k) / 2. */
    private final int[] tree;

    private int sharedBytes;
    private boolean started;

    private SortedMerge(List<? extends SortedInput> inputs) {
        this.inputs = inputs.toArray(SortedInput[]::new);
        this.ranks = new long[this.inputs.length];
        this.ended = new boolean[this.inputs.length];
        this.tree = new int[this.inputs.length];
    }

    /**
     * Merges inputs that stand before their first entry.
     *
     * @param inputs may be empty; a single one is returned as it is
     */
    public static SortedInput of(List<? extends SortedInput> inputs) {
        return inputs.size() == 1 ? inputs.getFirst() : new SortedMerge(inputs);
    }

    @Override
    public boolean next() {
        if (inputs.length == 0) {
            return false;
        }
        if (!started) {
            start();
        } else if (!ended[tree[0]]) {
            int winner = tree[0];
            ended[winner] = !inputs[winner].next();
            rank(winner);
            replay(winner);
        }
        return !ended[tree[0]];
    }

    /** Moves every input to its first entry, and plays all matches. */
    private void start() {
        sharedBytes = Integer.MAX_VALUE;
        Slice firstKey = null;
        for (int i = 0; i < inputs.length; i++) {
            ended[i] = !inputs[i].next();
            if (!ended[i]) {
                Slice key = inputs[i].key();
                firstKey = firstKey == null ? key : firstKey;
                sharedBytes = Math.min(sharedBytes, inputs[i].sharedBytes());
                sharedBytes = EntryFormat.sharedBytes(firstKey, key, sharedBytes);
            }
        }
        for (int i = 0; i < inputs.length; i++) {
            rank(i);
        }
        Arrays.fill(tree, -1);
        for (int i = inputs.length - 1; i >= 0; i--) {
            replay(i);
        }
        started = true;
    }

    private void rank(int input) {
        if (ended[input]) {
            ranks[input] = Long.MAX_VALUE;
        } else {
            Slice key = inputs[input].key();
            long at = key.offset() + sharedBytes;
            ranks[input] =
                    Bytes.prefix(key.segment(), at, key.length() - sharedBytes) ^ Long.MIN_VALUE;
        }
    }

    /**
     * Plays the matches from the leaf of {@code input} to the root; an empty slot waits for its
     * rival.
     */
    private void replay(int input) {
        int winner = input;
        for (int slot = (input + inputs.length) >>> 1; slot > 0; slot >>>= 1) {
            int rival = tree[slot];
            if (rival < 0) {
                tree[slot] = winner;
                return;
            }
            if (precedes(rival, winner)) {
                tree[slot] = winner;
                winner = rival;
            }
        }
        tree[0] = winner;
    }

    private boolean precedes(int a, int b) {
        long rankOfA = ranks[a];
        long rankOfB = ranks[b];
        return rankOfA != rankOfB ? rankOfA < rankOfB : precedesByRest(a, b);
    }

    private boolean precedesByRest(int a, int b) {
        if (ended[a] || ended[b]) {
            return !ended[a];
        }
        int order = compareKeys(inputs[a].key(), inputs[b].key());
        if (order == 0) {
            order = Long.compare(inputs[a].number(), inputs[b].number());
        }
        return order != 0 ? order < 0 : a < b;
    }

    private int compareKeys(Slice a, Slice b) {
        return Bytes.compare(
                a.segment(),
                a.offset() + sharedBytes,
                a.length() - sharedBytes,
                b.segment(),
                b.offset() + sharedBytes,
                b.length() - sharedBytes);
    }

    @Override
    public Slice key() {
        return inputs[tree[0]].key();
    }

    @Override
    public long number() {
        return inputs[tree[0]].number();
    }

    @Override
    public Slice payload() {
        return inputs[tree[0]].payload();
    }

    @Override
    public int sharedBytes() {
        return sharedBytes;
    }

    /** Closes all inputs, even if closing one fails. */
    @Override
    public void close() {
        closeAll(Arrays.asList(inputs));
    }

    static void closeAll(List<? extends SortedInput> some) {
        new Cleanup().addAll(some, SortedInput::close).run();
    }
}
