package io.turbidite.ops.join;

import io.turbidite.core.Cleanup;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.aggregate.PairTuples;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.ByteHash;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;

/**
 * Hybrid hash join: one side is held, in a table; the other one passes by and is looked up in it.
 *
 * <ol>
 *   <li>Build: rows of the held side go into the table. When its memory is used up, the half of
 *       the hash values that it keeps is halved, again and again: rows of the others are sorted by
 *       key and written as runs.
 *   <li>Where the table has few keys, the other side may be read by an index of them: then this is
 *       an index nested-loop join.
 *   <li>Probe: a row that passes by is joined at once if the table keeps its hash; others go into
 *       runs too.
 *   <li>Merge: the runs of both sides are read in the order of their keys and joined by {@link
 *       MergedRuns}. So a key that has more rows than memory needs no way of its own, and nothing
 *       is partitioned twice.
 * </ol>
 *
 * <p>Where rows of the held side are wanted that met none (right ones of a full join; left ones of
 * a left or anti join that holds the left side), those of the table come behind the probe, those of
 * the runs when they are merged. A semi join that holds the left side gives a row when it is met
 * first.
 *
 * <p>The rows come in no promised order. <em>Confined to one thread at a time.</em> Owns the side
 * that passes by, and the held one together with the joins {@link #beside} it.
 */
public final class HashJoin implements Rows, PairTuples.Pair {
    /** Rows between two looks whether the query was stopped. */
    private static final int STOP_INTERVAL = 1_024;

    private static final int NO_NOTES = -1;

    /** With more keys in the table the other side is read as it was planned. */
    public static final int NARROWING_KEYS_MAX = 1_000;

    private final HeldRows held;
    private final JoinSide passing;
    private final boolean holdsLeft;
    private final JoinKind kind;
    private final RunOptions options;
    private final OperatorMeter meter;
    private final @Nullable JoinedRow joined;
    private final @Nullable PairTest test;

    /** What a row that passes by is while it is spilled; null: as it is. */
    private final @Nullable ShortenedRow shortenedPassing;

    private final RecordView row;

    /** Where its rows are read as pairs; null: they are put together. */
    private @Nullable JoinedPair pairs;

    /** Reads what groups of pairs need of its held rows, while it is built; null: nobody asks. */
    private @Nullable SideColumns heldColumns;

    /** Its held rows by words, once it is built; null: rows are looked up one by one. */
    private @Nullable HeldWords words;

    /** Which of the notes about a held row are its own; {@link #NO_NOTES}: it makes none. */
    private int noteIndex = NO_NOTES;

    private final Slice heldRow = new Slice();

    /** Shows keys of the table while others may look in it too. */
    private final Slice tableKey = new Slice();

    private JoinTable table;
    private @Nullable SpillBuffer passingSpill;
    private @Nullable MergedRuns merged;
    private long match = SortBuffer.NONE;
    /** Where the rows of the table that were not joined are looked for. */
    private long rest = SortBuffer.NONE;

    /** Whether others look up rows of the same table. */
    private final boolean isShared;

    /** Joined rows that the meter has not counted; of a join that is shared or has batches. */
    private long uncounted;

    private boolean built;
    private boolean isNarrowed;
    private boolean probed;
    private boolean merging;
    private boolean paused;
    private boolean closed;
    private int looks;

    /**
     * Joins two sides with keys of as many fields of the same kinds.
     *
     * @param meter counts joined rows, and those of nobody else
     */
    public HashJoin(
            JoinSide left,
            JoinSide right,
            JoinOutput output,
            RunOptions options,
            OperatorMeter meter) {
        this(
                held(output.holdsLeft() ? left : right, output, options, meter),
                output.holdsLeft() ? right : left,
                output,
                options,
                meter,
                false);
    }

    private HashJoin(
            HeldRows held,
            JoinSide passing,
            JoinOutput output,
            RunOptions options,
            OperatorMeter meter,
            boolean isShared) {
        this.held = held;
        this.passing = passing;
        this.isShared = isShared;
        this.holdsLeft = output.holdsLeft();
        this.kind = output.kind();
        this.options = options;
        this.meter = meter;
        RecordType heldType = held.side().type();
        this.joined = kind.hasPairs()
                ? new JoinedRow(
                        holdsLeft ? heldType : passing.type(),
                        holdsLeft ? passing.type() : heldType,
                        output)
                : null;
        this.test = output.test();
        this.shortenedPassing =
                isShortened(output) ? new ShortenedRow(passing.type(), !holdsLeft, output) : null;
        this.row = new RecordView(output.rowType());
        this.table = held.table();
    }

    private static HeldRows held(
            JoinSide side, JoinOutput output, RunOptions options, OperatorMeter meter) {
        JoinKind kind = output.kind();
        return new HeldRows(
                side,
                output.holdsLeft() ? kind.givesUnmatched() : kind == JoinKind.FULL,
                kind == JoinKind.NOT_IN,
                isShortened(output)
                        ? ShortenedRow.ifMuch(side.type(), output.holdsLeft(), output)
                        : null,
                options,
                meter);
    }

    private static boolean isShortened(JoinOutput output) {
        return output.kind().hasPairs() && output.test() == null && output.used() != null;
    }

    @Override
    public boolean next() {
        paused = !build();
        if (paused) {
            return false;
        }
        boolean found = (!probed && probe()) || nextOfRest();
        if (!found && merged != null) {
            found = merged.next();
            if (found && pairs != null) {
                pairs.show(
                        holdsLeft ? merged.left() : merged.right(),
                        holdsLeft ? merged.right() : merged.left());
            } else if (found) {
                show(
                        merged.hasLeft() ? merged.left() : null,
                        merged.hasRight() ? merged.right() : null);
            }
        }
        if (!isShared && words == null) {
            if (found) {
                meter.addAlone();
            }
        } else if (!found || ++uncounted == STOP_INTERVAL) {
            count();
        }
        return found;
    }

    private void count() {
        meter.add(uncounted);
        uncounted = 0;
    }

    @Override
    public boolean isPaused() {
        return paused;
    }

    @Override
    public RecordView row() {
        return row;
    }

    /**
     * Says before the first row of an inner join that its rows are read as pairs: {@link #left} and
     * {@link #right} show both where they lie, and {@link #row} shows nothing. So no row is made
     * that has both.
     *
     * @param noteCount how many joins of the same held rows use {@link #note}; 0: none does
     * @param byBatches makes what is grouped of them, and has columns; null: they come one by one
     * @return this
     */
    public HashJoin inPairs(int noteCount, @Nullable PairTuples byBatches) {
        if (kind != JoinKind.INNER) {
            throw new IllegalStateException("rows of a join that is " + kind + " may be no pairs");
        }
        pairs = new JoinedPair(held.side().type(), passing.type());
        heldColumns =
                byBatches == null ? null : SideColumns.of(byBatches, held.side().type(), holdsLeft);
        noteIndex = noteCount > 0 ? 0 : NO_NOTES;
        held.withNotes(noteCount);
        table = held.table();
        return this;
    }

    /**
     * Reads the held side, before the first row.
     *
     * @return false: it is paused, and this is to be called again
     */
    public boolean build() {
        if (!built) {
            if (!held.build()) {
                return false;
            }
            built = true;
            table = held.table();
            narrow();
            if (passing.hasBatches() && heldColumns != null) {
                words = HeldWords.of(held, heldColumns, options);
            }
        }
        return true;
    }

    /**
     * Its pairs by batches; null where they come one by one. Once it is built.
     *
     * @param maker makes what is grouped of them, and has columns
     */
    @Nullable
    PairBatches batches(PairTuples maker) {
        HeldWords by = words;
        return by == null || !passing.hasBatches()
                ? null
                : new PairBatches(passing, by, test, holdsLeft, maker, options);
    }

    /** As {@link #next}, for a batch of pairs; or for one, and then the batch has none. */
    boolean next(PairBatches batches) {
        paused = false;
        if (nextMatch()) {
            uncounted++;
            return true;
        }
        PairBatches.Move move = batches.next();
        while (move == PairBatches.Move.ROW) {
            look();
            if (probeOne()) {
                uncounted++;
                return true;
            }
            move = batches.next();
        }
        if (move == PairBatches.Move.PAIRS) {
            meter.add(batches.count());
            return true;
        }
        paused = passing.isPaused();
        probed = !paused;
        return probed && next();
    }

    /** Says that a failure is one of a close of the passing side, where it is. */
    void failIfClosed(RuntimeException seen) {
        passing.failIfClosed(seen);
    }

    /**
     * Whether the rows that pass by may be shared out to others {@link #beside} it: the join is
     * built, its held rows are all in its table, where nobody need note which ones were met, and
     * its other side is read as it was planned.
     */
    public boolean isShareable() {
        return built
                && !givesHeldAlone()
                && !meetsOnce()
                && !isNarrowed
                && !held.hasSpilled()
                && !meetsNothing();
    }

    /**
     * A join of the same held rows and others that pass by, for another thread; of one that {@link
     * #isShareable}, before its first row. The last of all that is closed frees the held rows.
     *
     * @param of as the output of this, with a test of its own
     * @param index its number among all that read, from 0: its notes are its own
     */
    public HashJoin beside(JoinSide otherPassing, JoinOutput of, int index) {
        HashJoin other = new HashJoin(held, otherPassing, of, options, meter, true);
        other.built = true;
        other.words = words;
        if (pairs != null) {
            other.pairs = new JoinedPair(held.side().type(), otherPassing.type());
            other.noteIndex = noteIndex == NO_NOTES ? NO_NOTES : index;
        }
        held.use(); // last: what was never made would never let it go
        return other;
    }

    /** Whether {@link #note} may be used. */
    public boolean hasNotes() {
        return noteIndex != NO_NOTES;
    }

    /** Whether the left side is the one that is held. */
    public boolean holdsLeft() {
        return holdsLeft;
    }

    /**
     * What was noted about the held row that it stands on: the pairs of a row have a note in
     * common. 0 where nothing was, and where the row is not in memory.
     */
    public long note() {
        return merging ? 0 : table.note(match, noteIndex, heldRow);
    }

    /** Notes something about the held row, if it is in memory. */
    public void setNote(long note) {
        if (!merging) {
            table.setNote(match, noteIndex, note, heldRow);
        }
    }

    /** The left row of the pair that it stands on. */
    @Override
    public RecordView left() {
        return Objects.requireNonNull(pairs).shown(holdsLeft);
    }

    /** The right row of the pair that it stands on. */
    @Override
    public RecordView right() {
        return Objects.requireNonNull(pairs).shown(!holdsLeft);
    }

    /** Has the other side read no more than these keys want, where they are few. */
    private void narrow() {
        TypeKind kindOfKey = passing.narrowedBy();
        boolean isAll = !held.hasSpilled() && !givesPassingAlone() && kind != JoinKind.NOT_IN;
        if (kindOfKey != null && isAll && table.keyCount() <= NARROWING_KEYS_MAX) {
            List<Object> keys = table.keys(kindOfKey);
            isNarrowed = !keys.isEmpty() && passing.narrow(keys);
        }
    }

    /** Whether rows of the held side are wanted that met none. */
    private boolean givesHeldAlone() {
        return holdsLeft ? kind.givesUnmatched() : kind == JoinKind.FULL;
    }

    /** Whether rows that pass by are wanted that met none. */
    private boolean givesPassingAlone() {
        return !holdsLeft && kind.givesUnmatched();
    }

    /** Whether it counts only that a row of the table is met, and not by how many. */
    private boolean meetsOnce() {
        return holdsLeft && !kind.hasPairs();
    }

    private SpillBuffer spillPassing() {
        SpillBuffer known = passingSpill;
        if (known == null) {
            known = held.newSpill();
            passingSpill = known;
        }
        return known;
    }

    // ---- probe ----------------------------------------------------------------------------------

    /** Moves to the next row that the table gives; false at the end of the passing side. */
    private boolean probe() {
        if (nextMatch()) {
            return true;
        }
        while (!meetsNothing() && passing.next()) {
            look();
            if (probeOne()) {
                return true;
            }
        }
        if (!meetsNothing() && passing.isPaused()) {
            paused = true;
            return false;
        }
        probed = true;
        if (givesHeldAlone() && table.rows().count() > 0) {
            rest = SortBuffer.FIRST;
        }
        return false;
    }

    private boolean nextMatch() {
        match = match == SortBuffer.NONE ? match : meeting(table.behind(match));
        return match != SortBuffer.NONE && showMatch();
    }

    /** Whether no row that passes by gives any, so that they need not be read. */
    private boolean meetsNothing() {
        return held.hasNull() || (!held.hasRows() && !givesPassingAlone());
    }

    /** The next row of a key, from this one on, that meets the row that passes by. */
    private long meeting(long address) {
        long at = address;
        long before = match;
        while (at != SortBuffer.NONE && !meets(at)) {
            // without a test all rows of a key are met together, and the first one first
            if (test == null) {
                return SortBuffer.NONE;
            }
            look();
            long behind = table.behind(at);
            if (before != SortBuffer.NONE && meetsOnce() && table.isMarked(at)) {
                table.unlink(before, at); // nobody need look at it again
            } else {
                before = at;
            }
            at = behind;
        }
        if (at != SortBuffer.NONE && (givesHeldAlone() || meetsOnce())) {
            table.mark(at);
        }
        return at;
    }

    private boolean meets(long address) {
        if (meetsOnce() && table.isMarked(address)) {
            return false;
        }
        if (test == null) {
            return true;
        }
        Slice row = table.row(address, heldRow);
        return holdsLeft ? test.holds(row, passing.row()) : test.holds(passing.row(), row);
    }

    /** Moves to the next row of the table that was not joined, where these are wanted. */
    private boolean nextOfRest() {
        while (rest != SortBuffer.NONE) {
            look();
            long address = rest;
            rest = table.rows().addressBehind(address);
            if (!table.isMarked(address)) {
                Slice alone = table.row(address, heldRow);
                return holdsLeft ? show(alone, null) : show(null, alone);
            }
        }
        if (probed && !merging) {
            beginMerge();
        }
        return false;
    }

    /** Whether the row that passes by is joined, or is wanted by itself. */
    private boolean probeOne() {
        if (!passing.makeKey()) {
            boolean given = givesPassingAlone() && !(kind == JoinKind.NOT_IN && held.hasRows());
            return given && show(passing.row(), null);
        }
        long hash = ByteHash.of(passing.key());
        if (!held.isKept(hash)) {
            Slice row = passing.row();
            spillPassing()
                    .add(passing.key(), shortenedPassing == null ? row : shortenedPassing.of(row));
            return false;
        }
        match = meeting(table.find(passing.key(), hash, tableKey));
        if (match == SortBuffer.NONE) {
            return givesPassingAlone() && show(passing.row(), null);
        }
        if (kind.hasPairs()) {
            return showMatch();
        }
        if (holdsLeft) {
            return kind == JoinKind.SEMI ? showMatch() : markAll();
        }
        match = SortBuffer.NONE; // one is enough
        return kind == JoinKind.SEMI && show(passing.row(), null);
    }

    /** Always false: rows that were met are not wanted. */
    private boolean markAll() {
        while (match != SortBuffer.NONE) {
            look();
            match = meeting(table.behind(match));
        }
        return false;
    }

    private boolean showMatch() {
        Slice row = table.row(match, heldRow);
        JoinedPair pair = pairs;
        if (pair != null) {
            pair.show(row, passing.view());
            return true;
        }
        if (!kind.hasPairs()) {
            return show(row, null);
        }
        return holdsLeft ? show(row, passing.row()) : show(passing.row(), row);
    }

    /** Always true: there is a row. */
    private boolean show(@Nullable Slice leftRow, @Nullable Slice rightOne) {
        if (leftRow == null) {
            row.wrap(Objects.requireNonNull(joined).rightAlone(Objects.requireNonNull(rightOne)));
        } else if (joined == null) {
            row.wrap(leftRow);
        } else {
            row.wrap(rightOne == null ? joined.alone(leftRow) : joined.pair(leftRow, rightOne));
        }
        return true;
    }

    // ---- merge ----------------------------------------------------------------------------------

    private void beginMerge() {
        merging = true;
        held.closeTable();
        boolean isWanted = passingSpill != null || (givesHeldAlone() && held.hasSpilled());
        if (isWanted) {
            merged = new MergedRuns(
                    holdsLeft ? held.spill() : spillPassing(),
                    holdsLeft ? spillPassing() : held.spill(),
                    new MergedRuns.Meeting(kind, test),
                    options,
                    meter,
                    this::look);
        }
    }

    private void look() {
        if (++looks % STOP_INTERVAL == 0) {
            options.checkNotStopped();
        }
    }

    /** Once more does no harm. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        built = true;
        probed = true;
        merging = true;
        rest = SortBuffer.NONE;
        words = null; // its memory is given back with the table
        heldColumns = null;
        Cleanup cleanup = new Cleanup().add(this::count).add(passing::close);
        MergedRuns merge = merged;
        if (merge != null) {
            merged = null;
            cleanup.add(merge::close);
        }
        if (passingSpill != null) {
            cleanup.add(passingSpill::close);
            passingSpill = null;
        }
        cleanup.add(held::release).run();
    }
}
