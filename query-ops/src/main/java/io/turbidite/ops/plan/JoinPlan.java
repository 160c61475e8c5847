package io.turbidite.ops.plan;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.Column;
import io.turbidite.ops.expr.Projection;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.join.HashJoin;
import io.turbidite.ops.join.JoinKind;
import io.turbidite.ops.join.JoinSide;
import io.turbidite.ops.join.LookupRows;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * How two queries are joined: each gives its rows by a plan of its own. <em>Confined to one
 * thread;</em> gives its rows once.
 */
public final class JoinPlan implements ResultPlan {
    private final Plan left;
    private final Plan right;
    private final JoinKind kind;
    private final List<Integer> leftKeys;
    private final List<Integer> rightKeys;
    private final List<Integer> shown;
    private final RecordType rowType;
    private final RunOptions options;
    private final boolean looksUp;
    private final OperatorMeter joined = new OperatorMeter();
    private final OperatorMeter built = new OperatorMeter();
    private final String text;

    /** Two fields that must be equal, by their names in the rows of both sides. */
    public record Equal(String left, String right) {}

    private JoinPlan(
            Plan left,
            Plan right,
            JoinKind kind,
            List<Equal> on,
            boolean looksUp,
            RunOptions options) {
        this.looksUp = looksUp;
        this.left = left;
        this.right = right;
        this.kind = kind;
        this.options = options;
        this.leftKeys = on.stream().map(one -> key(left, one.left(), "left")).toList();
        this.rightKeys =
                on.stream().map(one -> key(right, one.right(), "right")).toList();
        for (int i = 0; i < on.size(); i++) {
            checkKinds(on.get(i), leftKeys.get(i), rightKeys.get(i));
        }
        boolean hasPairs = kind == JoinKind.INNER || kind == JoinKind.LEFT;
        this.shown = hasPairs ? shown(on) : List.of();
        this.rowType = hasPairs ? pairType() : left.rowType();
        this.text = "%s by %s"
                .formatted(
                        kind.name().toLowerCase(Locale.ROOT),
                        String.join(
                                " and ",
                                on.stream()
                                        .map(one -> one.left() + " = " + one.right())
                                        .toList()));
    }

    /**
     * Plans a join.
     *
     * @param on at least one
     * @param looksUp whether right records are got by their primary key, which is asked for
     * @throws InvalidRequestException if a side has no such field, kinds do not go together, or
     *     rows would have two fields of one name
     */
    public static JoinPlan of(
            Plan left,
            Plan right,
            JoinKind kind,
            List<Equal> on,
            boolean looksUp,
            RunOptions options) {
        if (on.isEmpty()) {
            throw new InvalidRequestException("a join needs fields that must be equal");
        }
        return new JoinPlan(
                left, right, kind, looksUp ? byPrimaryKey(right, on) : on, looksUp, options);
    }

    /** In the order of the right side's primary key, which they must name all of. */
    private static List<Equal> byPrimaryKey(Plan right, List<Equal> on) {
        CheckedQuery query = right.query();
        Source source = query.source();
        List<Equal> ordered = new ArrayList<>();
        for (String name : source.primaryKey()) {
            int field = query.type().indexOf(name);
            // a value may have been selected by the key's name
            if (query.columns().isEmpty()
                    || query.columns().contains(new Column.Declared(name, field))) {
                on.stream()
                        .filter(one -> one.right().equals(name))
                        .findFirst()
                        .ifPresent(ordered::add);
            }
            TypeKind kind = query.type().field(field).kind();
            if (source.keyForm().isAmbiguous(kind)) {
                throw new InvalidRequestException(
                        "'%s' can't be looked up: a value of it may have two keys".formatted(name));
            }
        }
        boolean isPlain = query.kind() == CheckedQuery.Kind.ROWS
                && query.near() == null
                && query.order().isEmpty()
                && !query.hasLimit();
        int count = source.primaryKey().size();
        if (!isPlain || ordered.size() != count || on.size() != count) {
            throw new InvalidRequestException(
                    "a join by lookup needs records on its right side, without order and limit, and asks for their primary key: %s"
                            .formatted(String.join(", ", source.primaryKey())));
        }
        return ordered;
    }

    private static int key(Plan side, String name, String which) {
        RecordType type = side.rowType();
        int field = type.indexOf(name);
        if (field < 0 || type.isEach(field) || !type.field(field).kind().isScalar()) {
            throw new InvalidRequestException(
                    "the %s side of the join has no field '%s' of one value; its rows have %s"
                            .formatted(which, name, type.names()));
        }
        return field;
    }

    private void checkKinds(Equal one, int leftField, int rightField) {
        TypeKind a = left.rowType().field(leftField).kind();
        TypeKind b = right.rowType().field(rightField).kind();
        if (a != b && !(isWhole(a) && isWhole(b))) {
            throw new InvalidRequestException(
                    "a join of '%s' of type %s with '%s' of type %s: select one of them as the type of the other"
                            .formatted(one.left(), a.label(), one.right(), b.label()));
        }
    }

    private static boolean isWhole(TypeKind kind) {
        return switch (kind) {
            case INT8, INT16, INT32, INT64 -> true;
            default -> false;
        };
    }

    /** The right fields but those that are equal to a left one of the same name. */
    private List<Integer> shown(List<Equal> on) {
        RecordType type = right.rowType();
        List<Integer> fields = new ArrayList<>();
        for (int field = 0; field < type.fields().size(); field = type.behind(field)) {
            String name = type.field(field).name();
            if (!on.contains(new Equal(name, name))) {
                fields.add(field);
            }
        }
        return fields;
    }

    private RecordType pairType() {
        RecordType from = left.rowType();
        List<Field> fields = new ArrayList<>(from.declared());
        for (int field : shown) {
            Field declared = right.rowType().field(field);
            if (fields.stream().anyMatch(other -> other.name().equals(declared.name()))) {
                throw new InvalidRequestException(
                        "both sides of the join have a field '%1$s': select one of them as another name, '%1$s as …'"
                                .formatted(declared.name()));
            }
            fields.add(declared.as(declared.name(), true));
        }
        return RecordType.of(fields);
    }

    @Override
    public RecordType rowType() {
        return rowType;
    }

    @Override
    public boolean isCount() {
        return false;
    }

    @Override
    public String access() {
        return "join of %s, and %s".formatted(left.access(), right.access());
    }

    @Override
    public List<Plan.Choice> choices() {
        List<Plan.Choice> choices = new ArrayList<>(left.choices());
        choices.addAll(right.choices());
        return choices;
    }

    @Override
    public List<PlanStep> steps() {
        List<PlanStep> steps = new ArrayList<>();
        steps.add(new PlanStep("join", text, PlanStep.UNKNOWN, joined));
        steps.addAll(left.steps());
        if (looksUp) {
            steps.add(new PlanStep(
                    "lookup",
                    "records of %s by primary key"
                            .formatted(right.query().source().name()),
                    PlanStep.UNKNOWN,
                    joined));
        } else {
            steps.add(new PlanStep("build", "from the right side", PlanStep.UNKNOWN, built));
            steps.addAll(right.steps());
        }
        return steps;
    }

    @Override
    public Rows rows() {
        JoinSide leftSide =
                new JoinSide(left.rows(), left.rowType(), leftKeys, new OperatorMeter());
        HashJoin.Output output = new HashJoin.Output(kind, rowType, shown);
        if (looksUp) {
            CheckedQuery query = right.query();
            Projection projection = query.columns().isEmpty()
                    ? null
                    : Projection.of(query.type(), query.columns(), right.rowType());
            int recordBytesMax = (int) Math.min(options.memoryBytesMax(), Integer.MAX_VALUE - 8);
            return new LookupRows(
                    leftSide,
                    new LookupRows.Inner(
                            right.view(), query.compile(List.of()), projection, recordBytesMax),
                    output,
                    right.rowType(),
                    options,
                    joined);
        }
        return new HashJoin(
                leftSide,
                new JoinSide(right.rows(), right.rowType(), rightKeys, built),
                output,
                options,
                joined);
    }
}
