package io.turbidite.ops.plan;

import io.turbidite.core.expr.Expression;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Column;
import io.turbidite.ops.join.JoinKind;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a tree of inner joins asks, whatever its order: the relations, the fields that must be
 * equal, the further conditions, and the fields of the rows.
 *
 * <p>Outer, semi and anti joins, joins by lookup, queries with conditions, groups, orders or limits
 * of their own, and joins that have other options are relations here, whole as they are. So what is
 * put in another order are joins alone whose pairs are the same in any. <em>Immutable.</em>
 */
final class JoinGraph {
    /** More are joined as they are written. */
    private static final int LEAF_COUNT_MAX = Long.SIZE;

    /** A field of a relation, by their numbers. */
    record LeafField(int leaf, int field) {}

    /** Two fields, of different relations, that must be equal. */
    record Equality(LeafField a, LeafField b) {}

    /**
     * What must hold beside.
     *
     * @param join the number of the join that asks it, as it was written
     * @param type has the fields that the condition names
     * @param sources what each field at the top of the type is
     * @param leaves bits of the relations that must have been joined before it is asked. Where the
     *     condition may fail, all those that were joined as it was written: it must not see a row
     *     that it would not have seen
     */
    record Condition(
            int join,
            Expression expression,
            RecordType type,
            Map<Integer, LeafField> sources,
            long leaves) {}

    private final JoinPlan top;
    private final List<ResultPlan> leaves = new ArrayList<>();
    private final List<Equality> equalities = new ArrayList<>();
    private final List<Condition> conditions = new ArrayList<>();
    private final List<JoinPlan> joins = new ArrayList<>();

    /** By the relations that each has. */
    private final Map<Long, JoinPlan> byMask = new HashMap<>();

    private final List<List<LeafField>> sames;
    private final Rows rows;

    /**
     * The rows of a part of the tree.
     *
     * @param tops what each of its fields at the top is
     */
    record Rows(JoinTree tree, RecordType type, Map<Integer, LeafField> tops) {
        LeafField field(int field) {
            int at = field;
            while (type.parent(at) != RecordType.TOP) {
                at = type.parent(at);
            }
            LeafField source = require(tops.get(at));
            return new LeafField(source.leaf, source.field + field - at);
        }
    }

    private JoinGraph(JoinPlan top) {
        this.top = top;
        this.rows = ofJoin(top);
        FieldClasses<LeafField> same = new FieldClasses<>();
        equalities.forEach(equal -> same.join(equal.a(), equal.b()));
        this.sames = same.classes();
    }

    /** Null where there are too few relations for an order, or too many. */
    static @Nullable JoinGraph of(JoinPlan top) {
        int count = count(top, top);
        return count < 3 || count > LEAF_COUNT_MAX ? null : new JoinGraph(top);
    }

    private static int count(ResultPlan plan, JoinPlan top) {
        JoinPlan join = below(plan, top);
        return join == null ? 1 : count(join.left(), top) + count(join.right(), top);
    }

    /** The join that a side is, perhaps with some of its fields alone; null: it is a relation. */
    private static @Nullable JoinPlan below(ResultPlan side, JoinPlan top) {
        ResultPlan plan = side;
        while (plan instanceof Plan query && passesOn(query)) {
            plan = ((PlannedRows) query.view()).plan();
        }
        return plan instanceof JoinPlan join
                        && join.kind() == JoinKind.INNER
                        && !join.looksUp()
                        && join.options().equals(top.options())
                ? join
                : null;
    }

    /** Whether a query over rows does nothing but name some of their fields. */
    private static boolean passesOn(Plan plan) {
        CheckedQuery query = plan.query();
        return plan.view() instanceof PlannedRows
                && query.kind() == CheckedQuery.Kind.ROWS
                && !query.hasLimit()
                && query.near() == null
                && query.order().isEmpty()
                && query.conditions().predicates().isEmpty()
                && query.conditions().testCount() == 0
                && !query.conditions().contradictory()
                && query.columns().stream()
                        .allMatch(column -> column instanceof Column.Declared(var _, int field)
                                && query.type().parent(field) == RecordType.TOP);
    }

    private Rows of(ResultPlan side) {
        JoinPlan join = below(side, top);
        if (join == null) {
            return ofLeaf(side);
        }
        Rows joined = ofJoin(join);
        return side == join ? joined : named((Plan) side, joined);
    }

    private Rows ofLeaf(ResultPlan plan) {
        int leaf = leaves.size();
        leaves.add(plan);
        Map<Integer, LeafField> tops = new HashMap<>();
        for (int field : JoinedType.tops(plan.rowType())) {
            tops.put(field, new LeafField(leaf, field));
        }
        return new Rows(new JoinTree.Leaf(leaf), plan.rowType(), tops);
    }

    /** The fields under the names that a query, or some above one another, gives them. */
    private static Rows named(Plan query, Rows joined) {
        ResultPlan inner = ((PlannedRows) query.view()).plan();
        Rows read = inner instanceof Plan below ? named(below, joined) : joined;
        Map<Integer, LeafField> tops = new HashMap<>();
        RecordType type = query.rowType();
        List<Column> columns = query.query().columns();
        List<Integer> targets = JoinedType.tops(type);
        for (int i = 0; i < targets.size(); i++) {
            int source =
                    columns.isEmpty() ? targets.get(i) : ((Column.Declared) columns.get(i)).field();
            tops.put(targets.get(i), read.field(source));
        }
        return new Rows(joined.tree, type, tops);
    }

    private Rows ofJoin(JoinPlan join) {
        int number = joins.size();
        joins.add(join);
        Rows left = of(join.left());
        Rows right = of(join.right());
        JoinedType type = join.type();
        for (int i = 0; i < type.leftKeys().size(); i++) {
            equalities.add(new Equality(
                    left.field(type.leftKeys().get(i)),
                    right.field(type.rightKeys().get(i))));
        }
        List<LeafField> sources = new ArrayList<>();
        JoinedType.tops(left.type).forEach(field -> sources.add(left.field(field)));
        type.shown().forEach(field -> sources.add(right.field(field)));
        List<Integer> targets = JoinedType.tops(type.rowType());
        Map<Integer, LeafField> tops = new LinkedHashMap<>();
        for (int i = 0; i < targets.size(); i++) {
            tops.put(targets.get(i), sources.get(i));
        }
        Rows joined = new Rows(JoinTree.Pair.of(left.tree, right.tree), type.rowType(), tops);
        byMask.put(joined.tree.mask(), join);
        for (Expression condition : join.request().where()) {
            List<Expression> terms = condition instanceof Expression.And(List<Expression> inner)
                    ? inner
                    : List.of(condition);
            terms.forEach(term -> conditions.add(condition(number, term, joined)));
        }
        return joined;
    }

    private static Condition condition(int join, Expression term, Rows joined) {
        Map<Integer, LeafField> sources = new LinkedHashMap<>();
        long[] needed = {0};
        term.forEachName(name -> {
            int field = joined.type.indexOf(name);
            if (field < 0) {
                // whatever it means: all of what there was is there
                sources.putAll(joined.tops);
                needed[0] = joined.tree.mask();
                return;
            }
            int at = joined.type.isEach(field) ? joined.type.arrayOf(field) : field;
            while (joined.type.parent(at) != RecordType.TOP) {
                at = joined.type.parent(at);
            }
            LeafField source = require(joined.tops.get(at));
            sources.put(at, source);
            needed[0] |= 1L << source.leaf;
        });
        boolean isFree = needed[0] != 0 && isPlain(term);
        return new Condition(
                join, term, joined.type, sources, isFree ? needed[0] : joined.tree.mask());
    }

    /** Whether it can't fail, whatever the values are. */
    private static boolean isPlain(Expression expression) {
        return switch (expression) {
            case Expression.Name _, Expression.Constant _ -> true;
            case Expression.Comparison(Expression left, var _, Expression right) ->
                isPlain(left) && isPlain(right);
            case Expression.And(List<Expression> terms) ->
                terms.stream().allMatch(JoinGraph::isPlain);
            case Expression.Or(List<Expression> terms) ->
                terms.stream().allMatch(JoinGraph::isPlain);
            case Expression.Call _, Expression.Parameter _, Expression.Path _ -> false;
        };
    }

    private static LeafField require(@Nullable LeafField field) {
        if (field == null) {
            throw new IllegalStateException("a field of no relation");
        }
        return field;
    }

    /** The relations, from left to right as they are written. */
    List<ResultPlan> leaves() {
        return leaves;
    }

    /** Fields that must be equal, each list to one another, perhaps by way of others. */
    List<List<LeafField>> sames() {
        return sames;
    }

    /** What a field lies in at the top of its relation. */
    LeafField top(LeafField field) {
        RecordType type = leaves.get(field.leaf).rowType();
        int at = field.field;
        while (type.parent(at) != RecordType.TOP) {
            at = type.parent(at);
        }
        return new LeafField(field.leaf, at);
    }

    RunOptions options() {
        return top.options();
    }

    List<Condition> conditions() {
        return conditions;
    }

    /** All joins of the tree, the top one first. */
    List<JoinPlan> joins() {
        return joins;
    }

    /** Whether a join that is written so holds its left side. */
    boolean isLeftHeld(JoinTree.Pair written) {
        JoinPlan join = byMask.get(written.mask());
        return join != null && join.isBuiltFromLeft();
    }

    /** The order as it is written. */
    JoinTree.Pair written() {
        return (JoinTree.Pair) rows.tree;
    }

    /** What each field at the top of the rows is, in their order. */
    Map<Integer, LeafField> fields() {
        return rows.tops;
    }

    RecordType rowType() {
        return rows.type;
    }
}
