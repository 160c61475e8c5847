package io.turbidite.lsm.merge;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.SpareSinks;
import io.turbidite.core.memory.Pool;
import io.turbidite.lsm.entry.EntryBatch;
import io.turbidite.lsm.entry.EntryCursor;

import java.util.Arrays;

/**
 * Merges streams by batches: each one's next entries lie in a batch of its own, from which a
 * tournament as that of {@link MergeCursor} takes them one by one. Goes forward alone.
 *
 * <p><em>Confined to one thread.</em> Owned by a {@link MergeCursor}, which owns the streams.
 * Allocates nothing after construction.
 */
final class BatchMerge implements AutoCloseable {
    private static final int BATCH_MIN = 4;
    private static final int BATCH_GROWTH = 4;
    private static final int NONE = -1;

    private static final Pool<EntryBatch> BATCHES = new Pool<>(EntryBatch::new);

    private final EntryCursor[] streams;
    private final EntryBatch[] batches;

    /** The next entry of each stream, in its batch. */
    private final int[] next;

    /** How many entries to take from each stream at a time. */
    private final int[] counts;

    /** The first eight key bytes of each stream's next entry, made to be compared as signed. */
    private final long[] ranks;

    private final boolean[] ended;

    /** As in {@link MergeCursor}. */
    private final int[] tree;

    /** The stream whose batch is used up; its matches are not played. */
    private int usedUp = NONE;

    /** Where it is: what is below was shown, or passed over. */
    private final ByteSink place = SpareSinks.take();

    private final Slice placeKey = new Slice();

    /** Whether there is such a place; and whether versions of that very key were shown. */
    private boolean hasPlace;

    private boolean isShown;

    BatchMerge(EntryCursor[] streams) {
        this.streams = streams;
        batches = new EntryBatch[streams.length];
        Arrays.setAll(batches, i -> BATCHES.take());
        next = new int[streams.length];
        counts = new int[streams.length];
        ranks = new long[streams.length];
        ended = new boolean[streams.length];
        tree = new int[streams.length];
    }

    /** Begins where the streams stand. */
    void start() {
        usedUp = NONE;
        hasPlace = false;
        Arrays.fill(counts, BATCH_MIN);
        for (int i = 0; i < streams.length; i++) {
            refill(i);
        }
        playAll();
    }

    private void playAll() {
        Arrays.fill(tree, NONE);
        for (int i = streams.length - 1; i >= 0; i--) {
            replay(i);
        }
    }

    /**
     * Goes to the first entry at or above a key. On the way forward a stream whose next entry is
     * there already stays, as it has none between; so does one that has ended.
     */
    void seek(Slice target) {
        int order = hasPlace ? place.asSlice(placeKey).compareBytes(target) : 1;
        boolean isForward = order < 0 || (order == 0 && !isShown);
        for (int i = 0; i < streams.length; i++) {
            if (!isForward || !goesOn(i, target)) {
                streams[i].seek(target);
                counts[i] = BATCH_MIN;
                refill(i);
            }
        }
        usedUp = NONE;
        playAll();
        stand(target, false);
    }

    /** Whether a stream has its first entry at or above a key in its batch, or none at all. */
    private boolean goesOn(int stream, Slice target) {
        if (ended[stream]) {
            return true;
        }
        EntryBatch entries = batches[stream];
        int at = next[stream];
        if (stream == usedUp || entries.compareKey(entries.count() - 1, target) < 0) {
            return false;
        }
        next[stream] = entries.compareKey(at, target) >= 0 ? at : entries.lowerBound(target, at);
        ranks[stream] = entries.prefix(next[stream]) ^ Long.MIN_VALUE;
        return true;
    }

    private void stand(Slice key, boolean newIsShown) {
        place.clear().putBytes(key);
        hasPlace = true;
        isShown = newIsShown;
    }

    /** As {@link EntryCursor#fill}. */
    boolean fill(EntryBatch batch, int countMax) {
        while (streams.length > 0 && batch.count() < countMax && !batch.isFull()) {
            if (usedUp != NONE) {
                refill(usedUp);
                replay(usedUp);
                usedUp = NONE;
            }
            int winner = tree[0];
            if (ended[winner]) {
                break;
            }
            EntryBatch entries = batches[winner];
            int at = next[winner];
            batch.add(entries, at);
            at++;
            next[winner] = at;
            if (at < entries.count()) {
                ranks[winner] = entries.prefix(at) ^ Long.MIN_VALUE;
                replay(winner);
            } else {
                usedUp = winner;
            }
        }
        if (batch.count() == 0) {
            return false;
        }
        stand(batch.key(batch.count() - 1, placeKey), true);
        return true;
    }

    private void refill(int stream) {
        EntryBatch entries = batches[stream];
        entries.clear();
        ended[stream] = !streams[stream].fill(entries, counts[stream]);
        counts[stream] = Math.min(EntryBatch.ENTRIES_MAX, counts[stream] * BATCH_GROWTH);
        next[stream] = 0;
        ranks[stream] = ended[stream] ? Long.MAX_VALUE : entries.prefix(0) ^ Long.MIN_VALUE;
    }

    private void replay(int stream) {
        int winner = stream;
        for (int slot = (stream + streams.length) >>> 1; slot > 0; slot >>>= 1) {
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
        if (rankOfA != rankOfB) {
            return rankOfA < rankOfB;
        }
        if (ended[a] || ended[b]) {
            return !ended[a];
        }
        int order = EntryBatch.compareRest(batches[a], next[a], batches[b], next[b]);
        return order != 0 ? order < 0 : a < b;
    }

    /** Once. */
    @Override
    public void close() {
        for (EntryBatch entries : batches) {
            BATCHES.give(entries);
        }
        SpareSinks.give(place);
    }
}
