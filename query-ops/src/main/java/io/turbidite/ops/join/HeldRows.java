package io.turbidite.ops.join;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.BatchTimer;
import io.turbidite.ops.run.ByteHash;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.StopLooks;

import org.jspecify.annotations.Nullable;

import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The side of a join that is held: rows in a table, and those of the hash values that the table
 * does not keep on their way into runs.
 *
 * <p><em>Confined to one thread</em> until it is built. Then several joins may look rows up, each
 * on a thread of its own, that change nothing but notes of their own: the last one that lets it go
 * frees it.
 */
final class HeldRows {
    private static final int HASH_SHIFT = 40;

    /** The table keeps the rows whose hash, cut to these bits, is below {@link #kept}. */
    private static final int HASH_MASK = 0xFF_FFFF;

    private static final Slice NO_KEY = Slice.of(new byte[0]);

    private final JoinSide side;

    /** Whether rows of it are wanted that met none. */
    private final boolean givesAlone;

    /** Whether one row with a null in its key decides all. */
    private final boolean endsAtNull;

    /** What a row is in the table; null: as it is. */
    private final @Nullable ShortenedRow shortened;

    private final RunOptions options;
    private final StopLooks looks;
    private final OperatorMeter meter;
    private final long memoryBytes;
    private final AtomicInteger users = new AtomicInteger(1);
    private final Slice moved = new Slice();
    private final Slice movedRow = new Slice();
    private JoinTable table;
    private @Nullable SpillBuffer spill;
    private int kept = HASH_MASK + 1;
    private int noteCount;
    private boolean hasRows;
    private boolean hasNull;

    /**
     * @param givesAlone whether rows are wanted that met none, those without a key included
     * @param endsAtNull whether a row with a null in its key ends all, so that no more are read
     * @param shortened what rows with a key are in the table; null: as they are
     * @param meter of the join, told of memory and of what is spilled
     */
    HeldRows(
            JoinSide side,
            boolean givesAlone,
            boolean endsAtNull,
            @Nullable ShortenedRow shortened,
            RunOptions options,
            OperatorMeter meter) {
        this.side = side;
        this.givesAlone = givesAlone;
        this.endsAtNull = endsAtNull;
        this.shortened = shortened;
        this.options = options;
        this.looks = new StopLooks(options::checkNotStopped);
        this.meter = meter;
        this.memoryBytes = options.memoryBytesMax();
        this.table = newTable();
    }

    private JoinTable newTable() {
        // rows that stay move to a second one, and those that go lie in a third buffer
        return new JoinTable(options, memoryBytes / 8 * 3, meter, noteCount);
    }

    /** Has room for so many notes with each row; before it is built. */
    void withNotes(int count) {
        noteCount = count;
        table.close();
        table = newTable();
    }

    JoinSide side() {
        return side;
    }

    /** Reads all rows; false: the side is paused, and it is to be called again. */
    boolean build() {
        BatchTimer timer = BatchTimer.of(options, side.meter());
        if (timer == null) {
            return readAll();
        }
        timer.begin();
        try {
            return readAll();
        } finally {
            timer.end();
        }
    }

    private boolean readAll() {
        while (!hasNull && side.next()) {
            looks.look();
            hasRows = true;
            if (side.makeKey()) {
                Slice newRow = side.row();
                add(
                        side.key(),
                        ByteHash.of(side.key()),
                        shortened == null ? newRow : shortened.of(newRow));
            } else if (givesAlone) {
                // no other row has such a key, so it is found alone in the end
                add(NO_KEY, ByteHash.of(NO_KEY), side.row());
            } else {
                hasNull = endsAtNull;
            }
        }
        return hasNull || !side.isPaused();
    }

    private void add(Slice key, long hash, Slice newRow) {
        while (isKept(hash)) {
            if (table.add(key, hash, newRow)) {
                return;
            }
            keepLess();
        }
        spill().add(key, newRow);
    }

    /** Whether rows with keys of this hash are in the table, and not among those that spilled. */
    boolean isKept(long hash) {
        return (int) (hash >>> HASH_SHIFT) < kept;
    }

    /** Halves what the table keeps: moves what stays to a new one, and the rest to the runs. */
    private void keepLess() {
        // without fields all rows have one key
        kept = side.hasFields() ? kept / 2 : 0;
        SpillBuffer to = spill();
        JoinTable full = table;
        JoinTable next = newTable();
        table = next;
        try (full) {
            SortBuffer rows = full.rows();
            long address = rows.count() == 0 ? SortBuffer.NONE : SortBuffer.FIRST;
            while (address != SortBuffer.NONE) {
                looks.look();
                rows.key(address, moved);
                full.row(address, movedRow);
                long hash = ByteHash.of(moved);
                // what was in one table goes into another of its size, unless its pieces are others
                if (!isKept(hash) || !next.add(moved, hash, movedRow)) {
                    if (isKept(hash)) {
                        keepNothing(next, to);
                    }
                    to.add(rows.key(address, moved), full.row(address, movedRow));
                }
                address = rows.addressBehind(address);
            }
        }
    }

    private void keepNothing(JoinTable of, SpillBuffer to) {
        kept = 0;
        SortBuffer rows = of.rows();
        long address = rows.count() == 0 ? SortBuffer.NONE : SortBuffer.FIRST;
        while (address != SortBuffer.NONE) {
            looks.look();
            to.add(rows.key(address, moved), of.row(address, movedRow));
            address = rows.addressBehind(address);
        }
        of.clear();
    }

    /** The rows that are kept; another one until it is built. */
    JoinTable table() {
        return table;
    }

    /** Whether there were rows, be it without a key. */
    boolean hasRows() {
        return hasRows;
    }

    /** Whether a row with a null in its key was met that ends all. */
    boolean hasNull() {
        return hasNull;
    }

    /** Whether rows were spilled. */
    boolean hasSpilled() {
        return spill != null;
    }

    /** The rows that were spilled; begun where there are none. */
    SpillBuffer spill() {
        SpillBuffer known = spill;
        if (known == null) {
            known = newSpill();
            spill = known;
        }
        return known;
    }

    /**
     * For rows of either side.
     *
     * @throws InvalidRequestException if there is nowhere to spill to
     */
    SpillBuffer newSpill() {
        if (options.spill() == null) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT,
                    "joining %,d rows and more needs more than %,d bytes of memory: narrow the"
                            + " side that it holds, raise memoryBytesMax or give a directory to spill to",
                    table.rows().count(),
                    memoryBytes));
        }
        return new SpillBuffer(options, memoryBytes / MergedRuns.PARTS, meter);
    }

    /** One more join uses it. */
    void use() {
        users.incrementAndGet();
    }

    /**
     * A join needs the table no more; the rows that were spilled stay. Runs are merged in the
     * memory that it gives back. Where others use it, nothing was spilled, and it goes with the
     * last of them.
     */
    void closeTable() {
        if (users.get() == 1) {
            table.close();
        }
    }

    /** A join uses it no more; the last of them frees it. */
    void release() {
        if (users.decrementAndGet() == 0) {
            Cleanup cleanup = new Cleanup().add(side::close).add(table::close);
            if (spill != null) {
                cleanup.add(spill::close);
            }
            cleanup.run();
        }
    }
}
