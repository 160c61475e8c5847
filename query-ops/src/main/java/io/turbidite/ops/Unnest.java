package io.turbidite.ops;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Given;
import io.turbidite.ops.plan.ResultPlan;
import io.turbidite.ops.plan.UnnestPlan;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * The rows of a relation, once for each element of an array of theirs: all their declared fields,
 * and the element behind them.
 *
 * <pre>{@code
 * Unnest tags = Unnest.of(Query.on(posts), "tags", "tag");
 * try (QueryResult rows = Query.on(tags).groupBy("tag").count().run()) {
 *     rows.forEachJson(System.out);
 * }
 * }</pre>
 *
 * <p>The elements of a row come in their order. <em>Confined to one thread.</em> Each call changes
 * this and returns it; it may be run often.
 */
public final class Unnest extends Relation {
    private final Relation rows;
    private final String array;
    private final String element;
    private @Nullable String number;
    private boolean keepsEmpty;

    private Unnest(Relation rows, String array, String element) {
        this.rows = rows;
        this.array = array;
        this.element = element;
    }

    /**
     * A row for each element of {@code array}.
     *
     * @param array a declared field, or the path of one
     * @param element the name of the element, which no field of the rows has
     */
    public static Unnest of(Relation rows, String array, String element) {
        return new Unnest(
                Given.notNull(rows, "the rows of an unnest"),
                Given.notNull(array, "the array of an unnest"),
                Given.notNull(element, "the name of an element"));
    }

    /** The same, with the number of the element behind it, from 1. */
    public Unnest numbered(String name) {
        number = Given.notNull(name, "the name of an element's number");
        return this;
    }

    /** Rows without elements are there too, once, with null for the element. */
    public Unnest keepingEmpty() {
        keepsEmpty = true;
        return this;
    }

    /** Sets the limits, for the rows too where they have none of their own. */
    @Override
    public Unnest with(RunOptions newOptions) {
        set(Given.notNull(newOptions, "the options of an unnest"));
        return this;
    }

    /**
     * The fields of the rows, then the element, then its number.
     *
     * @throws InvalidRequestException if there is no such array, or a name is taken
     */
    @Override
    public RecordType type() {
        return UnnestPlan.rowType(rows.type(), request());
    }

    @Override
    ResultPlan plan(Moments moments, RunOptions given) {
        return UnnestPlan.of(planOf(rows, moments, given), request(), given);
    }

    private UnnestPlan.Request request() {
        return new UnnestPlan.Request(array, element, number, keepsEmpty);
    }

    @Override
    List<Relation> inputs() {
        return List.of(rows);
    }

    @Override
    boolean keepsRows() {
        return false;
    }
}
