package io.turbidite.ops.plan;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Conditions;
import io.turbidite.ops.expr.Predicate;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A query that has been checked but for the values of its parameters: what it takes from one run to
 * the next.
 *
 * <p>Names are resolved and parts checked against a record type, once; for a source that has got
 * another type they are checked again. The way in is chosen in each run, by the values and by the
 * indexes of the view: where there is one that costs next to nothing, and where there are several
 * it depends on the values which is the best. So a change of indexes needs no notice.
 * <em>Thread-safe:</em> immutable but for what was checked last, which any thread may replace.
 */
public final class PreparedPlan {
    private final QueryRequest request;
    private final List<String> parameters;

    /**
     * The request against the type that was last seen, with the conditions that have no parameters.
     */
    private volatile CheckedQuery checked;

    private PreparedPlan(QueryRequest request, List<String> parameters, CheckedQuery checked) {
        this.request = request;
        this.parameters = List.copyOf(parameters);
        this.checked = checked;
    }

    /**
     * Checks a request against a source.
     *
     * @throws InvalidRequestException if something of it does not fit, whatever the values will be
     */
    public static PreparedPlan of(QueryRequest request, Source source) {
        List<String> parameters = new ArrayList<>();
        for (Predicate predicate : request.predicates()) {
            switch (predicate) {
                case Predicate.Eq(var _, Object value) -> add(value, parameters);
                case Predicate.Range(var _, Object low, Object high) -> {
                    add(low, parameters);
                    add(high, parameters);
                }
                case Predicate.Within _,
                        Predicate.Across _,
                        Predicate.Distance _,
                        Predicate.Contains _,
                        Predicate.Matches _ -> {}
            }
        }
        Conditions.collectParameters(request.where(), parameters);
        return new PreparedPlan(request, parameters, check(request, source));
    }

    private static void add(@Nullable Object value, List<String> parameters) {
        Predicate.Parameter parameter = Predicate.Excluded.parameterOf(value);
        if (parameter != null && !parameters.contains(parameter.name())) {
            parameters.add(parameter.name());
        }
    }

    private static CheckedQuery check(QueryRequest request, Source source) {
        RecordType type = source.type();
        Conditions.checkFields(type, request.predicates());
        List<Predicate> constant = new ArrayList<>();
        for (Predicate predicate : request.predicates()) {
            boolean isOpen = switch (predicate) {
                case Predicate.Eq(var _, Object value) -> value instanceof Predicate.Parameter;
                case Predicate.Range(var _, Object low, Object high) -> isOpen(low) || isOpen(high);
                case Predicate.Within _,
                        Predicate.Across _,
                        Predicate.Distance _,
                        Predicate.Contains _,
                        Predicate.Matches _ -> false;
            };
            if (!isOpen) {
                constant.add(predicate);
            }
        }
        Conditions.checkWhere(type, request.where());
        List<Expression> fixed = new ArrayList<>();
        for (Expression condition : request.where()) {
            List<String> names = new ArrayList<>(0);
            Conditions.collectParameters(List.of(condition), names);
            if (names.isEmpty()) {
                fixed.add(condition);
            }
        }
        return CheckedQuery.of(request, source, Conditions.of(type, constant, fixed, Map.of()));
    }

    /** Names of the parameters, in the order in which the predicates first name them. */
    public List<String> parameters() {
        return parameters;
    }

    /**
     * Plans a run.
     *
     * @param view of the source that the request was checked against
     * @param values of the parameters, in their order; null as in predicates
     * @throws InvalidRequestException if their number is another, or one does not fit its field
     */
    public Plan bind(ReadView view, RunOptions options, @Nullable Object[] values) {
        if (values.length != parameters.size()) {
            throw new InvalidRequestException("the parameters are %s: %d values were given"
                    .formatted(parameters, values.length));
        }
        CheckedQuery query = checked;
        RecordType type = view.source().type();
        if (!query.type().equals(type)) {
            query = check(request, view.source());
            checked = query;
        }
        List<Predicate> bound = bound(values);
        Conditions conditions = request.where().isEmpty()
                ? Conditions.of(query.type(), bound)
                : Conditions.of(query.type(), bound, request.where(), byName(values));
        return Plan.of(query.with(conditions), request.access(), view, options);
    }

    private Map<String, @Nullable Object> byName(@Nullable Object[] values) {
        Map<String, @Nullable Object> named = new HashMap<>();
        for (int i = 0; i < values.length; i++) {
            named.put(parameters.get(i), values[i]);
        }
        return named;
    }

    private List<Predicate> bound(@Nullable Object[] values) {
        List<Predicate> open = request.predicates();
        if (open.size() == 1) {
            return List.of(bind(open.getFirst(), values));
        }
        List<Predicate> bound = new ArrayList<>(open.size());
        for (int i = 0; i < open.size(); i++) {
            bound.add(bind(open.get(i), values));
        }
        return bound;
    }

    private Predicate bind(Predicate predicate, @Nullable Object[] values) {
        return switch (predicate) {
            case Predicate.Eq(String field, Object value)
            when value instanceof Predicate.Parameter ->
                new Predicate.Eq(field, bind(value, values));
            case Predicate.Range(String field, Object low, Object high)
            when isOpen(low) || isOpen(high) ->
                new Predicate.Range(field, bind(low, values), bind(high, values));
            case Predicate.Eq _,
                    Predicate.Range _,
                    Predicate.Within _,
                    Predicate.Across _,
                    Predicate.Distance _,
                    Predicate.Contains _,
                    Predicate.Matches _ -> predicate;
        };
    }

    private static boolean isOpen(@Nullable Object bound) {
        return Predicate.Excluded.parameterOf(bound) != null;
    }

    private @Nullable Object bind(@Nullable Object bound, @Nullable Object[] values) {
        Predicate.Parameter parameter = Predicate.Excluded.parameterOf(bound);
        return parameter == null
                ? bound
                : Predicate.Excluded.replaced(bound, values[parameters.indexOf(parameter.name())]);
    }
}
