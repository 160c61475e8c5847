package io.turbidite.ops.join;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordColumns;
import io.turbidite.core.record.RecordView;
import io.turbidite.ops.aggregate.ArgumentColumns;
import io.turbidite.ops.aggregate.PairTuples;
import io.turbidite.ops.batch.ColumnBatch;
import io.turbidite.ops.batch.KeyWords;
import io.turbidite.ops.group.GroupedBatch;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

/**
 * The pairs of an inner join by batches: the keys of a batch that passes by are looked up all at
 * once, and its pairs are rows of the batch and numbers of held rows, whose columns are gathered
 * from both. Rows come in the order in which they would by themselves; one whose key has no words
 * is left to the join. <em>Confined to one thread.</em>
 */
final class PairBatches implements GroupedBatch, PairTuples.Pair {
    /** What a move has come to. */
    enum Move {
        PAIRS,
        /** The passing side stands on a row that is to be looked up by itself. */
        ROW,
        /** There is none, or none yet. */
        END
    }

    private static final int PAIRS_MAX = 1_024;

    private final JoinSide passing;
    private final HeldWords held;
    private final @Nullable PairTest test;
    private final boolean holdsLeft;
    private final RunOptions options;
    private final PairTuples maker;
    private final SideColumns own;
    private final JoinedPair shown;
    private final KeyWords keys;
    private final Slice heldRow = new Slice();
    private final Slice passingRow = new Slice();
    private final Slice[] tuple = {new Slice(), new Slice()};

    private @Nullable ColumnBatch batch;
    private long[] scratch = {};

    /** The newest held row of each row of the batch. */
    private int[] found = {};

    /** The row of the batch that is to be paired, and the held row that it is to be paired with. */
    private int at;

    private int heldNext;

    private final int[] passingRows = new int[PAIRS_MAX];
    private final int[] heldRows = new int[PAIRS_MAX];
    private int count;

    /** Rows that it has gone through, of all batches. */
    private long passed;

    private long[] words = {};
    private long[] hashes = {};

    /**
     * @param test what must hold of a pair; null: nothing
     * @param maker of this thread alone
     */
    PairBatches(
            JoinSide passing,
            HeldWords held,
            @Nullable PairTest test,
            boolean holdsLeft,
            PairTuples maker,
            RunOptions options) {
        this.passing = passing;
        this.held = held;
        this.test = test;
        this.holdsLeft = holdsLeft;
        this.maker = maker;
        this.options = options;
        this.shown = new JoinedPair(held.type(), passing.type());
        this.own = SideColumns.of(maker, passing.type(), !holdsLeft);
        this.keys = new KeyWords(passing.type(), passing.fields());
    }

    /** Moves to the next pairs, or to a row. */
    Move next() {
        count = 0;
        while (true) {
            ColumnBatch of = batch;
            if (of != null) {
                while (at < of.count() && heldNext != HeldWords.BY_BYTES) {
                    fill(of);
                    if (count > 0) {
                        return Move.PAIRS;
                    }
                }
                if (at < of.count()) {
                    passing.standOn(of.view(at));
                    step(of);
                    return Move.ROW;
                }
                batch = null;
                passing.standOn(null);
            }
            if (!passing.nextBatch()) {
                return Move.END;
            }
            ColumnBatch next = passing.batch();
            if (next == null) {
                return Move.ROW;
            }
            begin(next);
        }
    }

    /** Rows of all batches that it has looked up. */
    long passed() {
        return passed;
    }

    private void begin(ColumnBatch next) {
        int rows = next.count();
        passed += rows;
        if (found.length < rows) {
            found = new int[Math.max(rows, 2 * found.length)];
            scratch = new long[found.length];
        }
        keys.read(next.records(), next.rows(), rows);
        held.find(keys, rows, scratch, found);
        batch = next;
        at = -1;
        step(next);
    }

    private void step(ColumnBatch of) {
        at++;
        heldNext = at < of.count() ? found[at] : HeldWords.NONE;
    }

    /** Collects pairs up to a row that is looked up by itself, or as many as have room. */
    private void fill(ColumnBatch of) {
        if (held.hasChains()) {
            fillChained(of);
        } else {
            fillSingle(of);
        }
        if (test != null) {
            options.checkNotStopped(); // pairs may be many more than rows, and all be refused
            narrow(of.records(), test);
        }
    }

    private void fillSingle(ColumnBatch of) {
        int[] rows = of.rows();
        int end = of.count();
        int filled = 0;
        int row = at;
        while (row < end && filled < PAIRS_MAX && found[row] >= 0) {
            passingRows[filled] = rows[row];
            heldRows[filled] = found[row];
            filled += found[row] == HeldWords.NONE ? 0 : 1;
            row++;
        }
        count = filled;
        at = row - 1;
        step(of);
    }

    private void fillChained(ColumnBatch of) {
        int[] rows = of.rows();
        while (at < of.count() && count < PAIRS_MAX && heldNext >= 0) {
            int row = heldNext;
            while (row != HeldWords.NONE && count < PAIRS_MAX) {
                passingRows[count] = rows[at];
                heldRows[count] = row;
                count++;
                row = held.before(row);
            }
            if (row == HeldWords.NONE) {
                step(of);
            } else {
                heldNext = row;
            }
        }
    }

    private void narrow(RecordColumns records, PairTest by) {
        int left = 0;
        for (int i = 0; i < count; i++) {
            Slice one = held.row(heldRows[i], heldRow);
            Slice other = records.view(passingRows[i]).record(passingRow);
            if (holdsLeft ? by.holds(one, other) : by.holds(other, one)) {
                passingRows[left] = passingRows[i];
                heldRows[left] = heldRows[i];
                left++;
            }
        }
        count = left;
    }

    // ---- pairs ----------------------------------------------------------------------------------

    @Override
    public int count() {
        return count;
    }

    @Override
    public boolean isWhole() {
        return maker.isWhole();
    }

    @Override
    public void read() {
        RecordColumns records = Objects.requireNonNull(batch).records();
        KeyWords ownKeys = own.keys();
        if (ownKeys != null) {
            ownKeys.read(records, passingRows, count);
        }
        ArgumentColumns arguments = own.arguments();
        if (arguments != null) {
            arguments.read(records, passingRows, count);
            held.columns().gather(arguments, heldRows, count);
        }
        if (held.columns().keyWidth() > 0 || ownKeys == null) {
            if (hashes.length == 0) {
                hashes = new long[PAIRS_MAX];
                words = new long[PAIRS_MAX * wordCount()];
            }
            if (ownKeys == null) {
                gather(held.columns());
            } else {
                putTogether(ownKeys, held.columns());
            }
        }
    }

    /** All of the group key is of held rows, or nothing is grouped by. */
    private void gather(HeldColumns from) {
        int width = from.keyWidth();
        long[] all = from.keys();
        for (int i = 0; i < count && width > 0; i++) {
            int row = heldRows[i];
            for (int j = 0; j < width; j++) {
                words[i * width + j] = all[row * width + j];
            }
            hashes[i] = from.hashes()[row];
        }
    }

    /** Some of the group key is of each side. */
    private void putTogether(KeyWords ownKeys, HeldColumns from) {
        int ownWidth = ownKeys.words();
        int width = from.keyWidth();
        long[] all = from.keys();
        long[] ofOwn = ownKeys.all();
        long[] hashesOfOwn = ownKeys.hashes();
        for (int i = 0; i < count; i++) {
            int row = heldRows[i];
            int to = i * (ownWidth + width);
            for (int j = 0; j < ownWidth; j++) {
                words[to + j] = ofOwn[i * ownWidth + j];
            }
            for (int j = 0; j < width; j++) {
                words[to + ownWidth + j] = all[row * width + j];
            }
            if (words[to + ownWidth] == KeyWords.NONE) {
                words[to] = KeyWords.NONE;
            }
            hashes[i] = KeyWords.mixed(hashesOfOwn[i], from.hashes()[row]);
        }
    }

    @Override
    public int wordCount() {
        KeyWords ownKeys = own.keys();
        int ofBoth = (ownKeys == null ? 0 : ownKeys.words()) + held.columns().keyWidth();
        return Math.max(1, ofBoth);
    }

    /** Whether the words are those of the passing side alone. */
    private boolean areOwn() {
        return own.keys() != null && held.columns().keyWidth() == 0;
    }

    @Override
    public long[] words() {
        return areOwn() ? Objects.requireNonNull(own.keys()).all() : words;
    }

    @Override
    public long[] hashes() {
        return areOwn() ? Objects.requireNonNull(own.keys()).hashes() : hashes;
    }

    @Override
    public @Nullable ArgumentColumns arguments() {
        return own.arguments();
    }

    @Override
    public Slice key(int row) {
        show(row);
        return maker.key(this);
    }

    @Override
    public Slice[] tuple(int row) {
        show(row);
        tuple[0].set(maker.key(this));
        tuple[1].set(maker.arguments(this));
        return tuple;
    }

    private void show(int pair) {
        shown.show(
                held.row(heldRows[pair], heldRow),
                Objects.requireNonNull(batch).records().view(passingRows[pair]));
    }

    @Override
    public RecordView left() {
        return shown.shown(holdsLeft);
    }

    @Override
    public RecordView right() {
        return shown.shown(!holdsLeft);
    }
}
