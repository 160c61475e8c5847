package io.turbidite.ops.join;

import io.turbidite.core.Cleanup;
import io.turbidite.core.bytes.Slice;
import io.turbidite.ops.aggregate.PairTuples;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.TupleWriter;
import io.turbidite.ops.group.CountCollector;
import io.turbidite.ops.group.GroupCollector;
import io.turbidite.ops.run.CallTimer;

import org.jspecify.annotations.Nullable;

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

    private final JoinOpener opener;
    private final PairTuples maker;
    private final TupleWriter target;
    private final @Nullable CallTimer timer;
    private final @Nullable CallTimer batchTimer;
    private @Nullable HashJoin join;
    private @Nullable PairBatches batches;
    private boolean isBuilt;
    private boolean paused;

    /**
     * @param opener makes the join, at the first step; closed with this
     * @param target collects groups, or only counts
     * @param timer of the join; null: nobody asks
     * @param batchTimer of the join where it has batches; null: nobody asks
     */
    public PairSource(
            JoinOpener opener,
            PairTuples maker,
            TupleWriter target,
            @Nullable CallTimer timer,
            @Nullable CallTimer batchTimer) {
        this.timer = timer;
        this.batchTimer = batchTimer;
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
            pairs = opener.open();
            join = pairs;
        }
        if (!isBuilt) {
            isBuilt = build(pairs);
            paused = !isBuilt;
            if (!isBuilt) {
                return true;
            }
            batches = takesBatches() ? pairs.batches(maker) : null;
        }
        PairBatches of = batches;
        return of == null ? handOn(pairs) : handOn(pairs, of);
    }

    private boolean takesBatches() {
        return target instanceof GroupCollector groups
                ? groups.takesBatches() && maker.hasColumns()
                : target instanceof CountCollector;
    }

    private boolean handOn(HashJoin pairs) {
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

    private boolean handOn(HashJoin pairs, PairBatches of) {
        try {
            for (long taken = 0; taken < PAIRS_A_STEP; taken += Math.max(1, of.count())) {
                if (!next(pairs, of)) {
                    paused = pairs.isPaused();
                    return paused;
                }
                take(pairs, of);
            }
        } catch (RuntimeException e) {
            pairs.failIfClosed(e);
            throw e;
        }
        paused = false;
        return true;
    }

    private void take(HashJoin pairs, PairBatches of) {
        if (target instanceof GroupCollector groups) {
            if (of.count() > 0) {
                groups.take(of);
            } else {
                take(pairs, groups);
            }
        } else if (target instanceof CountCollector counts) {
            counts.add(Math.max(1, of.count()));
        }
    }

    private boolean build(HashJoin pairs) {
        CallTimer timed = timer;
        if (timed == null || !timed.begin()) {
            return pairs.build();
        }
        try {
            return pairs.build();
        } finally {
            timed.end();
        }
    }

    private boolean next(HashJoin pairs, PairBatches of) {
        CallTimer timed = batchTimer;
        if (timed == null || !timed.begin()) {
            return pairs.next(of);
        }
        long before = of.passed();
        try {
            return pairs.next(of);
        } finally {
            timed.end(of.passed() - before + of.count());
        }
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
        if (!pairs.hasNotes()) {
            groups.add(maker.key(pairs), arguments);
        } else if (!groups.addNoted(pairs.note(), arguments)) {
            long note = groups.add(maker.key(pairs), arguments);
            if (note != 0) {
                pairs.setNote(note);
            }
        }
    }

    @Override
    public boolean hasNothing() {
        return opener.hasNothing();
    }

    @Override
    public boolean isPaused() {
        return paused;
    }

    @Override
    public void close() {
        HashJoin pairs = join;
        Cleanup cleanup = new Cleanup();
        if (pairs != null) {
            join = null;
            batches = null;
            if (timer != null) {
                timer.tell();
            }
            if (batchTimer != null) {
                batchTimer.tell();
            }
            cleanup.add(pairs::close);
        }
        cleanup.add(opener::close).run();
    }
}
