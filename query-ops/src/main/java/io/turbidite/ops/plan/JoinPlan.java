package io.turbidite.ops.plan;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.Column;
import io.turbidite.ops.expr.Conditions;
import io.turbidite.ops.expr.Projection;
import io.turbidite.ops.expr.RecordPredicate;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.join.HashJoin;
import io.turbidite.ops.join.JoinKind;
import io.turbidite.ops.join.JoinOutput;
import io.turbidite.ops.join.JoinSide;
import io.turbidite.ops.join.LookupRows;
import io.turbidite.ops.join.PairField;
import io.turbidite.ops.join.PairTest;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.TimedRows;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * How the rows of two plans are joined. <em>Confined to one
 * thread;</em> gives its rows once.
 */
public final class JoinPlan implements ResultPlan, Joining {
    private final ResultPlan left;
    private final ResultPlan right;
    private final JoinKind kind;
    private final JoinedType type;
    private final RunOptions options;
    private final boolean looksUp;
    private final Request request;
    private final OperatorMeter joined = new OperatorMeter();
    private final OperatorMeter built = new OperatorMeter();
    private final OperatorMeter lookedUp;
    private final String text;

    /** What must hold of pairs beyond equal fields; null: nothing. */
    private final @Nullable Conditions conditions;

    /** Of the pairs that conditions are on. */
    private final JoinedType pairs;

    /** Fields of the rows that are looked at; null: all. */
    private @Nullable Set<Integer> used;

    /** The side that is not held; null: not known yet. */
    private @Nullable PassingSide passing;

    /** About how many rows the sides have; null: not known yet. */
    private @Nullable JoinRows estimated;

    /** Whether it is known in which order its relations are joined. */
    private boolean isOrdered;

    /** The order; null: as it is written, and nothing was weighed. */
    private JoinOrder.@Nullable Chosen order;

    /** The joins in another order than the written one; null: as it is written. */
    private @Nullable OrderedJoin ordered;

    /** Two fields that must be equal, by their names in the rows of both sides. */
    public record Equal(String left, String right) {}

    /**
     * How two relations are joined. <em>Immutable.</em>
     *
     * @param on fields that must be equal
     * @param where what else must hold of a pair
     * @param isCross whether all pairs are wanted, so that nothing need be equal
     * @param looksUp whether right records are got by their primary key, which is asked for
     */
    public record Request(
            JoinKind kind,
            List<Equal> on,
            List<Expression> where,
            boolean isCross,
            boolean looksUp) {
        public Request {
            on = List.copyOf(on);
            where = List.copyOf(where);
        }

        private void check() {
            if (on.isEmpty() && where.isEmpty() && !isCross) {
                throw new InvalidRequestException("a join needs fields that must be equal");
            }
            if (kind == JoinKind.NOT_IN && (on.size() != 1 || !where.isEmpty())) {
                throw new InvalidRequestException(
                        "not in compares one field with one, and goes with no further condition");
            }
            if (looksUp && (kind == JoinKind.FULL || kind == JoinKind.NOT_IN)) {
                throw new InvalidRequestException(
                        "a join by lookup sees only the right records that it looks up: it can't be full or not in");
            }
        }

        /** Whether each left row meets each right one. */
        boolean isOfAllPairs() {
            return kind == JoinKind.INNER && on.isEmpty() && where.isEmpty();
        }

        private Request with(List<Equal> ordered) {
            return new Request(kind, ordered, where, isCross, looksUp);
        }
    }

    private JoinPlan(ResultPlan left, ResultPlan right, Request request, RunOptions options) {
        this.request = request;
        this.looksUp = request.looksUp();
        this.lookedUp = looksUp ? new OperatorMeter() : OperatorMeter.NONE;
        this.left = left;
        this.right = right;
        this.kind = request.kind();
        this.options = options;
        List<Equal> on = request.on();
        this.type = JoinedType.of(left.rowType(), right.rowType(), kind, on);
        this.pairs = pairs(type, left.rowType(), right.rowType(), request);
        this.conditions = conditions(pairs.rowType(), request);
        List<String> meeting = new ArrayList<>();
        on.forEach(one -> meeting.add(one.left() + " = " + one.right()));
        request.where().forEach(condition -> meeting.add(Conditions.shown(condition)));
        String label = kind.name().toLowerCase(Locale.ROOT).replace('_', ' ');
        this.text = meeting.isEmpty()
                ? "all pairs"
                : "%s by %s".formatted(label, String.join(" and ", meeting));
    }

    private static JoinedType pairs(
            JoinedType type, RecordType left, RecordType right, Request request) {
        return request.where().isEmpty() || request.kind().hasPairs()
                ? type
                : JoinedType.ofPairs(left, right, request.on());
    }

    private static @Nullable Conditions conditions(RecordType pairType, Request request) {
        return request.where().isEmpty()
                ? null
                : Conditions.of(pairType, List.of(), request.where(), Map.of());
    }

    /**
     * Plans a join.
     *
     * @throws InvalidRequestException if a side has no such field, kinds do not go together, or
     *     rows would have two fields of one name
     */
    public static JoinPlan of(
            ResultPlan left, ResultPlan right, Request request, RunOptions options) {
        request.check();
        return new JoinPlan(
                left,
                right,
                request.looksUp() ? request.with(byPrimaryKey(right, request.on())) : request,
                options);
    }

    /** In the order of the right side's primary key, which they must name all of. */
    private static List<Equal> byPrimaryKey(ResultPlan side, List<Equal> on) {
        if (!(side instanceof Plan right) || right.view() instanceof PlannedRows) {
            throw new InvalidRequestException(
                    "a join by lookup needs records on its right side: the rows of a query have no primary key");
        }
        CheckedQuery query = right.query();
        Source source = query.source();
        List<Equal> ordered = new ArrayList<>();
        for (String name : source.primaryKey()) {
            int field = query.type().indexOf(name);
            on.stream()
                    .filter(one -> isField(one.right(), name, field, query))
                    .findFirst()
                    .ifPresent(ordered::add);
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

    /** Whether a field of the rows is this one: a value may have been selected by its name. */
    static boolean isField(String asked, String name, int field, CheckedQuery query) {
        return query.columns().isEmpty()
                ? asked.equals(name)
                : query.columns().contains(new Column.Declared(asked, field));
    }

    /** The type of the rows of a join of rows of two types; otherwise as {@link #of}. */
    public static RecordType rowType(RecordType left, RecordType right, Request request) {
        request.check();
        JoinedType type = JoinedType.of(left, right, request.kind(), request.on());
        var _ = conditions(pairs(type, left, right, request).rowType(), request);
        return type.rowType();
    }

    /**
     * Says before the rows are asked for which of their fields are looked at: others may be missing
     * in them, whatever the type says.
     *
     * @param fields indexes in the row type; null: all
     */
    void uses(@Nullable Set<Integer> fields) {
        used = fields;
    }

    @Override
    public RecordType rowType() {
        return type.rowType();
    }

    @Override
    public boolean isCount() {
        return false;
    }

    @Override
    public String access() {
        return "join of %s, and %s".formatted(left.access(), right.access());
    }

    /**
     * This join and the inner joins below it in a better order than the written one. Asked for the
     * first time while the views of all sides are open; null: there is none.
     */
    private @Nullable OrderedJoin ordered() {
        if (!isOrdered) {
            isOrdered = true;
            JoinOrder.Chosen chosen = null;
            try {
                chosen = kind == JoinKind.INNER && !looksUp ? JoinOrder.of(this) : null;
            } catch (ClosedException after) {
                // nobody asked for the rows: it is as it was written
            }
            order = chosen;
        }
        JoinOrder.Chosen chosen = order;
        if (ordered == null && chosen != null && !chosen.isWritten()) {
            ordered = OrderedJoin.of(chosen, used);
        }
        return ordered;
    }

    /** Takes an order, whatever it costs. */
    void joinAs(JoinOrder.Chosen chosen) {
        chosen.graph().joins().forEach(JoinPlan::stayAsWritten);
        order = chosen;
    }

    /** It is no join that is put in order: one above it is, or it stays. */
    void stayAsWritten() {
        isOrdered = true;
        order = null;
        ordered = null;
    }

    @Override
    public List<Plan.Choice> choices() {
        var _ = ordered();
        JoinOrder.Chosen chosen = order;
        List<Plan.Choice> choices = new ArrayList<>(chosen == null ? List.of() : chosen.choices());
        choices.addAll(left.choices());
        choices.addAll(right.choices());
        return choices;
    }

    @Override
    public List<PlanStep> steps() {
        OrderedJoin better = ordered();
        if (better != null) {
            return better.steps();
        }
        List<PlanStep> steps = new ArrayList<>();
        steps.add(new PlanStep("join", text, estimatedRows(), joined));
        steps.addAll(PlanStep.below(passing().plan().steps()));
        if (looksUp) {
            steps.add(new PlanStep(
                    "lookup",
                    "records of %s by primary key"
                            .formatted(looked().query().source().name()),
                    PlanStep.UNKNOWN,
                    lookedUp,
                    1));
        } else {
            boolean fromLeft = isBuiltFromLeft();
            JoinRows rows = estimated();
            steps.add(new PlanStep(
                    "build",
                    fromLeft ? "from the left side" : "from the right side",
                    fromLeft ? rows.left() : rows.right(),
                    built,
                    1));
            steps.addAll(PlanStep.below(PlanStep.below((fromLeft ? left : right).steps())));
        }
        return steps;
    }

    @Override
    public long estimatedRows() {
        if (looksUp) {
            return PlanStep.UNKNOWN;
        }
        var _ = ordered();
        JoinOrder.Chosen chosen = order;
        return chosen == null ? estimated().joined() : chosen.rows();
    }

    private JoinRows estimated() {
        JoinRows known = estimated;
        if (known == null) {
            known = JoinRows.of(left, right, request, type);
            estimated = known;
        }
        return known;
    }

    /** Which side is in memory makes no difference to the rows, where a join can hold either. */
    private boolean isTurnable() {
        return kind != JoinKind.FULL && kind != JoinKind.NOT_IN && !looksUp;
    }

    boolean isBuiltFromLeft() {
        return isTurnable() && estimated().isLeftSmaller();
    }

    /**
     * Pairs of an inner join, for who reads both rows where they lie.
     *
     * @param left the type of left rows
     * @param fields where the fields at the top of the joined rows come from, of those that anybody
     *     looks at
     * @param joining makes the join
     */
    record Pairs(RecordType left, RecordType right, List<PairField> fields, Joining joining) {}

    /** Instead of {@link #rows}; null where its rows are no pairs. */
    @Nullable
    Pairs pairs() {
        if (kind != JoinKind.INNER || looksUp) {
            return null;
        }
        OrderedJoin better = ordered();
        return better != null
                ? better.pairs()
                : new Pairs(
                        left.rowType(),
                        right.rowType(),
                        output(type, used, null, false).fields(),
                        this);
    }

    /** Who makes the join, in the best order. */
    Joining joining() {
        OrderedJoin better = ordered();
        return better != null ? better : this;
    }

    @Override
    public Rows rows() {
        OrderedJoin better = ordered();
        if (better != null) {
            return better.rows();
        }
        return TimedRows.of(looksUp ? lookedUp() : whole(), options, joined);
    }

    @Override
    public HashJoin whole() {
        boolean fromLeft = isBuiltFromLeft();
        ResultPlan held = fromLeft ? left : right;
        JoinSide heldSide = new JoinSide(
                held.rows(), held.rowType(), fromLeft ? type.leftKeys() : type.rightKeys(), built);
        JoinSide passingSide = passing().side(passingKeys());
        return new HashJoin(
                fromLeft ? heldSide : passingSide,
                fromLeft ? passingSide : heldSide,
                output(type, used, test(), fromLeft),
                options,
                joined);
    }

    @Override
    public OperatorMeter joined() {
        return joined;
    }

    @Override
    public @Nullable Plan dividable() {
        boolean isReadOnly =
                kind == JoinKind.INNER || (!isBuiltFromLeft() && kind != JoinKind.FULL);
        return isReadOnly && !looksUp ? passing().dividable() : null;
    }

    @Override
    public HashJoin beside(HashJoin whole, List<List<Integer>> branches, int branch) {
        return whole.beside(
                passing().side(passingKeys(), branches.get(branch), branches.size()),
                output(type, used, test(), isBuiltFromLeft()),
                branch);
    }

    private List<Integer> passingKeys() {
        return isBuiltFromLeft() ? type.rightKeys() : type.leftKeys();
    }

    private Rows lookedUp() {
        CheckedQuery query = looked().query();
        Projection projection = query.columns().isEmpty()
                ? null
                : Projection.of(query.type(), query.columns(), right.rowType());
        int recordBytesMax = (int) Math.min(options.memoryBytesMax(), Integer.MAX_VALUE - 8);
        return new LookupRows(
                new JoinSide(left.rows(), left.rowType(), type.leftKeys(), new OperatorMeter()),
                new LookupRows.Inner(
                        looked().view(),
                        query.compile(List.of()),
                        projection,
                        recordBytesMax,
                        lookedUp),
                output(type, used, test(), false),
                right.rowType(),
                options,
                joined);
    }

    private PassingSide passing() {
        PassingSide known = passing;
        if (known == null) {
            known = new PassingSide(isBuiltFromLeft() ? right : left);
            passing = known;
        }
        return known;
    }

    private JoinOutput output(
            JoinedType of,
            @Nullable Set<Integer> looked,
            @Nullable PairTest test,
            boolean holdsLeft) {
        // rows of a semi join are those of the left side, but pairs of both are tested
        List<PairField> fields = kind.hasPairs() || !of.equals(type)
                ? PairField.byNames(left.rowType(), right.rowType(), of.shown(), of.rowType())
                : List.of();
        return new JoinOutput(kind, of.rowType(), fields, looked, test, holdsLeft);
    }

    private @Nullable PairTest test() {
        Conditions on = conditions;
        if (on == null) {
            return null;
        }
        List<RecordPredicate> predicates = new ArrayList<>(List.of(on.compile()));
        if (on.contradictory()) {
            predicates.add(_ -> false);
        }
        return new PairTest(
                left.rowType(), right.rowType(), output(pairs, null, null, false), predicates);
    }

    ResultPlan left() {
        return left;
    }

    ResultPlan right() {
        return right;
    }

    JoinKind kind() {
        return kind;
    }

    Request request() {
        return request;
    }

    JoinedType type() {
        return type;
    }

    @Override
    public RunOptions options() {
        return options;
    }

    boolean looksUp() {
        return looksUp;
    }

    /** What is looked up is a query of records. */
    private Plan looked() {
        return (Plan) right;
    }
}
