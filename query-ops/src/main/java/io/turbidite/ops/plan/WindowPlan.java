package io.turbidite.ops.plan;

import io.turbidite.core.type.RecordType;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.MeteredRows;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.TimedRows;
import io.turbidite.ops.window.WindowFunction;
import io.turbidite.ops.window.WindowOrder;
import io.turbidite.ops.window.WindowRows;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The rows of a plan, with values of the rows around them. <em>Confined to one thread;</em> gives
 * its rows once.
 */
public final class WindowPlan implements ResultPlan {
    private final ResultPlan input;
    private final WindowOrder order;
    private final List<WindowFunction> functions;
    private final RunOptions options;
    private final OperatorMeter meter = new OperatorMeter();

    private WindowPlan(
            ResultPlan input,
            WindowOrder order,
            List<WindowFunction> functions,
            RunOptions options) {
        this.input = input;
        this.order = order;
        this.functions = List.copyOf(functions);
        this.options = options;
    }

    /**
     * Plans it.
     *
     * @param input comes by partition, and within it in the window's order
     * @throws io.turbidite.core.InvalidRequestException if a function takes no such field
     */
    public static WindowPlan of(
            ResultPlan input,
            WindowOrder order,
            List<WindowFunction> functions,
            RunOptions options) {
        var _ = WindowRows.type(input.rowType(), order, functions);
        return new WindowPlan(input, order, functions, options);
    }

    @Override
    public RecordType rowType() {
        return WindowRows.type(input.rowType(), order, functions);
    }

    @Override
    public boolean isCount() {
        return false;
    }

    @Override
    public String access() {
        return input.access();
    }

    @Override
    public List<Plan.Choice> choices() {
        return input.choices();
    }

    @Override
    public List<PlanStep> steps() {
        List<PlanStep> steps = new ArrayList<>();
        String detail =
                functions.stream().map(WindowFunction::toString).collect(Collectors.joining(", "));
        steps.add(new PlanStep(
                "window",
                order.partition().isEmpty()
                        ? detail
                        : detail + " by " + String.join(", ", order.partition()),
                input.estimatedRows(),
                meter));
        steps.addAll(PlanStep.below(input.steps()));
        return steps;
    }

    @Override
    public long estimatedRows() {
        return input.estimatedRows();
    }

    @Override
    public Rows rows() {
        return TimedRows.of(
                new MeteredRows(
                        WindowRows.of(
                                input.rows(), input.rowType(), order, functions, options, meter),
                        meter),
                options,
                meter);
    }
}
