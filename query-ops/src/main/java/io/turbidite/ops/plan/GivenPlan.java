package io.turbidite.ops.plan;

import io.turbidite.core.type.RecordType;
import io.turbidite.ops.run.Rows;

import java.util.List;
import java.util.function.Supplier;

/**
 * Rows that come from elsewhere: an exchange, an operator of a job. <em>Confined to one
 * thread;</em> gives them once.
 */
public final class GivenPlan implements ResultPlan {
    private final RecordType type;
    private final String access;
    private final Supplier<List<PlanStep>> steps;
    private final Supplier<? extends Rows> rows;

    /**
     * Gives these rows.
     *
     * @param access where they come from, in a few words
     * @param steps what explains them; asked each time
     */
    public GivenPlan(
            RecordType type,
            String access,
            Supplier<List<PlanStep>> steps,
            Supplier<? extends Rows> rows) {
        this.type = type;
        this.access = access;
        this.steps = steps;
        this.rows = rows;
    }

    /** Gives these rows, and explains nothing. */
    public GivenPlan(RecordType type, Supplier<? extends Rows> rows) {
        this(type, "rows", List::of, rows);
    }

    @Override
    public RecordType rowType() {
        return type;
    }

    @Override
    public boolean isCount() {
        return false;
    }

    @Override
    public String access() {
        return access;
    }

    @Override
    public List<Plan.Choice> choices() {
        return List.of();
    }

    @Override
    public List<PlanStep> steps() {
        return steps.get();
    }

    @Override
    public long estimatedRows() {
        return PlanStep.UNKNOWN;
    }

    @Override
    public Rows rows() {
        return rows.get();
    }
}
