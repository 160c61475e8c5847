package io.turbidite.lsm.merge;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.SpareSinks;
import io.turbidite.lsm.entry.EntriesAhead;
import io.turbidite.lsm.entry.EntryBatch;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.EntryHead;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.List;

/**
 * Several ordered streams as one, in the order (key ascending, timestamp descending). All entries
 * are shown. Of entries with the same key and timestamp matter comes first (one operation that
 * removes and adds the same entry has added it), then the newer stream's.
 *
 * <p>A tournament tree of losers: an inner slot holds the loser of its match, so the next entry
 * costs log2(k) comparisons on one path. Keys are compared by their first eight bytes, kept beside
 * the tree, and by the rest only if these are equal.
 *
 * <p>While it goes forward, the winner's stream stands on the current entry and every other one on
 * its first entry behind that. So to turn is to move each stream once in the other direction, and
 * to play all matches again the other way round. A layer that grows meanwhile may show, at a turn,
 * an entry that was put since and lies on the wrong side of the current one; whoever reads at a
 * snapshot passes it over, as it is newer. A stream that passes over pages when it goes forward
 * would show, at a turn backward, what it passed over behind the current entry: seek in place of
 * that turn.
 *
 * <p><em>Confined to one thread.</em> Owns the streams. Allocates nothing after construction.
 */
public final class MergeCursor implements EntryCursor {
    /** The streams stand where they were sought, the tree is not decided. */
    private static final int UNDECIDED = 0;

    private static final int FORWARD = 1;
    private static final int BACKWARD = 2;

    /** The streams stand behind the batches that were filled from them. */
    private static final int FILLING = 3;

    /** As {@link #FILLING}, and {@link #sought} since: the streams have not moved yet. */
    private static final int SOUGHT = 4;

    private final EntryCursor[] streams;

    /**
     * First eight key bytes of each stream's entry, so that the one to be shown first is the
     * smallest number.
     */
    private final long[] ranks;

    private final boolean[] ended;

    /** The entry that each stream stands on. */
    private final EntryHead[] briefs;

    /** Slot 0 holds the winner, slots 1.. the losers; stream i plays first at slot (i + k) / 2. */
    private final int[] tree;

    private int direction = UNDECIDED;

    /** What makes a rank of a key prefix: it orders unsigned numbers, and turns them round. */
    private long flip = Long.MIN_VALUE;

    /** Made when it is first filled from. */
    private @Nullable BatchMerge batches;

    private @Nullable ByteSink sought;

    private final Slice soughtKey = new Slice();

    private MergeCursor(List<? extends EntryCursor> newestFirst) {
        streams = newestFirst.toArray(EntryCursor[]::new);
        ranks = new long[streams.length];
        ended = new boolean[streams.length];
        briefs = new EntryHead[streams.length];
        Arrays.setAll(briefs, i -> new EntryHead());
        tree = new int[streams.length];
    }

    /**
     * Merges streams that stand before their first entry or were all sought to the same key.
     *
     * @param newestFirst may be empty; a single stream is returned as it is
     */
    public static EntryCursor of(List<? extends EntryCursor> newestFirst) {
        return newestFirst.size() == 1 ? newestFirst.getFirst() : new MergeCursor(newestFirst);
    }

    @Override
    public void seek(Slice key) {
        if (direction == FILLING || direction == SOUGHT) {
            // most streams need not move if it is filled from again: their batches go on there
            sought().clear().putBytes(key);
            direction = SOUGHT;
            return;
        }
        seekStreams(key);
    }

    private void seekStreams(Slice key) {
        for (EntryCursor stream : streams) {
            stream.seek(key);
        }
        direction = UNDECIDED;
    }

    @Override
    public void seekEnd() {
        for (EntryCursor stream : streams) {
            stream.seekEnd();
        }
        direction = UNDECIDED;
    }

    @Override
    public boolean next() {
        return move(FORWARD);
    }

    @Override
    public boolean next(EntryHead brief) {
        if (!move(FORWARD)) {
            return false;
        }
        brief.set(briefs[tree[0]]);
        return true;
    }

    /** As far as the winner's entries are below those of all others. */
    @Override
    public void showAhead(EntriesAhead ahead) {
        int winner = tree[0];
        if (direction != FORWARD || ended[winner]) {
            ahead.clear();
            return;
        }
        streams[winner].showAhead(ahead);
        if (ahead.count() == 0) {
            return;
        }
        // the next best has lost to the winner itself
        int best = -1;
        for (int slot = (winner + streams.length) >>> 1; slot > 0; slot >>>= 1) {
            int loser = tree[slot];
            if (!ended[loser] && (best < 0 || isBelow(loser, best))) {
                best = loser;
            }
        }
        if (best >= 0) {
            ahead.cutFrom(briefs[best].prefix, briefs[best].second);
        }
    }

    /** Whether the first sixteen bytes of one stream's key are below another's. */
    private boolean isBelow(int a, int b) {
        return ranks[a] != ranks[b]
                ? ranks[a] < ranks[b]
                : Long.compareUnsigned(briefs[a].second, briefs[b].second) < 0;
    }

    @Override
    public void skip(int count) {
        int winner = tree[0];
        streams[winner].skip(count);
        briefs[winner].note(streams[winner]);
        rank(winner);
    }

    @Override
    public boolean fill(EntryBatch batch, int countMax) {
        if (direction == FORWARD || direction == BACKWARD) {
            // the streams stand on entries already: one by one, until it is sought
            return EntryCursor.super.fill(batch, countMax);
        }
        BatchMerge merge = batches;
        if (merge == null) {
            merge = new BatchMerge(streams);
            batches = merge;
        }
        if (direction != FILLING) {
            boolean isSought = direction == SOUGHT;
            direction = UNDECIDED; // should the streams fail
            if (isSought) {
                merge.seek(sought().asSlice(soughtKey));
            } else {
                merge.start();
            }
            direction = FILLING;
        }
        return merge.fill(batch, countMax);
    }

    @Override
    public boolean previous() {
        return move(BACKWARD);
    }

    private boolean move(int wanted) {
        assert direction != FILLING : "it must be sought";
        if (direction == SOUGHT) {
            seekStreams(sought().asSlice(soughtKey));
        }
        if (streams.length == 0) {
            return false;
        }
        if (direction == wanted) {
            int winner = tree[0];
            if (ended[winner]) {
                return false;
            }
            advance(winner);
            replay(winner);
        } else {
            start(wanted);
        }
        return !ended[tree[0]];
    }

    /**
     * Moves every stream to its entry on the wanted side of the position, and plays all matches.
     */
    private void start(int wanted) {
        for (int i = 0; i < streams.length; i++) {
            ended[i] = !step(i, wanted);
        }
        direction = wanted;
        flip = wanted == FORWARD ? Long.MIN_VALUE : Long.MAX_VALUE;
        for (int i = 0; i < streams.length; i++) {
            rank(i);
        }
        Arrays.fill(tree, -1);
        for (int i = streams.length - 1; i >= 0; i--) {
            replay(i);
        }
    }

    private void advance(int stream) {
        ended[stream] = !step(stream, direction);
        rank(stream);
    }

    private boolean step(int stream, int wanted) {
        EntryCursor cursor = streams[stream];
        if (wanted == FORWARD) {
            return cursor.next(briefs[stream]);
        }
        boolean found = cursor.previous();
        if (found) {
            briefs[stream].note(cursor);
        }
        return found;
    }

    private void rank(int stream) {
        ranks[stream] = ended[stream] ? Long.MAX_VALUE : briefs[stream].prefix ^ flip;
    }

    /**
     * Plays the matches from the leaf of {@code stream} to the root; an empty slot waits for its
     * rival.
     */
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
        return rankOfA != rankOfB ? rankOfA < rankOfB : precedesByRest(a, b);
    }

    private boolean precedesByRest(int a, int b) {
        if (ended[a] || ended[b]) {
            return !ended[a];
        }
        return (compareEntries(a, b) < 0) == (direction == FORWARD);
    }

    /** The order of two entries; never 0. */
    private int compareEntries(int a, int b) {
        EntryHead entryOfA = briefs[a];
        EntryHead entryOfB = briefs[b];
        int order = entryOfA.compareKeys(entryOfB);
        if (order == 0) {
            order = Long.compare(entryOfB.timestamp, entryOfA.timestamp);
        }
        if (order == 0) {
            order = Boolean.compare(entryOfA.antimatter, entryOfB.antimatter);
        }
        return order != 0 ? order : Integer.compare(a, b);
    }

    @Override
    public Slice key() {
        return streams[tree[0]].key();
    }

    @Override
    public long keyPrefix() {
        return briefs[tree[0]].prefix;
    }

    @Override
    public int keyLength() {
        return briefs[tree[0]].keyBytes;
    }

    @Override
    public long keySecond() {
        return briefs[tree[0]].second;
    }

    @Override
    public long timestamp() {
        return briefs[tree[0]].timestamp;
    }

    @Override
    public boolean isAntimatter() {
        return briefs[tree[0]].antimatter;
    }

    @Override
    public long checkedUntil() {
        return streams[tree[0]].checkedUntil();
    }

    @Override
    public long successorTimestamp() {
        return briefs[tree[0]].successor;
    }

    @Override
    public long position() {
        return streams[tree[0]].position();
    }

    @Override
    public long pageCount() {
        long count = 0;
        for (EntryCursor stream : streams) {
            count += stream.pageCount();
        }
        return count;
    }

    @Override
    public boolean isInMemory() {
        return streams[tree[0]].isInMemory();
    }

    @Override
    public Slice value() {
        return streams[tree[0]].value();
    }

    private ByteSink sought() {
        ByteSink sink = sought;
        if (sink == null) {
            sink = SpareSinks.take();
            sought = sink;
        }
        return sink;
    }

    @Override
    public void close() {
        BatchMerge merge = batches;
        if (merge != null) {
            batches = null;
            merge.close();
        }
        ByteSink used = sought;
        if (used != null) {
            sought = null;
            SpareSinks.give(used);
        }
        for (EntryCursor stream : streams) {
            stream.close();
        }
    }
}
