package io.turbidite.ops.sql;

import io.turbidite.core.type.RecordType;
import io.turbidite.ops.Explanation;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.Relation;
import io.turbidite.ops.run.RunOptions;

import java.util.List;

/**
 * A statement that has been checked and planned. <em>Confined to one thread;</em> it may be run
 * often.
 */
public final class SqlStatement {
    private final Relation relation;
    private final boolean explains;
    private final boolean analyzes;
    private final boolean isOrdered;

    SqlStatement(Relation relation, StatementText text, boolean isOrdered) {
        this.relation = relation;
        this.isOrdered = isOrdered;
        this.explains = text.explains();
        this.analyzes = text.analyzes();
    }

    /** A column of the answer. */
    public record Column(String name, String type) {}

    /** The tree of queries and joins that it was compiled to. */
    public Relation relation() {
        return relation;
    }

    /** What the rows have. */
    public RecordType type() {
        return relation.type();
    }

    /** The columns of the answer, with the names of their types in SQL. */
    public List<Column> columns() {
        return type().declared().stream()
                .map(field -> new Column(field.name(), Types.label(field)))
                .toList();
    }

    /** Whether the statement begins with {@code EXPLAIN}: it asks for {@link #explanation}. */
    public boolean explains() {
        return explains;
    }

    /** Whether its rows come in an order that it asks for. */
    public boolean isOrdered() {
        return isOrdered;
    }

    /** Starts it; close the result. */
    public QueryResult run() {
        return run(RunOptions.defaults());
    }

    /** Starts it within limits; close the result. */
    public QueryResult run(RunOptions options) {
        return relation.with(options).run();
    }

    /**
     * How it is answered; for {@code EXPLAIN ANALYZE} it runs, and rows are counted.
     */
    public Explanation explanation(RunOptions options) {
        Relation asked = relation.with(options);
        if (!analyzes) {
            return asked.explain();
        }
        try (QueryResult rows = asked.run()) {
            while (rows.next()) {
                // the steps count them
            }
            return rows.explain();
        }
    }
}
