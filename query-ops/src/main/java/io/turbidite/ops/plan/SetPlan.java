package io.turbidite.ops.plan;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.group.CountedRows;
import io.turbidite.ops.group.DistinctRows;
import io.turbidite.ops.group.RowKey;
import io.turbidite.ops.group.RowsInTurn;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.TimedRows;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * How the rows of several plans make one set. <em>Confined to one thread;</em> gives its rows once.
 */
public final class SetPlan implements ResultPlan {
    private final List<ResultPlan> inputs;
    private final Operation operation;
    private final RecordType type;
    private final RunOptions options;
    private final OperatorMeter meter = new OperatorMeter();

    /** What becomes of the rows. */
    public enum Operation {
        /** All rows of all inputs. */
        UNION_ALL,
        /** Each row once. */
        UNION,
        INTERSECT,
        INTERSECT_ALL,
        EXCEPT,
        EXCEPT_ALL;

        private String label() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    private SetPlan(
            List<ResultPlan> inputs, Operation operation, RecordType type, RunOptions options) {
        this.inputs = List.copyOf(inputs);
        this.operation = operation;
        this.type = type;
        this.options = options;
    }

    /**
     * Plans an operation on at least one input; on two, but for unions.
     *
     * @throws InvalidRequestException if their rows do not go together
     */
    public static SetPlan of(List<ResultPlan> inputs, Operation operation, RunOptions options) {
        return new SetPlan(
                inputs,
                operation,
                rowType(operation, inputs.stream().map(ResultPlan::rowType).toList()),
                options);
    }

    /** The type of the rows, with the names of the first input; otherwise as {@link #of}. */
    public static RecordType rowType(Operation operation, List<RecordType> inputs) {
        RecordType first = inputs.getFirst();
        RecordType common = first;
        for (RecordType next : inputs) {
            if (!next.equals(first)) {
                common = common(common, next, operation);
            }
        }
        if (operation != Operation.UNION_ALL) {
            RowKey.check(common);
        }
        return common;
    }

    private static RecordType common(RecordType a, RecordType b, Operation operation) {
        if (a.declared().size() != b.declared().size()) {
            throw new InvalidRequestException("%s of rows of %d fields (%s) and rows of %d (%s)"
                    .formatted(
                            operation.label(),
                            a.declared().size(),
                            a.names(),
                            b.declared().size(),
                            b.names()));
        }
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < a.declared().size(); i++) {
            fields.add(common(a.declared().get(i), b.declared().get(i), operation));
        }
        return RecordType.of(fields);
    }

    private static Field common(Field a, Field b, Operation operation) {
        boolean isOptional = a.optional() || b.optional();
        if (JoinedType.isWhole(a.kind()) && JoinedType.isWhole(b.kind())) {
            return new Field(
                    a.name(), a.kind() == b.kind() ? a.kind() : TypeKind.INT64, isOptional);
        }
        if (!a.as(a.name(), true).equals(b.as(a.name(), true))) {
            throw new InvalidRequestException(
                    "%s of '%s' of type %s and '%s' of type %s: select one of them as the type of the other"
                            .formatted(
                                    operation.label(),
                                    a.name(),
                                    a.typeLabel(),
                                    b.name(),
                                    b.typeLabel()));
        }
        return a.as(a.name(), isOptional);
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
        return inputs.size() == 1
                ? inputs.getFirst().access()
                : "%s of %s"
                        .formatted(
                                operation.label(),
                                String.join(
                                        ", and ",
                                        inputs.stream().map(ResultPlan::access).toList()));
    }

    @Override
    public List<Plan.Choice> choices() {
        return inputs.stream().flatMap(input -> input.choices().stream()).toList();
    }

    @Override
    public List<PlanStep> steps() {
        List<PlanStep> steps = new ArrayList<>();
        boolean isDistinct = operation == Operation.UNION && inputs.size() == 1;
        steps.add(new PlanStep(
                isDistinct ? "distinct" : operation.label(),
                isDistinct ? type.names() : "of %d inputs".formatted(inputs.size()),
                PlanStep.UNKNOWN,
                meter));
        inputs.forEach(input -> steps.addAll(PlanStep.below(input.steps())));
        return steps;
    }

    @Override
    public long estimatedRows() {
        return PlanStep.UNKNOWN;
    }

    @Override
    public Rows rows() {
        return TimedRows.of(untimed(), options, meter);
    }

    private Rows untimed() {
        return switch (operation) {
            case UNION_ALL -> all(meter);
            case UNION ->
                new DistinctRows(
                        inputs.size() == 1 ? inputs.getFirst().rows() : all(new OperatorMeter()),
                        type,
                        options,
                        meter);
            case INTERSECT -> counted(CountedRows.Kind.INTERSECT);
            case INTERSECT_ALL -> counted(CountedRows.Kind.INTERSECT_ALL);
            case EXCEPT -> counted(CountedRows.Kind.EXCEPT);
            case EXCEPT_ALL -> counted(CountedRows.Kind.EXCEPT_ALL);
        };
    }

    private Rows all(OperatorMeter counting) {
        return new RowsInTurn(
                inputs.stream()
                        .map(input -> new RowsInTurn.Input(input::rows, input.rowType()))
                        .toList(),
                type,
                counting);
    }

    private Rows counted(CountedRows.Kind kind) {
        ResultPlan left = inputs.get(0);
        ResultPlan right = inputs.get(1);
        return new CountedRows(
                new CountedRows.Side(left.rows(), left.rowType()),
                new CountedRows.Side(right.rows(), right.rowType()),
                kind,
                type,
                options,
                meter);
    }
}
