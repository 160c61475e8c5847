package io.turbidite.ops.sql;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.PreparedQuery;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import org.apache.calcite.rex.RexNode;
import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * A statement that is one query of one source, whose parameters compare fields: prepared once, run
 * with values. <em>Immutable.</em>
 */
final class Template {
    /** Beyond it not every whole number is a double. */
    private static final long EXACT_MAX = 1L << 53;

    private final SourceAndView source;
    private final PreparedQuery query;

    /** The same without rows. */
    private final PreparedQuery none;

    /** For each parameter of the query its index in the statement, and what it is compared with. */
    private final List<Value> values;

    private record Value(
            int index,
            TypeKind kind,
            boolean isStrict,
            @Nullable Object sample) {}

    private Template(
            SourceAndView source, PreparedQuery query, PreparedQuery none, List<Value> values) {
        this.source = source;
        this.query = query;
        this.none = none;
        this.values = values;
    }

    /** The template of a statement; null if it is no such query. */
    static @Nullable Template of(Planned planned) {
        List<SourceAndView> read = new ArrayList<>();
        UnaryOperator<SourceAndView> reading = source -> {
            read.add(source);
            return source;
        };
        List<Parameter.Open> open =
                planned.parameters().stream().map(Parameter.Open::new).toList();
        try {
            if (!(planned.compiled(reading, List.<RexNode>copyOf(open)) instanceof Query made)
                    || read.size() != 1) {
                return null;
            }
            PreparedQuery query = made.prepare();
            RecordType type = read.getFirst().source().type();
            List<Value> values = new ArrayList<>();
            for (String name : query.parameters()) {
                Parameter.Open parameter = named(open, name);
                values.add(value(parameter, planned.parameters().get(parameter.getIndex()), type));
            }
            return values.size() < open.size()
                    ? null
                    : new Template(read.getFirst(), query, made.limit(0).prepare(), values);
        } catch (InvalidRequestException _) {
            // it is compiled for each run, which says what is wrong if anything is
            return null;
        }
    }

    private static Parameter.Open named(List<Parameter.Open> open, String name) {
        return open.stream()
                .filter(parameter -> parameter.parameterName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static Value value(Parameter.Open parameter, Parameter of, RecordType type) {
        if (parameter.fields().size() != 1) {
            throw Terms.unsupported("a parameter of several fields");
        }
        int field = type.indexOf(parameter.fields().getFirst());
        TypeKind kind = type.field(field).kind();
        return new Value(of.index(), kind, parameter.isStrict(), ofField(kind, of.sample()));
    }

    /** Starts it; null if a value has no counterpart of its field's type. */
    @Nullable
    QueryResult run(
            UnaryOperator<SourceAndView> reading, RunOptions options, @Nullable Object[] checked) {
        @Nullable Object[] bound = new @Nullable Object[values.size()];
        boolean isEmpty = false;
        for (int i = 0; i < bound.length; i++) {
            Value value = values.get(i);
            Object given = checked[value.index];
            if (given == null) {
                if (!value.isStrict) {
                    return null;
                }
                isEmpty = true;
            }
            bound[i] = given == null ? value.sample : ofField(value.kind, given);
            if (bound[i] == null) {
                return null;
            }
        }
        SourceAndView read = reading.apply(source);
        PreparedQuery asked = (isEmpty ? none : query).with(options);
        return read.view() == null ? asked.run(bound) : asked.runOn(read.view(), bound);
    }

    /** The value of a field that equals a value; null if it is not sure that there is one. */
    private static @Nullable Object ofField(TypeKind kind, Object value) {
        return switch (kind) {
            case INT8, INT16, INT32, INT64 ->
                value instanceof Long number && KindValues.inRange(kind, number)
                        ? KindValues.fromLong(kind, number)
                        : null;
            case DOUBLE ->
                switch (value) {
                    // one zero: what is compared with a constant is a number
                    case Double number when Double.isFinite(number) -> number + 0.0;
                    case Long number when Math.abs(number) < EXACT_MAX -> (double) number;
                    default -> null;
                };
            case DECIMAL ->
                switch (value) {
                    case BigDecimal number -> number;
                    case Long number -> BigDecimal.valueOf(number);
                    default -> null;
                };
            case BOOL, STRING, BINARY, UUID, DATE, TIME, DATETIME, DURATION -> value;
            case FLOAT, POINT, LONLAT, RECTANGLE, ARRAY, RECORD -> null;
        };
    }
}
