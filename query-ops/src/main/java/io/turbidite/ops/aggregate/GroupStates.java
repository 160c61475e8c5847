package io.turbidite.ops.aggregate;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordWriter;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The states of all aggregates of a query, for one group after the other: as many bytes, wherever
 * they lie, with the values of any length behind them.
 *
 * <p>Partial half: {@link #first} and {@link #larger} make states for whoever keeps them, {@link
 * #add} takes a row. States whose room does not do for a row stay as they are; the row goes into
 * larger, empty ones of the same group, and the final half has both. Final half: {@link #begin},
 * {@link #merge} and {@link #countDistinct} put together one group here, {@link #write} and {@link
 * #appendKey} give its results.
 *
 * <p><em>Confined to one thread.</em>
 */
public final class GroupStates {
    private static final int ROUNDED_TO = 8;

    /** An aggregate that counts different values, and how its argument comes. */
    record Distinct(int aggregate, int argument, ArgumentFormat.Form form) {}

    private final Accumulator[] all;
    private final VariableAccumulator[] variable;
    private final AggregateValue[] results;

    /** All of them; empty where one does not take columns. */
    private final ColumnAccumulator[] columnar;

    /** Arguments whose different values are counted, and the aggregate that each is for. */
    private final int[] distinctArguments;

    private final int[] distinctAggregates;
    private final ArgumentFormat.Form[] distinctForms;
    private final int fixedBytes;
    private final int[] capacities;
    private final ByteSink made = new ByteSink(256, Integer.MAX_VALUE - 8);
    private final Slice madeStates = new Slice();
    private ByteSink merged = new ByteSink(256, Integer.MAX_VALUE - 8);
    private ByteSink spare = new ByteSink(256, Integer.MAX_VALUE - 8);
    private final Slice states = new Slice();
    private final Slice before = new Slice();

    /**
     * @param all in the order of their states
     * @param distinct the aggregates that count different values
     */
    GroupStates(List<Accumulator> all, List<AggregateValue> results, List<Distinct> distinct) {
        this.all = all.toArray(Accumulator[]::new);
        this.variable = all.stream()
                .filter(VariableAccumulator.class::isInstance)
                .toArray(VariableAccumulator[]::new);
        this.columnar = columnar(all, distinct);
        this.results = results.toArray(AggregateValue[]::new);
        this.distinctAggregates =
                distinct.stream().mapToInt(Distinct::aggregate).toArray();
        this.distinctArguments = distinct.stream().mapToInt(Distinct::argument).toArray();
        this.distinctForms =
                distinct.stream().map(Distinct::form).toArray(ArgumentFormat.Form[]::new);
        this.fixedBytes = all.stream().mapToInt(GroupStates::stateBytes).sum();
        this.capacities = new int[variable.length];
    }

    private static ColumnAccumulator[] columnar(List<Accumulator> all, List<Distinct> distinct) {
        List<ColumnAccumulator> taking = new ArrayList<>();
        for (Accumulator one : all) {
            if (one instanceof ColumnAccumulator column && column.takesColumns()) {
                taking.add(column);
            }
        }
        boolean takeAll = distinct.isEmpty() && taking.size() == all.size();
        return takeAll ? taking.toArray(ColumnAccumulator[]::new) : new ColumnAccumulator[0];
    }

    // ---- partial --------------------------------------------------------------------------------

    /** How many aggregates count different values, which the caller has to find. */
    public int distinctCount() {
        return distinctArguments.length;
    }

    /** Appends the value that one of them is to count; false if the row has none. */
    public boolean appendDistinct(int distinct, Slice arguments, ByteSink to) {
        int argument = distinctArguments[distinct];
        if (!ArgumentFormat.isPresent(arguments, argument)) {
            return false;
        }
        switch (distinctForms[distinct]) {
            case NUMBER, DOUBLE -> to.putLong(ArgumentFormat.number(arguments, argument));
            case TEXT, KEY -> to.putBytes(ArgumentFormat.bytes(arguments, argument, before));
            case PRESENCE -> throw new IllegalStateException("values that are not simple");
        }
        return true;
    }

    /** New states with room for a row, which is not added; valid until the next call. */
    public Slice first(Slice arguments) {
        return larger(null, arguments);
    }

    /** Whether states have room for a row. */
    public boolean takes(Slice groupStates, Slice arguments) {
        for (VariableAccumulator one : variable) {
            if (one.lengthWith(groupStates, arguments) > one.capacity(groupStates)) {
                return false;
            }
        }
        return true;
    }

    /**
     * New states with room for a row, and as much as others had.
     *
     * @param others null: none
     */
    public Slice larger(@Nullable Slice others, Slice arguments) {
        for (int i = 0; i < variable.length; i++) {
            int length = variable[i].lengthWith(null, arguments);
            int had = others == null ? 0 : variable[i].capacity(others);
            capacities[i] = rounded(variable[i].capacityFor(had, length));
        }
        return empty(made, madeStates);
    }

    /** Takes a row that {@link #takes} has found to fit. */
    public void add(Slice groupStates, Slice arguments) {
        for (Accumulator one : all) {
            one.add(groupStates, arguments);
        }
    }

    /** Whether {@link #addAll} may be called: all states are numbers. */
    public boolean takesColumns() {
        return columnar.length > 0;
    }

    /** How many words the states of a group are. */
    public int words() {
        return fixedBytes / Long.BYTES;
    }

    /**
     * Takes rows, in their order, into states that lie in an array; all zeros are those of no row.
     *
     * @param all states of many groups
     * @param places where the states of each row's group begin
     * @param from the first row, as the columns count them
     * @param to behind the last one
     */
    public void addAll(long[] all, int[] places, int from, int to, ArgumentColumns arguments) {
        for (ColumnAccumulator one : columnar) {
            one.addAll(all, places, from, to, arguments);
        }
    }

    /** New states of no row, of aggregates whose states are numbers; valid until the next call. */
    public Slice empty() {
        assert variable.length == 0 : variable.length;
        return empty(made, madeStates);
    }

    /** Copies states to where they begin in an array of those of many groups. */
    public void load(Slice from, long[] to, int place) {
        for (int i = 0; i < words(); i++) {
            to[place + i] = from.segment().get(Bytes.I64, from.offset() + (long) i * Long.BYTES);
        }
    }

    /** Copies states from where they begin in an array of those of many groups. */
    public void store(long[] from, int place, Slice to) {
        for (int i = 0; i < words(); i++) {
            to.segment().set(Bytes.I64, to.offset() + (long) i * Long.BYTES, from[place + i]);
        }
    }

    private static int rounded(long bytes) {
        return (int) Math.min(Integer.MAX_VALUE - 8, bytes + ROUNDED_TO - 1) & -ROUNDED_TO;
    }

    /** States of no row, with room as the capacities say. */
    private Slice empty(ByteSink sink, Slice to) {
        int bytes = fixedBytes;
        for (int capacity : capacities) {
            bytes = Math.addExact(bytes, capacity);
        }
        sink.clear().reserve(bytes);
        for (int at = 0; at < fixedBytes; at += Long.BYTES) {
            sink.segment().set(Bytes.I64, at, 0);
        }
        sink.asSlice(to);
        int place = fixedBytes;
        for (int i = 0; i < variable.length; i++) {
            variable[i].place(to, place, capacities[i]);
            place += capacities[i];
        }
        return to;
    }

    // ---- final ----------------------------------------------------------------------------------

    /** Begins a group of which nothing is known. */
    public void begin() {
        Arrays.fill(capacities, 0);
        empty(merged, states);
    }

    /** Takes what some states of the group were given. */
    public void merge(Slice others) {
        makeRoom(others);
        for (Accumulator one : all) {
            one.merge(states, others);
        }
    }

    private void makeRoom(Slice others) {
        boolean fits = true;
        for (int i = 0; i < variable.length; i++) {
            int length = variable[i].lengthWithAll(states, others);
            capacities[i] = variable[i].capacity(states);
            if (length > capacities[i]) {
                capacities[i] = rounded(length * 2L);
                fits = false;
            }
        }
        if (fits) {
            return;
        }
        before.set(states);
        ByteSink old = merged;
        merged = spare;
        spare = old;
        empty(merged, states);
        // the places of the values are new ones, all other numbers stay
        for (VariableAccumulator one : variable) {
            one.copy(states, before);
        }
        copyNumbers();
    }

    private void copyNumbers() {
        int at = 0;
        for (Accumulator one : all) {
            int bytes = stateBytes(one);
            if (!(one instanceof VariableAccumulator)) {
                MemorySegment.copy(
                        before.segment(),
                        before.offset() + at,
                        states.segment(),
                        states.offset() + at,
                        bytes);
            }
            at += bytes;
        }
    }

    static int stateBytes(Accumulator one) {
        return switch (one) {
            case Accumulators.Count _ -> Accumulators.Count.STATE_BYTES;
            case Accumulators.LongSum _ -> Accumulators.LongSum.STATE_BYTES;
            case Accumulators.DoubleSum _ -> Accumulators.DoubleSum.STATE_BYTES;
            case Accumulators.NumberExtreme _ -> Accumulators.NumberExtreme.STATE_BYTES;
            case Accumulators.DoubleExtreme _ -> Accumulators.DoubleExtreme.STATE_BYTES;
            case Accumulators.Moments _ -> Accumulators.Moments.STATE_BYTES;
            case BytesAccumulator _, ListAccumulator _ -> BytesAccumulator.STATE_BYTES;
        };
    }

    /** Counts one more different value of the group. */
    public void countDistinct(int distinct) {
        if (all[distinctAggregates[distinct]] instanceof Accumulators.Count count) {
            count.increment(states);
        }
    }

    /**
     * Works out the results of the group.
     *
     * @throws io.turbidite.core.InvalidRequestException if one does not fit its type
     */
    public void finish() {
        for (int i = 0; i < all.length; i++) {
            all[i].finish(states, results[i]);
        }
    }

    /** Puts a result into a row. */
    public void write(int aggregate, RecordWriter row, int field) {
        results[aggregate].write(row, field);
    }

    /** Appends the key of a result. */
    public void appendKey(int aggregate, ByteSink to) {
        results[aggregate].appendKey(to);
    }
}
