package io.turbidite.ops.join;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.ByteHash;
import io.turbidite.ops.run.OperatorMemory;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sort.SpilledRuns;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

/**
 * Hybrid hash join: the right side goes into a table, the left side is looked up in it.
 *
 * <ol>
 *   <li>Build: right rows go into the table. When its memory is used up, the half of the hash
 *       values that it keeps is halved, again and again: rows of the others are sorted by key and
 *       written as runs.
 *   <li>Probe: a left row whose hash the table keeps is joined at once; others go into runs too.
 *   <li>Merge: the runs of both sides are read in the order of their keys and joined by {@link
 *       MergedRuns}. So a key that has more rows than memory needs no way of its own, and nothing
 *       is partitioned twice.
 * </ol>
 *
 * <p>Of a full join, right rows of the table that no left row met come behind the probe; those of
 * the runs when they are merged.
 *
 * <p>The rows come in no promised order. <em>Confined to one thread at a time.</em> Owns both
 * sides.
 */
public final class HashJoin implements Rows {
    /** Rows between two looks whether the query was stopped. */
    private static final int STOP_INTERVAL = 1_024;

    private static final int HASH_SHIFT = 40;
    private static final Slice NO_KEY = Slice.of(new byte[0]);

    /** The table keeps the rows whose hash, cut to these bits, is below {@link #kept}. */
    private static final int HASH_MASK = 0xFF_FFFF;

    private final JoinSide left;
    private final JoinSide right;
    private final JoinKind kind;
    private final RunOptions options;
    private final OperatorMeter meter;
    private final @Nullable JoinedRow joined;
    private final @Nullable PairTest test;

    /** What a left row is while it is spilled; null: as it is. */
    private final @Nullable ShortenedRow shortened;

    /** What a right row is in the table; null: as it is. */
    private final @Nullable ShortenedRow shortenedRight;

    private final RecordView row;
    private final long memoryBytes;
    private final Slice rightRow = new Slice();
    private final Slice moved = new Slice();
    private JoinTable table;
    private @Nullable SpillBuffer rightSpill;
    private @Nullable SpillBuffer leftSpill;
    private @Nullable MergedRuns merged;
    private int kept = HASH_MASK + 1;
    private long match = SortBuffer.NONE;
    /** Where the rows of the table that were not joined are looked for. */
    private long rest = SortBuffer.NONE;

    private boolean hasRight;
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
     * @param leftShown the left fields that rows have
     * @param shown the right fields that rows have
     * @param used fields of the rows that anybody looks at, the others may be missing; null: all
     * @param test what must hold of rows with equal keys; null: nothing
     */
    public record Output(
            JoinKind kind,
            RecordType rowType,
            List<Integer> leftShown,
            List<Integer> shown,
            @Nullable Set<Integer> used,
            @Nullable PairTest test) {
        public Output {
            leftShown = List.copyOf(leftShown);
            shown = List.copyOf(shown);
            used = used == null ? null : Set.copyOf(used);
        }
    }

    /**
     * Joins two sides with keys of as many fields of the same kinds.
     *
     * @param meter counts joined rows
     */
    public HashJoin(
            JoinSide left, JoinSide right, Output output, RunOptions options, OperatorMeter meter) {
        this.left = left;
        this.right = right;
        this.kind = output.kind();
        this.options = options;
        this.meter = meter;
        this.memoryBytes = options.memoryBytesMax();
        this.joined = kind.hasPairs() ? new JoinedRow(left.type(), right.type(), output) : null;
        this.test = output.test();
        boolean isShortened = kind.hasPairs() && test == null && output.used() != null;
        this.shortened = isShortened ? new ShortenedRow(left.type(), output) : null;
        this.shortenedRight = isShortened ? ShortenedRow.ifMuch(right.type(), output) : null;
        this.row = new RecordView(output.rowType());
        this.table = newTable();
    }

    private JoinTable newTable() {
        // rows that stay move to a second one, and those that go lie in a third buffer
        return new JoinTable(options, memoryBytes / 8 * 3);
    }

    @Override
    public boolean next() {
        paused = false;
        if (!built && !build()) {
            paused = true;
            return false;
        }
        built = true;
        boolean found = (!probed && probe()) || nextOfRest();
        if (!found && merged != null) {
            found = merged.next();
            if (found) {
                show(
                        merged.hasLeft() ? merged.left() : null,
                        merged.hasRight() ? merged.right() : null);
            }
        }
        if (found) {
            meter.add(1);
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

    // ---- build ----------------------------------------------------------------------------------

    /** Whether all right rows are there. */
    private boolean build() {
        while (!hasRightNull && right.next()) {
            look();
            hasRight = true;
            if (right.makeKey()) {
                Slice newRow = right.row();
                add(
                        right.key(),
                        ByteHash.of(right.key()),
                        shortenedRight == null ? newRow : shortenedRight.of(newRow));
            } else if (kind == JoinKind.FULL) {
                // no left row has such a key, so it is found alone in the end
                add(NO_KEY, ByteHash.of(NO_KEY), right.row());
            } else {
                hasRightNull = kind == JoinKind.NOT_IN;
            }
        }
        return hasRightNull || !right.isPaused();
    }

    private void add(Slice key, long hash, Slice newRow) {
        while (isKept(hash)) {
            if (table.add(key, hash, newRow)) {
                return;
            }
            keepLess();
        }
        spillRight().add(key, newRow);
    }

    private boolean isKept(long hash) {
        return (int) (hash >>> HASH_SHIFT) < kept;
    }

    private SpillBuffer spillRight() {
        SpillBuffer known = rightSpill;
        if (known == null) {
            known = newSpill();
            rightSpill = known;
        }
        return known;
    }

    private SpillBuffer spillLeft() {
        SpillBuffer known = leftSpill;
        if (known == null) {
            known = newSpill();
            leftSpill = known;
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
        return new SpillBuffer(options, memoryBytes / 4);
    }

    /** Halves what the table keeps: moves what stays to a new one, and the rest to the runs. */
    private void keepLess() {
        // without fields all rows have one key
        kept = right.hasFields() ? kept / 2 : 0;
        SpillBuffer spill = spillRight();
        JoinTable full = table;
        JoinTable next = newTable();
        table = next;
        try (full) {
            SortBuffer rows = full.rows();
            long address = rows.count() == 0 ? SortBuffer.NONE : SortBuffer.FIRST;
            while (address != SortBuffer.NONE) {
                rows.key(address, moved);
                rows.payload(address, rightRow);
                long hash = ByteHash.of(moved);
                // what was in one table goes into another of its size, unless its pieces are others
                if (!isKept(hash) || !next.add(moved, hash, rightRow)) {
                    if (isKept(hash)) {
                        keepNothing(next, spill);
                    }
                    spill.add(rows.key(address, moved), rows.payload(address, rightRow));
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
            spill.add(rows.key(address, moved), rows.payload(address, rightRow));
            address = rows.addressBehind(address);
        }
        of.clear();
    }

    // ---- probe ----------------------------------------------------------------------------------

    /** Moves to the next row that the table gives; false at the end of the left side. */
    private boolean probe() {
        if (match != SortBuffer.NONE) {
            match = meeting(table.behind(match));
            if (match != SortBuffer.NONE) {
                show(left.row(), table.row(match, rightRow));
                return true;
            }
        }
        while (!meetsNothing() && left.next()) {
            look();
            if (probeOne()) {
                return true;
            }
        }
        if (!meetsNothing() && left.isPaused()) {
            paused = true;
            return false;
        }
        probed = true;
        if (kind == JoinKind.FULL && table.rows().count() > 0) {
            rest = SortBuffer.FIRST;
        }
        return false;
    }

    /** Whether no left row gives any, so that they need not be read. */
    private boolean meetsNothing() {
        return hasRightNull || (!hasRight && !kind.givesUnmatched());
    }

    /** The next row of a key, from this one on, that meets the left row. */
    private long meeting(long address) {
        long at = address;
        while (at != SortBuffer.NONE
                && test != null
                && !test.holds(left.row(), table.row(at, rightRow))) {
            look();
            at = table.behind(at);
        }
        if (at != SortBuffer.NONE && kind == JoinKind.FULL) {
            table.mark(at);
        }
        return at;
    }

    /** Moves to the next right row of the table that was not joined, where these are wanted. */
    private boolean nextOfRest() {
        while (rest != SortBuffer.NONE) {
            look();
            long address = rest;
            rest = table.rows().addressBehind(address);
            if (!table.isMarked(address)) {
                return show(null, table.row(address, rightRow));
            }
        }
        if (probed && !merging) {
            beginMerge();
        }
        return false;
    }

    /** Whether the left row that it stands on is joined, or is a row without a right one. */
    private boolean probeOne() {
        if (!left.makeKey()) {
            boolean given = kind.givesUnmatched() && !(kind == JoinKind.NOT_IN && hasRight);
            return given && show(left.row(), null);
        }
        long hash = ByteHash.of(left.key());
        if (!isKept(hash)) {
            Slice leftRow = left.row();
            spillLeft().add(left.key(), shortened == null ? leftRow : shortened.of(leftRow));
            return false;
        }
        long found = meeting(table.find(left.key(), hash));
        if (found == SortBuffer.NONE) {
            return kind.givesUnmatched() && show(left.row(), null);
        }
        if (kind.hasPairs()) {
            match = found;
            return show(left.row(), table.row(found, rightRow));
        }
        return kind == JoinKind.SEMI && show(left.row(), null);
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
        boolean isWanted = leftSpill != null || (kind == JoinKind.FULL && rightSpill != null);
        if (isWanted) {
            merged = new MergedRuns(
                    spillLeft(),
                    spillRight(),
                    new MergedRuns.Meeting(kind, test),
                    options,
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
        Cleanup cleanup = new Cleanup().add(left::close).add(right::close).add(table::close);
        MergedRuns merge = merged;
        if (merge != null) {
            merged = null;
            cleanup.add(merge::close);
        }
        if (leftSpill != null) {
            cleanup.add(leftSpill::close);
            leftSpill = null;
        }
        if (rightSpill != null) {
            cleanup.add(rightSpill::close);
            rightSpill = null;
        }
        cleanup.run();
    }

    /** Rows on their way into runs, by key. */
    static final class SpillBuffer implements AutoCloseable {
        private final RunOptions options;
        private final long memoryBytes;
        private final SortBuffer buffer;
        private final SpilledRuns runs;
        private long nextNumber;

        SpillBuffer(RunOptions options, long memoryBytes) {
            this.options = options;
            this.memoryBytes = memoryBytes;
            this.buffer = new SortBuffer(OperatorMemory.of(options, memoryBytes));
            this.runs = new SpilledRuns(options, memoryBytes);
        }

        void add(Slice key, Slice newRow) {
            if (buffer.add(key, nextNumber, newRow) == SortBuffer.FULL) {
                if (buffer.count() > 0) {
                    runs.add(buffer, Long.MAX_VALUE);
                }
                if (buffer.add(key, nextNumber, newRow) == SortBuffer.FULL) {
                    throw new InvalidRequestException(String.format(
                            Locale.ROOT,
                            "a row of %,d bytes does not fit the %,d bytes that a join may use:"
                                    + " raise memoryBytesMax%s",
                            newRow.length(),
                            memoryBytes,
                            options.others()));
                }
            }
            nextNumber++;
        }

        /** Ends what is added; the runs may be read often. */
        SpilledRuns end() {
            if (buffer.count() > 0) {
                runs.add(buffer, Long.MAX_VALUE);
            }
            buffer.close();
            return runs;
        }

        @Override
        public void close() {
            new Cleanup().add(buffer::close).add(runs::close).run();
        }
    }
}
