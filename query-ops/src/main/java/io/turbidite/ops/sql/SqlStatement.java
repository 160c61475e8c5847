package io.turbidite.ops.sql;

import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.Explanation;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.Relation;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * A statement that has been checked and planned. It may be run often, with other values for its
 * parameters ({@code ?}) each time:
 *
 * <pre>{@code
 * SqlStatement byTail = Sql.on(flights).statement("select dest from Flights where tailnum = ?");
 * try (QueryResult rows = byTail.run(RunOptions.defaults(), "N14228")) { … }
 * }</pre>
 *
 * <p>Each run chooses its index by its values, so indexes may come and go between runs. Where a
 * source has got another type, the next run plans the statement anew. <em>Confined to one
 * thread.</em>
 */
public final class SqlStatement {
    private Planned planned;

    SqlStatement(Planned planned) {
        this.planned = planned;
    }

    /** A column of the answer. */
    public record Column(String name, String type) {}

    /**
     * The tree of queries and joins that it was compiled to.
     *
     * @throws SqlException if it has parameters: the tree depends on their values
     */
    public Relation relation() {
        checked();
        return planned.sample();
    }

    /** What the rows have. */
    public RecordType type() {
        return planned.sample().type();
    }

    /** The columns of the answer, with the names of their types in SQL. */
    public List<Column> columns() {
        return type().declared().stream()
                .map(field -> new Column(field.name(), Types.label(field)))
                .toList();
    }

    /** The types of the parameters by the names that SQL has for them, in the order of their places. */
    public List<String> parameters() {
        return planned.parameters().stream().map(Parameter::label).toList();
    }

    /** Whether the statement begins with {@code EXPLAIN}: it asks for {@link #explanation}. */
    public boolean explains() {
        return planned.text().explains();
    }

    /** Whether its rows come in an order that it asks for. */
    public boolean isOrdered() {
        return planned.isOrdered();
    }

    /** Starts it; close the result. */
    public QueryResult run() {
        return run(RunOptions.defaults());
    }

    /**
     * Starts it within limits; close the result.
     *
     * @param values of the parameters, in their order: Java's class for the type, or one that
     *     widens to it. Times are cut to microseconds. A null is one of SQL: what compares with it
     *     is unknown
     * @throws SqlException naming the parameter, if there are too many or too few values, or one
     *     is of another type or out of range
     */
    public QueryResult run(RunOptions options, @Nullable Object... values) {
        planned = planned.current();
        return planned.run(UnaryOperator.identity(), options, checked(values));
    }

    /**
     * As {@link #run(RunOptions, Object...)}, at moments that the caller has, and closes after the
     * result.
     *
     * @param moments the view of each source; views of one snapshot show one moment
     */
    public QueryResult runAt(
            Function<? super Source, ? extends ReadView> moments,
            RunOptions options,
            @Nullable Object... values) {
        planned = planned.current();
        return planned.run(
                read -> new SourceAndView(read.source(), moments.apply(read.source())),
                options,
                checked(values));
    }

    /** How it is answered; for {@code EXPLAIN ANALYZE} it runs, and rows are counted. */
    public Explanation explanation(RunOptions options, @Nullable Object... values) {
        planned = planned.current();
        Relation asked =
                planned.relation(UnaryOperator.identity(), checked(values)).with(options);
        if (!planned.text().analyzes()) {
            return asked.explain();
        }
        try (QueryResult rows = asked.run()) {
            while (rows.next()) {
                // the steps count them
            }
            return rows.explain();
        }
    }

    private @Nullable Object[] checked(@Nullable Object... values) {
        List<Parameter> parameters = planned.parameters();
        if (values.length != parameters.size()) {
            throw SqlException.of("the statement has %d parameters, %d values were given"
                    .formatted(parameters.size(), values.length));
        }
        @Nullable Object[] checked = new @Nullable Object[values.length];
        for (int i = 0; i < checked.length; i++) {
            checked[i] = parameters.get(i).checked(values[i]);
        }
        return checked;
    }
}
