package io.turbidite.ops.aggregate;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.expression.TypedExpression;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The aggregates of a query, bound to the type of its records. <em>Immutable.</em>
 *
 * @param type of the records
 * @param bound the aggregates, in the order of the rows
 * @param arguments what they need of a record, each once
 */
public record BoundAggregates(RecordType type, List<Bound> bound, List<Argument> arguments) {
    /** Most aggregates of one query; a tag of one byte tells their values apart. */
    public static final int COUNT_MAX = 64;

    /** No aggregates. */
    public static final BoundAggregates NONE =
            new BoundAggregates(RecordType.of(List.of()), List.of(), List.of());

    /**
     * Something that aggregates are made of.
     *
     * @param field index of a declared field, where it is one
     * @param expression null where it is a field
     */
    public record Argument(
            int field, TypeKind kind, @Nullable TypedExpression expression) {
        /** A declared field of one value. */
        public static Argument ofField(RecordType type, int field) {
            return new Argument(field, type.field(field).kind(), null);
        }

        /** What an expression comes to. */
        public static Argument of(TypedExpression expression) {
            return new Argument(-1, expression.kind(), expression);
        }
    }

    /**
     * One of them.
     *
     * @param argument index of its argument; of a count of records {@code -1}
     * @param kind of the argument
     * @param resultKind of the result
     */
    public record Bound(
            Aggregate aggregate,
            int argument,
            TypeKind kind,
            TypeKind resultKind,
            @Nullable BoundListing listing) {}

    /**
     * How values are listed.
     *
     * @param keys what they are ordered by
     * @param condition the argument that is true of records whose value is listed; {@code -1}: all
     */
    public record BoundListing(List<Key> keys, int condition) {
        /** An argument to order by. */
        public record Key(int argument, TypeKind kind, boolean isDescending, boolean nullsAbove) {}

        /** Copies its list. */
        public BoundListing {
            keys = List.copyOf(keys);
        }
    }

    public BoundAggregates {
        bound = List.copyOf(bound);
        arguments = List.copyOf(arguments);
    }

    /**
     * Checks aggregates.
     *
     * @param argumentOf finds what an aggregate names, or refuses it
     * @throws InvalidRequestException if there are too many, one does not take the values of its
     *     field, or two have one name
     */
    public static BoundAggregates of(
            RecordType type, List<Aggregate> aggregates, Function<String, Argument> argumentOf) {
        if (aggregates.size() > COUNT_MAX) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT,
                    "%,d aggregates are more than the limit of %d",
                    aggregates.size(),
                    COUNT_MAX));
        }
        List<Bound> bound = new ArrayList<>();
        List<Argument> arguments = new ArrayList<>();
        for (Aggregate aggregate : aggregates) {
            String name = aggregate.field();
            if (name == null) {
                bound.add(new Bound(
                        aggregate, Accumulators.Count.ROWS, TypeKind.INT64, TypeKind.INT64, null));
                continue;
            }
            Argument argument = argumentOf.apply(name);
            bound.add(new Bound(
                    aggregate,
                    place(argument, arguments),
                    argument.kind(),
                    aggregate.function().resultKind(argument.kind(), name),
                    aggregate.function().lists()
                            ? listing(aggregate.listing(), arguments, argumentOf)
                            : null));
        }
        if (arguments.size() > ArgumentFormat.COUNT_MAX) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT,
                    "%,d values that are aggregated, or ordered by in aggregates, are more than the limit of %d",
                    arguments.size(),
                    ArgumentFormat.COUNT_MAX));
        }
        return new BoundAggregates(type, bound, arguments);
    }

    private static int place(Argument argument, List<Argument> arguments) {
        if (!arguments.contains(argument)) {
            arguments.add(argument);
        }
        return arguments.indexOf(argument);
    }

    private static BoundListing listing(
            Aggregate.Listing listing,
            List<Argument> arguments,
            Function<String, Argument> argumentOf) {
        List<BoundListing.Key> keys = new ArrayList<>();
        for (Aggregate.Listing.By by : listing.order()) {
            Argument argument = argumentOf.apply(by.field());
            if (!argument.kind().isScalar() || argument.kind().isSpatial()) {
                throw new InvalidRequestException("'%s', which is %s, has no order to list by"
                        .formatted(by.field(), argument.kind().label()));
            }
            keys.add(new BoundListing.Key(
                    place(argument, arguments),
                    argument.kind(),
                    by.isDescending(),
                    by.nullsAbove()));
        }
        String condition = listing.condition();
        return new BoundListing(
                keys,
                condition == null
                        ? -1
                        : place(
                                argumentOf.apply("case when %s then true end".formatted(condition)),
                                arguments));
    }

    /** Whether there are none. */
    public boolean isEmpty() {
        return bound.isEmpty();
    }

    /** How many there are. */
    public int count() {
        return bound.size();
    }

    /** Whether each counts the records, whatever is in them. */
    public boolean countRecordsAlone() {
        return !bound.isEmpty()
                && bound.stream().allMatch(one -> one.argument == Accumulators.Count.ROWS);
    }

    /** The names of the results. */
    public List<String> names() {
        return bound.stream().map(one -> one.aggregate().name()).toList();
    }

    /** The fields of rows that have the results: those that count are always there. */
    public List<Field> resultFields() {
        List<Field> fields = new ArrayList<>();
        for (Bound one : bound) {
            boolean isCount = switch (one.aggregate().function()) {
                case COUNT, COUNT_DISTINCT -> true;
                default -> false;
            };
            String name = one.aggregate().name();
            fields.add(
                    one.resultKind() == TypeKind.ARRAY
                            ? Field.array(name, one.kind(), true)
                            : new Field(name, one.resultKind(), !isCount));
        }
        return List.copyOf(fields);
    }

    /** Makes tuples of a group key and the arguments, for one thread. */
    public TupleMaker maker(TupleMaker keys) {
        return new AggregateTuples(keys, type, arguments);
    }

    /** States for one thread. */
    public GroupStates states() {
        List<Accumulator> all = new ArrayList<>();
        List<AggregateValue> results = new ArrayList<>();
        List<GroupStates.Distinct> distinct = new ArrayList<>();
        int offset = 0;
        for (Bound one : bound) {
            if (one.aggregate().function() == Aggregate.Function.COUNT_DISTINCT) {
                distinct.add(new GroupStates.Distinct(
                        all.size(), one.argument(), ArgumentFormat.Form.of(one.kind())));
            }
            Accumulator accumulator = accumulator(one, offset);
            offset += GroupStates.stateBytes(accumulator);
            all.add(accumulator);
            results.add(new AggregateValue(one.resultKind()));
        }
        return new GroupStates(all, results, distinct);
    }

    private static Accumulator accumulator(Bound one, int offset) {
        int argument = one.argument();
        ArgumentFormat.Form form = ArgumentFormat.Form.of(one.kind());
        return switch (one.aggregate().function()) {
            case COUNT -> new Accumulators.Count(offset, argument);
            case COUNT_DISTINCT -> new Accumulators.Count(offset, Accumulators.Count.GIVEN);
            case SUM -> sum(one, offset, false);
            case AVG -> sum(one, offset, true);
            case MIN -> extreme(one, offset, false);
            case MAX -> extreme(one, offset, true);
            case VAR -> new Accumulators.Moments(offset, argument, form, false, new Slice());
            case STDDEV -> new Accumulators.Moments(offset, argument, form, true, new Slice());
            case ARRAY_AGG, STRING_AGG, PERCENTILE_CONT, PERCENTILE_DISC ->
                new ListAccumulator(offset, one);
        };
    }

    private static Accumulator sum(Bound one, int offset, boolean isMean) {
        String field = String.valueOf(one.aggregate().field());
        return switch (ArgumentFormat.Form.of(one.kind())) {
            case NUMBER ->
                new Accumulators.LongSum(offset, one.argument(), isMean, one.resultKind(), field);
            case DOUBLE -> new Accumulators.DoubleSum(offset, one.argument(), isMean);
            case TEXT, KEY, PRESENCE ->
                new BytesAccumulator(
                        offset,
                        one.argument(),
                        isMean ? BytesAccumulator.Fold.MEAN : BytesAccumulator.Fold.SUM,
                        field);
        };
    }

    private static Accumulator extreme(Bound one, int offset, boolean isMax) {
        return switch (ArgumentFormat.Form.of(one.kind())) {
            case NUMBER -> new Accumulators.NumberExtreme(offset, one.argument(), isMax);
            case DOUBLE -> new Accumulators.DoubleExtreme(offset, one.argument(), isMax);
            case TEXT, KEY, PRESENCE ->
                new BytesAccumulator(
                        offset,
                        one.argument(),
                        isMax ? BytesAccumulator.Fold.MAX : BytesAccumulator.Fold.MIN,
                        String.valueOf(one.aggregate().field()));
        };
    }

    /** As people write them: {@code sum(delay), max(delay)}. */
    @Override
    public String toString() {
        return bound.stream()
                .map(one -> one.aggregate().toString())
                .collect(Collectors.joining(", "));
    }
}
