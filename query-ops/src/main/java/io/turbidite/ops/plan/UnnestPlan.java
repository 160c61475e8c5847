package io.turbidite.ops.plan;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.join.UnnestedRows;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.TimedRows;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * The rows of a plan, once for each element of an array of theirs. <em>Confined to one thread;</em>
 * gives its rows once.
 */
public final class UnnestPlan implements ResultPlan {
    private final ResultPlan input;
    private final Request request;
    private final RecordType type;
    private final RunOptions options;
    private final OperatorMeter meter = new OperatorMeter();

    /**
     * What is asked.
     *
     * @param array the path of the array
     * @param element the name of the element in the rows
     * @param number the name of its number; null: it has none
     * @param keepsEmpty whether rows without elements are there once
     */
    public record Request(
            String array, String element, @Nullable String number, boolean keepsEmpty) {}

    private UnnestPlan(ResultPlan input, Request request, RecordType type, RunOptions options) {
        this.input = input;
        this.request = request;
        this.type = type;
        this.options = options;
    }

    /**
     * Plans it.
     *
     * @throws InvalidRequestException if the rows have no such array, or have the names already
     */
    public static UnnestPlan of(ResultPlan input, Request request, RunOptions options) {
        return new UnnestPlan(input, request, rowType(input.rowType(), request), options);
    }

    /** The type of the rows; otherwise as {@link #of}. */
    public static RecordType rowType(RecordType of, Request request) {
        int array = of.indexOf(request.array);
        if (array < 0 || of.isEach(array) || of.field(array).kind() != TypeKind.ARRAY) {
            throw new InvalidRequestException("unnest names '%s', which is not an array%s"
                    .formatted(request.array, of.meant(request.array)));
        }
        List<Field> fields = new ArrayList<>(of.declared());
        add(fields, new Field(request.element, of.field(array).elementKind(), true));
        if (request.number != null) {
            add(fields, new Field(request.number, TypeKind.INT64, true));
        }
        return RecordType.of(fields);
    }

    private static void add(List<Field> fields, Field made) {
        if (fields.stream().anyMatch(field -> field.name().equals(made.name()))) {
            throw new InvalidRequestException(
                    "the rows have a field '%s' already: give the element another name"
                            .formatted(made.name()));
        }
        fields.add(made);
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
        return input.access();
    }

    @Override
    public List<Plan.Choice> choices() {
        return input.choices();
    }

    @Override
    public List<PlanStep> steps() {
        List<PlanStep> steps = new ArrayList<>();
        steps.add(new PlanStep(
                "unnest",
                "elements of " + request.array + (request.keepsEmpty ? ", or none" : ""),
                PlanStep.UNKNOWN,
                meter));
        steps.addAll(PlanStep.below(input.steps()));
        return steps;
    }

    @Override
    public long estimatedRows() {
        return PlanStep.UNKNOWN;
    }

    @Override
    public Rows rows() {
        RecordType of = input.rowType();
        Rows rows = new UnnestedRows(
                input.rows(),
                of,
                type,
                new UnnestedRows.Elements(
                        of.indexOf(request.array), request.number != null, request.keepsEmpty),
                options,
                meter);
        return TimedRows.of(rows, options, meter);
    }
}
