package io.turbidite.ops.join;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.aggregate.PairTuples;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.BatchTimer;
import io.turbidite.ops.run.ByteHash;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

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
 * <p>The rows come in no promised order. <em>Confined to one thread at a time.</em> Owns both
 * sides.
 */
public final class HashJoin implements Rows, PairTuples.Pair {
    /** Rows between two looks whether the query was stopped. */
    private static final int STOP_INTERVAL = 1_024;

    private static final int HASH_SHIFT = 40;

    /** With more keys in the table the other side is read as it was planned. */
    private static final int NARROWING_KEYS_MAX = 1_000;

    private static final Slice NO_KEY = Slice.of(new byte[0]);

    /** The table keeps the rows whose hash, cut to these bits, is below {@link #kept}. */
    private static final int HASH_MASK = 0xFF_FFFF;

    private final JoinSide held;
    private final JoinSide passing;
    private final boolean holdsLeft;
    private final JoinKind kind;
    private final RunOptions options;
    private final OperatorMeter meter;
    private final @Nullable JoinedRow joined;
    private final @Nullable PairTest test;

    /** What a row that passes by is while it is spilled; null: as it is. */
    private final @Nullable ShortenedRow shortenedPassing;

    /** What a row is in the table; null: as it is. */
    private final @Nullable ShortenedRow shortenedHeld;

    private final RecordView row;

    /** Where its rows are read as pairs; null: they are put together. */
    private @Nullable JoinedPair pairs;

    private boolean hasNotes;

    private final long memoryBytes;
    private final Slice heldRow = new Slice();
    private final Slice moved = new Slice();
    private JoinTable table;
    private @Nullable SpillBuffer heldSpill;
    private @Nullable SpillBuffer passingSpill;
    private @Nullable MergedRuns merged;
    private int kept = HASH_MASK + 1;
    private long match = SortBuffer.NONE;
    /** Where the rows of the table that were not joined are looked for. */
    private long rest = SortBuffer.NONE;

    private boolean hasHeld;
    private boolean hasRightNull;
    private boolean built;
    private boolean probed;
    private boolean merging;
    private boolean paused;
    private int looks;

    /**
     * What a join is made of.
     *
     * @param rowType of the rows; of a semi or anti join that of the left side
     * @param fields where its fields at the top come from; none of a semi or anti join
     * @param used fields of the rows that anybody looks at, the others may be missing; null: all
     * @param test what must hold of rows with equal keys; null: nothing
     * @param holdsLeft whether the left side is held, not the right one: not of full joins and
     *     {@link JoinKind#NOT_IN}
     */
    public record Output(
            JoinKind kind,
            RecordType rowType,
            List<PairField> fields,
            @Nullable Set<Integer> used,
            @Nullable PairTest test,
            boolean holdsLeft) {
        public Output {
            if (holdsLeft && (kind == JoinKind.FULL || kind == JoinKind.NOT_IN)) {
                throw new IllegalArgumentException(kind + " holds the right side");
            }
            fields = List.copyOf(fields);
            used = used == null ? null : Set.copyOf(used);
        }

        /** Those of the fields that anybody looks at. */
        List<PairField> lookedAt() {
            Set<Integer> looked = used;
            return looked == null
                    ? fields
                    : fields.stream()
                            .filter(field -> looked.contains(field.target()))
                            .toList();
        }
    }

    /**
     * Joins two sides with keys of as many fields of the same kinds.
     *
     * @param meter counts joined rows, and those of nobody else
     */
    public HashJoin(
            JoinSide left, JoinSide right, Output output, RunOptions options, OperatorMeter meter) {
        this.holdsLeft = output.holdsLeft();
        this.held = holdsLeft ? left : right;
        this.passing = holdsLeft ? right : left;
        this.kind = output.kind();
        this.options = options;
        this.meter = meter;
        this.memoryBytes = options.memoryBytesMax();
        this.joined = kind.hasPairs() ? new JoinedRow(left.type(), right.type(), output) : null;
        this.test = output.test();
        boolean isShortened = kind.hasPairs() && test == null && output.used() != null;
        this.shortenedPassing =
                isShortened ? new ShortenedRow(passing.type(), !holdsLeft, output) : null;
        this.shortenedHeld =
                isShortened ? ShortenedRow.ifMuch(held.type(), holdsLeft, output) : null;
        this.row = new RecordView(output.rowType());
        this.table = newTable();
    }

    private JoinTable newTable() {
        // rows that stay move to a second one, and those that go lie in a third buffer
        return new JoinTable(options, memoryBytes / 8 * 3, meter, pairs != null && hasNotes);
    }

    @Override
    public boolean next() {
        paused = false;
        if (!built) {
            if (!timedBuild()) {
                paused = true;
                return false;
            }
            built = true;
            narrow();
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
        if (found) {
            meter.addAlone();
        }
        return found;
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
     * @param noting whether {@link #note} is used
     * @return this
     */
    public HashJoin inPairs(boolean noting) {
        if (kind != JoinKind.INNER) {
            throw new IllegalStateException("rows of a join that is " + kind + " may be no pairs");
        }
        pairs = new JoinedPair(held.type(), passing.type());
        hasNotes = noting;
        table.close();
        table = newTable();
        return this;
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
        return merging ? 0 : table.note(match);
    }

    /** Notes something about the held row, if it is in memory. */
    public void setNote(long note) {
        if (!merging) {
            table.setNote(match, note);
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

    // ---- build ----------------------------------------------------------------------------------

    private boolean timedBuild() {
        BatchTimer timer = BatchTimer.of(options, held.meter());
        if (timer == null) {
            return build();
        }
        timer.begin();
        try {
            return build();
        } finally {
            timer.end();
        }
    }

    /** Whether all rows of the held side are there. */
    private boolean build() {
        while (!hasRightNull && held.next()) {
            look();
            hasHeld = true;
            if (held.makeKey()) {
                Slice newRow = held.row();
                add(
                        held.key(),
                        ByteHash.of(held.key()),
                        shortenedHeld == null ? newRow : shortenedHeld.of(newRow));
            } else if (givesHeldAlone()) {
                // no other row has such a key, so it is found alone in the end
                add(NO_KEY, ByteHash.of(NO_KEY), held.row());
            } else {
                hasRightNull = kind == JoinKind.NOT_IN;
            }
        }
        return hasRightNull || !held.isPaused();
    }

    /** Has the other side read no more than these keys want, where they are few. */
    private void narrow() {
        TypeKind kindOfKey = passing.narrowedBy();
        boolean isAll = heldSpill == null && !givesPassingAlone() && kind != JoinKind.NOT_IN;
        if (kindOfKey != null && isAll && table.keyCount() <= NARROWING_KEYS_MAX) {
            List<Object> keys = table.keys(kindOfKey);
            if (!keys.isEmpty()) {
                passing.narrow(keys);
            }
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

    private void add(Slice key, long hash, Slice newRow) {
        while (isKept(hash)) {
            if (table.add(key, hash, newRow)) {
                return;
            }
            keepLess();
        }
        spillHeld().add(key, newRow);
    }

    private boolean isKept(long hash) {
        return (int) (hash >>> HASH_SHIFT) < kept;
    }

    private SpillBuffer spillHeld() {
        SpillBuffer known = heldSpill;
        if (known == null) {
            known = newSpill();
            heldSpill = known;
        }
        return known;
    }

    private SpillBuffer spillPassing() {
        SpillBuffer known = passingSpill;
        if (known == null) {
            known = newSpill();
            passingSpill = known;
        }
        return known;
    }

    private SpillBuffer newSpill() {
        if (options.spill() == null) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT,
                    "joining %,d rows and more needs more than %,d bytes of memory: narrow the"
                            + " side that it holds, raise memoryBytesMax or give a directory to spill to",
                    table.rows().count(),
                    memoryBytes));
        }
        return new SpillBuffer(options, memoryBytes / 4, meter);
    }

    /** Halves what the table keeps: moves what stays to a new one, and the rest to the runs. */
    private void keepLess() {
        // without fields all rows have one key
        kept = held.hasFields() ? kept / 2 : 0;
        SpillBuffer spill = spillHeld();
        JoinTable full = table;
        JoinTable next = newTable();
        table = next;
        try (full) {
            SortBuffer rows = full.rows();
            long address = rows.count() == 0 ? SortBuffer.NONE : SortBuffer.FIRST;
            while (address != SortBuffer.NONE) {
                rows.key(address, moved);
                full.row(address, heldRow);
                long hash = ByteHash.of(moved);
                // what was in one table goes into another of its size, unless its pieces are others
                if (!isKept(hash) || !next.add(moved, hash, heldRow)) {
                    if (isKept(hash)) {
                        keepNothing(next, spill);
                    }
                    spill.add(rows.key(address, moved), full.row(address, heldRow));
                }
                address = rows.addressBehind(address);
            }
        }
    }

    private void keepNothing(JoinTable of, SpillBuffer spill) {
        kept = 0;
        SortBuffer rows = of.rows();
        long address = rows.count() == 0 ? SortBuffer.NONE : SortBuffer.FIRST;
        while (address != SortBuffer.NONE) {
            spill.add(rows.key(address, moved), of.row(address, heldRow));
            address = rows.addressBehind(address);
        }
        of.clear();
    }

    // ---- probe ----------------------------------------------------------------------------------

    /** Moves to the next row that the table gives; false at the end of the passing side. */
    private boolean probe() {
        if (match != SortBuffer.NONE) {
            match = meeting(table.behind(match));
            if (match != SortBuffer.NONE) {
                return showMatch();
            }
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

    /** Whether no row that passes by gives any, so that they need not be read. */
    private boolean meetsNothing() {
        return hasRightNull || (!hasHeld && !givesPassingAlone());
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
            boolean given = givesPassingAlone() && !(kind == JoinKind.NOT_IN && hasHeld);
            return given && show(passing.row(), null);
        }
        long hash = ByteHash.of(passing.key());
        if (!isKept(hash)) {
            Slice row = passing.row();
            spillPassing()
                    .add(passing.key(), shortenedPassing == null ? row : shortenedPassing.of(row));
            return false;
        }
        match = meeting(table.find(passing.key(), hash));
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
        table.close();
        boolean isWanted = passingSpill != null || (givesHeldAlone() && heldSpill != null);
        if (isWanted) {
            merged = new MergedRuns(
                    holdsLeft ? spillHeld() : spillPassing(),
                    holdsLeft ? spillPassing() : spillHeld(),
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

    @Override
    public void close() {
        built = true;
        probed = true;
        merging = true;
        rest = SortBuffer.NONE;
        Cleanup cleanup = new Cleanup().add(held::close).add(passing::close).add(table::close);
        MergedRuns merge = merged;
        if (merge != null) {
            merged = null;
            cleanup.add(merge::close);
        }
        if (passingSpill != null) {
            cleanup.add(passingSpill::close);
            passingSpill = null;
        }
        if (heldSpill != null) {
            cleanup.add(heldSpill::close);
            heldSpill = null;
        }
        cleanup.run();
    }
}
