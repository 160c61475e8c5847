package io.turbidite.ops.join;

import io.turbidite.core.bytes.Slice;
import io.turbidite.ops.aggregate.PairTuples;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.TupleWriter;
import io.turbidite.ops.group.GroupCollector;
import io.turbidite.ops.run.CallTimer;

import org.jspecify.annotations.Nullable;

import java.util.function.Supplier;

/**
 * Begins a stage with the pairs of an inner join: hands on group key and arguments of each, made of
 * both rows where they lie. A row of both, that is made to be read once, took most of what a join
 * cost a row.
 *
 * <p>Where all that is grouped by lies in the held row, its pairs are of one group: the first one
 * finds it, and notes beside the row where it is.
 *
 * <p><em>Confined to one thread.</em> Owns the join.
 */
public final class PairSource implements FrameSource {
    /** As many as a look for a record goes through. */
    private static final int PAIRS_A_STEP = 1_024;

    private static final Slice[] NO_FIELDS = {};

    private final Supplier<HashJoin> opener;
    private final PairTuples maker;
    private final TupleWriter target;
    private final @Nullable CallTimer timer;
    private @Nullable HashJoin join;
    private boolean hasNotes;
    private boolean paused;

    /**
     * @param opener makes the join, at the first step
     * @param target collects groups, or only counts
     * @param timer of the join; null: nobody asks
     */
    public PairSource(
            Supplier<HashJoin> opener,
            PairTuples maker,
            TupleWriter target,
            @Nullable CallTimer timer) {
        this.timer = timer;
        this.opener = opener;
        this.maker = maker;
        this.target = target;
    }

    @Override
    public void open() {
        // the first step opens the join
    }

    @Override
    public boolean step() {
        HashJoin pairs = join;
        if (pairs == null) {
            HashJoin opened = opener.get();
            join = opened;
            hasNotes = target instanceof GroupCollector && maker.areKeysOf(opened.holdsLeft());
            pairs = opened.inPairs(hasNotes);
        }
        for (int i = 0; i < PAIRS_A_STEP; i++) {
            if (!next(pairs)) {
                paused = pairs.isPaused();
                return paused;
            }
            if (target instanceof GroupCollector groups) {
                take(pairs, groups);
            } else if (!target.tuple(NO_FIELDS)) {
                return false;
            }
        }
        paused = false;
        return true;
    }

    private boolean next(HashJoin pairs) {
        CallTimer timed = timer;
        if (timed == null || !timed.begin()) {
            return pairs.next();
        }
        try {
            return pairs.next();
        } finally {
            timed.end();
        }
    }

    private void take(HashJoin pairs, GroupCollector groups) {
        Slice arguments = maker.arguments(pairs);
        if (!hasNotes) {
            groups.add(maker.key(pairs), arguments);
        } else if (!groups.addNoted(pairs.note(), arguments)) {
            pairs.setNote(groups.add(maker.key(pairs), arguments));
        }
    }

    @Override
    public boolean isPaused() {
        return paused;
    }

    @Override
    public void close() {
        HashJoin pairs = join;
        if (pairs != null) {
            join = null;
            if (timer != null) {
                timer.tell();
            }
            pairs.close();
        }
    }
}
