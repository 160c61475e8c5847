package io.turbidite.ops.group;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.AggregateTuples;
import io.turbidite.ops.aggregate.ArgumentColumns;
import io.turbidite.ops.aggregate.GroupStates;
import io.turbidite.ops.batch.BatchTaker;
import io.turbidite.ops.batch.BatchWriter;
import io.turbidite.ops.batch.KeyWords;
import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sort.SpilledRuns;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Locale;

/**
 * Groups tuples by their first field in a hash table: counts them, or adds their second field to
 * the states of aggregates. A table that is full is written in key order as a run of partial counts
 * or states, where there is somewhere to spill to; equal keys meet again when runs are read.
 *
 * <p>Where different values are counted, the keys of the table have a tag behind the group: {@link
 * #GROUP} that of its states, others that of a value, which follows. So values go through the same
 * table and runs as the groups, and come right behind their group.
 *
 * <p><em>Confined to one thread at a time.</em>
 */
public final class GroupCollector implements BatchWriter {
    /** The tag of a group; different values of aggregate i have tag i + 1. */
    static final int GROUP = 0;

    /** Of a note: above them the generation. */
    private static final int NOTE_BITS = 48;

    private static final long NOTE_MASK = (1L << NOTE_BITS) - 1;

    /** One more than a note has. */
    private static final int GENERATIONS = 1 << 15;

    private final RunOptions options;
    private long memoryBytes;
    private final OperatorMeter meter;
    private final @Nullable GroupStates states;
    private GroupTable table;
    private final Slice key = new Slice();
    private final Slice arguments = new Slice();
    private final Slice groupStates = new Slice();
    private final ByteSink taggedBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice tagged = new Slice();
    private @Nullable SpilledRuns runs;

    /** The groups of batches; null before the first. */
    private @Nullable GroupBatches batches;

    /** The entry that took the last tuple; {@link SortBuffer#NONE}: unknown. */
    private long taken = SortBuffer.NONE;

    /** How often the table was emptied. */
    private int generation;

    /**
     * Whether {@link #groupStates} are those of the empty key: where nothing is grouped by, each
     * tuple has that one, and need not look for it.
     */
    private boolean isAtWhole;

    /**
     * Counts tuples up to a bound, then spills or fails.
     *
     * @param memoryBytes this operator's share of the query's memory
     */
    public GroupCollector(RunOptions options, long memoryBytes) {
        this(options, memoryBytes, null, new OperatorMeter());
    }

    /**
     * As {@link #GroupCollector(RunOptions, long)}, for aggregates.
     *
     * @param states this operator's alone
     * @param meter told of memory and of what is spilled
     */
    public GroupCollector(
            RunOptions options,
            long memoryBytes,
            @Nullable GroupStates states,
            OperatorMeter meter) {
        this.meter = meter;
        this.states = states;
        this.options = options;
        this.memoryBytes = memoryBytes;
        this.table = new GroupTable(options, memoryBytes, meter);
    }

    /**
     * Has another share of the query's memory, before the first tuple: those it was to share it
     * with turned out to need none.
     */
    public void useMemory(long bytes) {
        table.close();
        memoryBytes = bytes;
        table = new GroupTable(options, bytes, meter);
    }

    @Override
    public void open() {
        clear();
    }

    private void clear() {
        // notes of before are told from later ones; once there are no more numbers none is believed
        generation = Math.min(generation + 1, GENERATIONS);
        table.clear();
        if (batches != null) {
            batches.clear();
        }
        isAtWhole = false;
    }

    @Override
    public boolean frame(Frame frame) {
        for (int i = 0; i < frame.tupleCount(); i++) {
            frame.field(i, 0, key);
            if (states != null) {
                frame.field(i, 1, arguments);
            }
            add();
        }
        return true;
    }

    @Override
    public boolean tuple(Slice[] tuple) {
        key.set(tuple[0]);
        if (states != null) {
            arguments.set(tuple[1]);
        }
        add();
        return true;
    }

    @Override
    public @Nullable BatchTaker taking(TupleMaker maker, RecordType type) {
        int[] fields = maker.keyFields();
        GroupStates of = states;
        if (fields == null || !KeyWords.fit(type, fields) || !takesBatches()) {
            return null;
        }
        ArgumentColumns columns = null;
        if (of != null) {
            columns = maker instanceof AggregateTuples tuples ? tuples.columns() : null;
            if (columns == null) {
                return null;
            }
        }
        GroupedRecords records = new GroupedRecords(maker, type, fields, columns);
        return batch -> {
            take(records.show(batch));
            return true;
        };
    }

    /** Whether rows may be taken by batches: all states are numbers. */
    public boolean takesBatches() {
        return states == null || states.takesColumns();
    }

    /** Takes rows as if the tuple of each were given, in their order. */
    public void take(GroupedBatch batch) {
        GroupBatches groups = batches;
        if (groups == null) {
            groups = new GroupBatches(table, batch.wordCount(), states, memoryBytes);
            batches = groups;
        }
        if (!groups.begin(batch)) {
            for (int row = 0; row < batch.count(); row++) {
                tuple(batch.tuple(row));
            }
            return;
        }
        // its states are moved
        isAtWhole = false;
        int from = 0;
        while (from < batch.count()) {
            int to = groups.take(batch, from);
            for (int row = from; row < to; row++) {
                if (groups.isLeft(row)) {
                    tuple(batch.tuple(row));
                }
            }
            if (to < batch.count()) {
                // makes room, or says that there is none
                tuple(batch.tuple(to));
                to++;
            }
            from = to;
        }
    }

    /**
     * Takes a tuple as {@link #tuple}, of a caller who has others of the same group.
     *
     * @return a note of where the group is, for {@link #addNoted}; 0: none
     */
    public long add(Slice group, Slice newArguments) {
        key.set(group);
        arguments.set(newArguments);
        taken = SortBuffer.NONE;
        add();
        return taken == SortBuffer.NONE || generation == GENERATIONS
                ? 0
                : (long) generation << NOTE_BITS | (taken + 1);
    }

    /** Whether {@link #add} may give notes: where different values are counted it never does. */
    public boolean givesNotes() {
        return states == null || states.distinctCount() == 0;
    }

    /**
     * Takes a tuple of a group that was noted.
     *
     * @return false, and nothing is taken, where the note is too old or the group has no room
     */
    public boolean addNoted(long note, Slice newArguments) {
        if (note == 0 || note >>> NOTE_BITS != generation) {
            return false;
        }
        long entry = (note & NOTE_MASK) - 1;
        GroupStates of = states;
        if (of == null) {
            table.count(entry, 1);
            return true;
        }
        if (!of.takes(table.states(entry, groupStates), newArguments)) {
            return false;
        }
        isAtWhole = false;
        addTo(entry, of, newArguments);
        return true;
    }

    /** Adds a row to an entry whose states are {@link #groupStates} and have room for it. */
    private void addTo(long entry, GroupStates of, Slice newArguments) {
        long group = batches == null ? 0 : table.number(entry);
        if (group == 0 || batches == null) {
            of.add(groupStates, newArguments);
        } else {
            batches.moveBack(group, groupStates);
            of.add(groupStates, newArguments);
            batches.moveHere(group, groupStates);
        }
    }

    private void add() {
        if (take() || (batches != null && batches.giveUp() && take())) {
            return;
        }
        makeRoom();
        if (!take()) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT,
                    "a group of %,d bytes does not fit the %,d bytes that grouping may use: raise memoryBytesMax%s",
                    key.length() + arguments.length(),
                    memoryBytes,
                    options.others()));
        }
    }

    /** Takes a tuple; false where there is no memory for it, and it may be taken once more. */
    private boolean take() {
        if (states != null) {
            return takeStates(states);
        }
        taken = table.count(key);
        return taken != SortBuffer.FULL;
    }

    private boolean takeStates(GroupStates of) {
        Slice group = key;
        if (of.distinctCount() > 0) {
            // first the values, which it does no harm to take once more
            for (int i = 0; i < of.distinctCount(); i++) {
                taggedBytes.clear().putBytes(key).putByte(GROUP + 1 + i);
                if (of.appendDistinct(i, arguments, taggedBytes)
                        && !table.contain(taggedBytes.asSlice(tagged))) {
                    return false;
                }
            }
            group = taggedBytes.clear().putBytes(key).putByte(GROUP).asSlice(tagged);
        }
        if (isAtWhole && group.length() == 0 && of.takes(groupStates, arguments)) {
            of.add(groupStates, arguments);
            return true;
        }
        long entry = table.find(group);
        if (entry == SortBuffer.NONE) {
            entry = table.add(group, of.first(arguments));
        } else if (!of.takes(table.states(entry, groupStates), arguments)) {
            entry = table.replace(group, entry, of.larger(groupStates, arguments));
        }
        if (entry == SortBuffer.FULL) {
            return false;
        }
        table.states(entry, groupStates);
        addTo(entry, of, arguments);
        isAtWhole = group.length() == 0 && table.number(entry) == 0;
        taken = of.distinctCount() > 0 ? SortBuffer.NONE : entry;
        return true;
    }

    @Override
    public void fail() {
        release();
    }

    /** The end of the frames; what was collected stays until {@link #release()}. */
    @Override
    public void close() {
        key.clear();
        arguments.clear();
    }

    /** Inputs in key order with counts as numbers, or states; one key may be in several. */
    List<SortedInput> inputs() {
        if (runs == null) {
            flush();
            return List.of(table.entries().sorted());
        }
        spill(runs);
        batches = null;
        table.close();
        return runs.inputs();
    }

    /** Frees memory and deletes runs; once more does no harm. */
    void release() {
        batches = null;
        table.close();
        if (runs != null) {
            runs.close();
            runs = null;
        }
    }

    private void makeRoom() {
        if (runs == null) {
            if (options.spill() == null) {
                throw new InvalidRequestException(String.format(
                        Locale.ROOT,
                        "%,d groups and more need more than %,d bytes of memory: narrow the query, raise memoryBytesMax or give a directory to spill to",
                        table.groupCount(),
                        memoryBytes));
            }
            runs = new SpilledRuns(options, memoryBytes, meter);
        }
        spill(runs);
    }

    /** Has what batches brought in the table, and no group of theirs any more. */
    private void flush() {
        if (batches != null) {
            batches.flush();
        }
    }

    private void spill(SpilledRuns to) {
        flush();
        to.add(table.entries(), Long.MAX_VALUE);
        clear();
    }
}
