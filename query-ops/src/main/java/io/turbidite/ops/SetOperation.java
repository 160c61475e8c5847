package io.turbidite.ops;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Given;
import io.turbidite.ops.plan.ResultPlan;
import io.turbidite.ops.plan.SetPlan;
import io.turbidite.ops.plan.SetPlan.Operation;
import io.turbidite.ops.run.RunOptions;

import java.util.ArrayList;
import java.util.List;

/**
 * The rows of several relations as one set: their unions, intersections and differences.
 *
 * <pre>{@code
 * SetOperation.except(
 *         Query.on(airports).select("code"), Query.on(flights).select("dest as code"))
 * }</pre>
 *
 * <p>Rows have as many fields on all sides, of the same types, whole numbers of any width being
 * one, and have the names of the first side. Rows are equal if all their fields are; null and
 * missing are one value, and equal to themselves. But for {@link #unionAll}, fields have one simple
 * value each, and rows come in no promised order. What does not fit the memory goes through sorted
 * runs on disk ({@link RunOptions#spill}).
 *
 * <p><em>Confined to one thread.</em> It may be run often.
 */
public final class SetOperation extends Relation {
    private final Operation operation;
    private final List<Relation> sides;

    private SetOperation(Operation operation, List<Relation> sides) {
        this.operation = operation;
        this.sides = List.copyOf(sides);
    }

    private static SetOperation of(Operation operation, Relation first, Relation... more) {
        List<Relation> sides = new ArrayList<>();
        sides.add(Given.notNull(first, "the first side of a set"));
        for (Relation side : Given.notNull(more, "the list of sides")) {
            sides.add(Given.notNull(side, "a side of a set"));
        }
        return new SetOperation(operation, sides);
    }

    /** All rows, those of the first side first. A side is opened when its turn comes. */
    public static SetOperation unionAll(Relation first, Relation... more) {
        return of(Operation.UNION_ALL, first, more);
    }

    /** Each row once. Rows come as they are found, as long as the memory does. */
    public static SetOperation union(Relation first, Relation... more) {
        return of(Operation.UNION, first, more);
    }

    /** Each row that both sides have, once. */
    public static SetOperation intersect(Relation left, Relation right) {
        return of(Operation.INTERSECT, left, right);
    }

    /** Each row that both sides have, as often as both have it. */
    public static SetOperation intersectAll(Relation left, Relation right) {
        return of(Operation.INTERSECT_ALL, left, right);
    }

    /** Each row of the left side that the right one has not, once. */
    public static SetOperation except(Relation left, Relation right) {
        return of(Operation.EXCEPT, left, right);
    }

    /** Each row of the left side, as often as it has it more often than the right one. */
    public static SetOperation exceptAll(Relation left, Relation right) {
        return of(Operation.EXCEPT_ALL, left, right);
    }

    /** Sets the limits, for the sides too where they have none of their own. */
    @Override
    public SetOperation with(RunOptions newOptions) {
        set(Given.notNull(newOptions, "the options of a set"));
        return this;
    }

    /**
     * The fields of the first side.
     *
     * @throws InvalidRequestException if the sides do not go together
     */
    @Override
    public RecordType type() {
        return SetPlan.rowType(operation, sides.stream().map(Relation::type).toList());
    }

    @Override
    ResultPlan plan(Moments moments, RunOptions given) {
        List<ResultPlan> plans = new ArrayList<>();
        for (Relation side : sides) {
            plans.add(planOf(side, moments, given));
        }
        return SetPlan.of(plans, operation, given);
    }

    @Override
    List<Relation> inputs() {
        return sides;
    }

    @Override
    boolean keepsRows() {
        return operation != Operation.UNION_ALL;
    }
}
