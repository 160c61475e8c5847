package io.turbidite.ops.plan;

import io.turbidite.core.expr.Expression;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Conditions;
import io.turbidite.ops.expr.RecordPredicate;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.join.HashJoin;
import io.turbidite.ops.join.JoinKind;
import io.turbidite.ops.join.JoinOutput;
import io.turbidite.ops.join.JoinSide;
import io.turbidite.ops.join.PairField;
import io.turbidite.ops.join.PairTest;
import io.turbidite.ops.plan.JoinGraph.Condition;
import io.turbidite.ops.plan.JoinGraph.Equality;
import io.turbidite.ops.plan.JoinGraph.LeafField;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.TimedRows;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * One of the inner joins of a tree that is joined in another order than it was written. The top one
 * gives the rows as they were to be: the same fields, from the same relations, in the same order.
 * Those below give what is needed above them.
 *
 * <p>All that must be equal is made so: fields of both parts that are asked for and not equal by
 * way of others yet, once they are in one row. <em>Confined to one thread;</em> gives its rows
 * once.
 */
final class OrderedJoin implements ResultPlan, Joining {
    private static final int JOIN = -1;

    private final Part left;
    private final Part right;
    private final PassingSide passing;
    private final JoinOrder.Chosen order;
    private final long mask;
    private final long leftMask;
    private final List<Equality> equalities;
    private final List<Condition> conditions;
    private final RecordType rowType;
    private final List<PairField> fields;
    private final @Nullable Set<Integer> used;
    private final OperatorMeter joined = new OperatorMeter();
    private final OperatorMeter built = new OperatorMeter();

    /**
     * One side.
     *
     * @param number of its relation; {@link #JOIN}
     * @param places where in the rows of a join a field at the top of a relation is
     */
    private record Part(ResultPlan plan, int number, Map<LeafField, Integer> places) {
        RecordType type() {
            return plan.rowType();
        }

        /** Where a field is, which lies in {@code top} or is it. */
        int index(LeafField field, LeafField top) {
            if (number != JOIN) {
                return field.field();
            }
            Integer at = places.get(top);
            if (at == null) {
                throw new IllegalStateException(top + " is not in the rows");
            }
            return at + field.field() - top.field();
        }
    }

    private OrderedJoin(
            JoinOrder.Chosen order,
            JoinTree.Pair tree,
            Collection<LeafField> wanted,
            @Nullable Set<Integer> used) {
        this.order = order;
        this.mask = tree.mask();
        this.leftMask = tree.left().mask();
        boolean isTop = mask == order.tree().mask();
        this.equalities = equalities(order.graph(), tree);
        this.conditions = order.graph().conditions().stream()
                .filter(condition -> isAskedHere(condition, tree))
                .toList();
        Set<LeafField> needed = new LinkedHashSet<>(wanted);
        equalities.forEach(equal -> {
            needed.add(order.graph().top(equal.a()));
            needed.add(order.graph().top(equal.b()));
        });
        conditions.forEach(condition -> needed.addAll(condition.sources().values()));
        this.left = part(tree.left(), needed);
        this.right = part(tree.right(), needed);
        this.passing = new PassingSide(left.plan());
        this.rowType = isTop ? order.graph().rowType() : inner(wanted);
        Map<Integer, LeafField> sources = isTop ? order.graph().fields() : places(wanted);
        this.fields = fields(isTop ? looked(sources, used) : sources);
        this.used = isTop ? used : sources.keySet();
    }

    private static Map<Integer, LeafField> looked(
            Map<Integer, LeafField> sources, @Nullable Set<Integer> used) {
        Map<Integer, LeafField> looked = new LinkedHashMap<>(sources);
        if (used != null) {
            looked.keySet().retainAll(used);
        }
        return looked;
    }

    /** Rows of some fields, with names that none of them has twice. */
    private RecordType inner(Collection<LeafField> wanted) {
        List<Field> made = new ArrayList<>();
        for (LeafField field : wanted) {
            RecordType of = order.graph().leaves().get(field.leaf()).rowType();
            made.add(of.field(field.field())
                    .as("j%d$%d".formatted(field.leaf(), field.field()), true));
        }
        return RecordType.of(made);
    }

    /** What each field of the rows is that has these in their order. */
    private Map<Integer, LeafField> places(Collection<LeafField> wanted) {
        Map<Integer, LeafField> places = new LinkedHashMap<>();
        Iterator<Integer> tops = JoinedType.tops(rowType).iterator();
        wanted.forEach(field -> places.put(tops.next(), field));
        return places;
    }

    private List<PairField> fields(Map<Integer, LeafField> sources) {
        List<PairField> made = new ArrayList<>();
        sources.forEach((target, source) -> {
            boolean isOfLeft = isOfLeft(source);
            int field = (isOfLeft ? left : right).index(source, source);
            made.add(isOfLeft ? PairField.ofLeft(target, field) : PairField.ofRight(target, field));
        });
        return made;
    }

    private boolean isOfLeft(LeafField field) {
        return (leftMask >> field.leaf() & 1) != 0;
    }

    /**
     * The joins of an order.
     *
     * @param used fields of the rows that are looked at; null: all
     */
    static OrderedJoin of(JoinOrder.Chosen order, @Nullable Set<Integer> used) {
        Set<LeafField> wanted = new LinkedHashSet<>();
        order.graph().fields().forEach((field, source) -> {
            if (used == null || used.contains(field)) {
                wanted.add(source);
            }
        });
        return new OrderedJoin(order, (JoinTree.Pair) order.tree(), wanted, used);
    }

    private Part part(JoinTree tree, Set<LeafField> needed) {
        return switch (tree) {
            case JoinTree.Leaf(int number) ->
                new Part(order.graph().leaves().get(number), number, Map.of());
            case JoinTree.Pair pair -> {
                List<LeafField> within = within(needed, pair);
                OrderedJoin join = new OrderedJoin(order, pair, within, null);
                Map<LeafField, Integer> places = new HashMap<>();
                join.places(within).forEach((place, field) -> places.put(field, place));
                yield new Part(join, JOIN, places);
            }
        };
    }

    /** What is made equal here, so that all that must be equal of both parts is. */
    private static List<Equality> equalities(JoinGraph graph, JoinTree.Pair tree) {
        FieldClasses<LeafField> same = new FieldClasses<>();
        unite(graph, tree.left(), same);
        unite(graph, tree.right(), same);
        return equalities(graph, tree, same);
    }

    /** Takes note of all that is equal in the rows of a part. */
    private static void unite(JoinGraph graph, JoinTree part, FieldClasses<LeafField> same) {
        if (part instanceof JoinTree.Pair pair) {
            unite(graph, pair.left(), same);
            unite(graph, pair.right(), same);
            var _ = equalities(graph, pair, same);
        }
    }

    private static List<Equality> equalities(
            JoinGraph graph, JoinTree.Pair tree, FieldClasses<LeafField> same) {
        List<Equality> made = new ArrayList<>();
        for (List<LeafField> fields : graph.sames()) {
            List<LeafField> ofLeft = within(fields, tree.left());
            List<LeafField> ofRight = within(fields, tree.right());
            if (!ofLeft.isEmpty() && !ofRight.isEmpty()) {
                ofLeft.forEach(one -> add(one, ofRight.getFirst(), same, made));
                ofRight.forEach(one -> add(ofLeft.getFirst(), one, same, made));
            }
        }
        return made;
    }

    private static void add(
            LeafField a, LeafField b, FieldClasses<LeafField> same, List<Equality> made) {
        if (same.join(a, b)) {
            made.add(new Equality(a, b));
        }
    }

    private static List<LeafField> within(Collection<LeafField> fields, JoinTree part) {
        return fields.stream()
                .filter(field -> (part.mask() >> field.leaf() & 1) != 0)
                .toList();
    }

    private static boolean isAskedHere(Condition condition, JoinTree.Pair tree) {
        return isWithin(condition, tree)
                && !(isWithin(condition, tree.left()) && tree.left() instanceof JoinTree.Pair)
                && !(isWithin(condition, tree.right()) && tree.right() instanceof JoinTree.Pair);
    }

    private static boolean isWithin(Condition condition, JoinTree tree) {
        return (condition.leaves() & ~tree.mask()) == 0;
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
        return "join of %s, and %s".formatted(left.plan().access(), right.plan().access());
    }

    @Override
    public List<Plan.Choice> choices() {
        List<Plan.Choice> choices = new ArrayList<>(left.plan().choices());
        choices.addAll(right.plan().choices());
        return choices;
    }

    @Override
    public List<PlanStep> steps() {
        List<PlanStep> steps = new ArrayList<>();
        steps.add(new PlanStep("join", text(), estimatedRows(), joined));
        steps.addAll(PlanStep.below(passing.plan().steps()));
        steps.add(new PlanStep(
                "build", "from the right side", right.plan().estimatedRows(), built, 1));
        steps.addAll(PlanStep.below(PlanStep.below(right.plan().steps())));
        return steps;
    }

    private String text() {
        List<String> meeting = new ArrayList<>();
        equalities.forEach(
                equal -> meeting.add("%s = %s".formatted(name(equal.a()), name(equal.b()))));
        conditions.forEach(condition -> meeting.add(Conditions.shown(condition.expression())));
        return meeting.isEmpty() ? "all pairs" : "inner by " + String.join(" and ", meeting);
    }

    private String name(LeafField field) {
        RecordType of = order.graph().leaves().get(field.leaf()).rowType();
        return order.label(field.leaf()) + "." + of.field(field.field()).name();
    }

    @Override
    public long estimatedRows() {
        return Math.round(order.estimates().rows(mask));
    }

    /** As {@link JoinPlan#pairs()}: both rows of a pair of the last join. */
    JoinPlan.Pairs pairs() {
        return new JoinPlan.Pairs(left.type(), right.type(), fields, this);
    }

    @Override
    public Rows rows() {
        return TimedRows.of(whole(), order.graph().options(), joined);
    }

    @Override
    public HashJoin whole() {
        RunOptions options = order.graph().options();
        JoinSide leftSide = passing.side(keys(true));
        JoinSide rightSide = new JoinSide(right.plan().rows(), right.type(), keys(false), built);
        return new HashJoin(leftSide, rightSide, output(), options, joined);
    }

    private JoinOutput output() {
        return new JoinOutput(JoinKind.INNER, rowType, fields, used, test(), false);
    }

    @Override
    public OperatorMeter joined() {
        return joined;
    }

    @Override
    public RunOptions options() {
        return order.graph().options();
    }

    @Override
    public @Nullable Plan dividable() {
        return passing.dividable();
    }

    @Override
    public HashJoin beside(HashJoin whole, List<List<Integer>> branches, int branch) {
        return whole.beside(
                passing.side(keys(true), branches.get(branch), branches.size()), output(), branch);
    }

    private List<Integer> keys(boolean ofLeft) {
        return equalities.stream()
                .map(equal -> isOfLeft(equal.a()) == ofLeft ? equal.a() : equal.b())
                .map(field -> (ofLeft ? left : right).index(field, order.graph().top(field)))
                .toList();
    }

    /** All conditions, those of one join together, in the order in which they were written. */
    private @Nullable PairTest test() {
        PairTest test = null;
        for (int i = conditions.size() - 1; i >= 0; ) {
            int join = conditions.get(i).join();
            RecordType type = conditions.get(i).type();
            List<Expression> asked = new ArrayList<>();
            Map<Integer, LeafField> sources = new TreeMap<>();
            for (; i >= 0 && conditions.get(i).join() == join; i--) {
                asked.addFirst(conditions.get(i).expression());
                sources.putAll(conditions.get(i).sources());
            }
            PairTest of = test(type, asked, sources);
            test = test == null ? of : of.and(test);
        }
        return test;
    }

    private PairTest test(
            RecordType type, List<Expression> asked, Map<Integer, LeafField> sources) {
        Conditions on = Conditions.of(type, List.of(), asked, Map.of());
        List<RecordPredicate> predicates = new ArrayList<>(List.of(on.compile()));
        if (on.contradictory()) {
            predicates.add(_ -> false);
        }
        JoinOutput pair = new JoinOutput(JoinKind.INNER, type, fields(sources), null, null, false);
        return new PairTest(left.type(), right.type(), pair, predicates);
    }
}
