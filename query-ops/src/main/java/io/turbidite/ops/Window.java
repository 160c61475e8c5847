package io.turbidite.ops;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Given;
import io.turbidite.ops.plan.ResultPlan;
import io.turbidite.ops.plan.WindowPlan;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.window.WindowFunction;
import io.turbidite.ops.window.WindowOrder;
import io.turbidite.ops.window.WindowRows;

import java.util.ArrayList;
import java.util.List;

/**
 * The rows of a relation, with values of the rows around each: its number in its group, the sum up
 * to it, the value before it.
 *
 * <pre>{@code
 * Window.of(Query.on(flights).select("dest", "day", "delay"))
 *         .partitionBy("dest")
 *         .orderBy("day", Order.ASC)
 *         .add(WindowFunction.rowNumber().as("n"))
 *         .add(WindowFunction.sum("delay").rows(-6, 0).as("week"))
 * }</pre>
 *
 * <p>The rows come by partition, in the order that is asked for, with the declared fields that they
 * had and those of the functions behind them. They are sorted, which spills; what functions of a
 * whole partition keep, spills too ({@link RunOptions#spill}). <em>Confined to one thread.</em>
 * Each call changes this and returns it; it may be run often.
 */
public final class Window extends Relation {
    private final Relation rows;
    private List<String> partition = List.of();
    private final List<By> order = new ArrayList<>();
    private final List<WindowFunction> functions = new ArrayList<>();

    /** A field of the order. */
    private record By(String field, Order direction, Nulls nulls) {}

    private Window(Relation rows) {
        this.rows = rows;
    }

    /** Over the rows of a relation: all of them are one partition. */
    public static Window of(Relation rows) {
        return new Window(Given.notNull(rows, "the rows of a window"));
    }

    /** Rows are of one partition if these fields are equal; a null equals a null. */
    public Window partitionBy(String... fields) {
        partition = List.of(Given.notNull(fields, "the fields of a partition"));
        return this;
    }

    /** Orders the rows of a partition; further calls break ties. */
    public Window orderBy(String field, Order direction) {
        Given.notNull(direction, "the direction of an order");
        return orderBy(field, direction, direction == Order.ASC ? Nulls.FIRST : Nulls.LAST);
    }

    /** As {@link #orderBy(String, Order)}, with null and missing where {@code nulls} says. */
    public Window orderBy(String field, Order direction, Nulls nulls) {
        order.add(new By(
                Given.notNull(field, "a field to order by"),
                Given.notNull(direction, "the direction of an order"),
                Given.notNull(nulls, "the place of nulls in an order")));
        return this;
    }

    /** Adds a function. */
    public Window add(WindowFunction function) {
        functions.add(Given.notNull(function, "a window function"));
        return this;
    }

    /** Sets the limits, for the rows too where they have none of their own. */
    @Override
    public Window with(RunOptions newOptions) {
        set(Given.notNull(newOptions, "the options of a window"));
        return this;
    }

    /**
     * The fields of the rows, then those of the functions, in the order in which they were added.
     *
     * @throws InvalidRequestException if a function takes no such field, or a name is taken
     */
    @Override
    public RecordType type() {
        return WindowRows.type(rows.type(), windowOrder(), functions);
    }

    private WindowOrder windowOrder() {
        return new WindowOrder(partition, order.stream().map(By::field).toList());
    }

    @Override
    ResultPlan plan(Moments moments, RunOptions given) {
        return WindowPlan.of(planOf(sorted(), moments, given), windowOrder(), functions, given);
    }

    /** The rows as they are looked at. */
    private Relation sorted() {
        if (partition.isEmpty() && order.isEmpty()) {
            return rows;
        }
        Query sorted = Query.on(rows)
                .select(rows.type().declared().stream()
                        .map(field -> field.name())
                        .toList());
        partition.forEach(field -> sorted.orderBy(field, Order.ASC));
        order.forEach(by -> sorted.orderBy(by.field, by.direction, by.nulls));
        return sorted;
    }

    @Override
    List<Relation> inputs() {
        return List.of(sorted());
    }

    @Override
    boolean keepsRows() {
        return true;
    }
}
