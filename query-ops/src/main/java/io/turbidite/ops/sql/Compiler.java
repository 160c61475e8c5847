package io.turbidite.ops.sql;

import io.turbidite.core.expr.Expression;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.Join;
import io.turbidite.ops.Nulls;
import io.turbidite.ops.Order;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Relation;
import io.turbidite.ops.SetOperation;
import io.turbidite.ops.Values;
import io.turbidite.ops.expr.Predicate;

import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelRoot;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.SetOp;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Makes queries and joins of a tree of relational operators. <em>Confined to one thread.</em> */
final class Compiler {
    private final RexBuilder rex;

    /** What is read where a statement names a source. */
    private final UnaryOperator<SourceAndView> reading;

    Compiler(RexBuilder rex) {
        this(rex, UnaryOperator.identity());
    }

    Compiler(RexBuilder rex, UnaryOperator<SourceAndView> reading) {
        this.rex = rex;
        this.reading = reading;
    }

    /** The whole statement: its rows have the columns as it names them. */
    Relation compile(RelRoot root) {
        Block block = block(root.rel);
        List<Expression> columns = new ArrayList<>();
        List<String> names = new ArrayList<>();
        Set<String> taken = new HashSet<>();
        for (Map.Entry<Integer, String> field : root.fields) {
            columns.add(block.columns().get(field.getKey()));
            names.add(unique(label(field.getValue()), taken));
        }
        block.columns(columns);
        return block.named(names);
    }

    /** What has no name has one by its place. */
    private static String label(String name) {
        return name.startsWith("EXPR$")
                ? "column" + (Integer.parseInt(name.substring("EXPR$".length())) + 1)
                : name;
    }

    private static String unique(String name, Set<String> taken) {
        String free = name;
        for (int i = 2; !taken.add(free); i++) {
            free = name + "_" + i;
        }
        return free;
    }

    private Block block(RelNode node) {
        return switch (node) {
            case TableScan scan -> {
                DatasetTable table =
                        Objects.requireNonNull(scan.getTable().unwrap(DatasetTable.class));
                yield Block.of(reading.apply(table.readable()), table.open());
            }
            case Filter filter -> filtered(filter);
            case Project project -> projected(project);
            case Sort sort -> sorted(sort);
            case org.apache.calcite.rel.core.Aggregate aggregate ->
                new Grouping(rex, aggregate, () -> block(aggregate.getInput())).block();
            case org.apache.calcite.rel.core.Join join -> joined(join);
            case org.apache.calcite.rel.core.Values values -> given(values);
            case SetOp sets -> combined(sets);
            case Correlate correlate -> unnested(correlate);
            case org.apache.calcite.rel.core.Window window -> windowed(window);
            default -> throw Terms.unsupported(construct(node));
        };
    }

    private static String construct(RelNode node) {
        String name = node.getRelTypeName().replace("Logical", "");
        return switch (name) {
            case "Correlate" -> "this correlated subquery";
            case "Window" -> "a window function";
            case "Uncollect" -> "UNNEST";
            case "RepeatUnion" -> "WITH RECURSIVE";
            default -> name.toUpperCase(Locale.ROOT);
        };
    }

    private Block filtered(Filter filter) {
        Block input = block(filter.getInput());
        Block block = input.takesConditions() ? input : input.wrapped();
        RexNode condition = RexUtil.expandSearch(rex, null, filter.getCondition());
        List<RexNode> rest = new ArrayList<>();
        for (RexNode term : RelOptUtil.conjunctions(condition)) {
            Predicate near = distance(term, block);
            if (near == null) {
                rest.add(term);
            } else {
                block.where(near);
            }
        }
        if (!rest.isEmpty()) {
            block.where(new Scalars(rex, block.columns())
                    .filter(RexUtil.composeConjunction(rex, rest)));
        }
        return block;
    }

    /** {@code ST_DISTANCE(field, ST_POINT(x, y)) <= r}, which an index of places can answer. */
    private static @Nullable Predicate distance(RexNode term, Block block) {
        if (!(term instanceof RexCall call)
                || call.getKind() != SqlKind.LESS_THAN_OR_EQUAL
                || !(call.operands.get(0) instanceof RexCall distance)
                || !distance.getOperator().equals(Operators.DISTANCE)) {
            return null;
        }
        BigDecimal radius = number(call.operands.get(1));
        RexNode field = distance.operands.get(0);
        if (radius == null
                || !(distance.operands.get(1) instanceof RexCall point)
                || !point.getOperator().equals(Operators.POINT)
                || !(field instanceof RexInputRef reference)) {
            return null;
        }
        BigDecimal x = number(point.operands.get(0));
        BigDecimal y = number(point.operands.get(1));
        String name = block.fieldOf(reference.getIndex());
        return x == null || y == null || name == null
                ? null
                : Predicates.distance(name, x.doubleValue(), y.doubleValue(), radius.doubleValue());
    }

    static @Nullable BigDecimal number(RexNode node) {
        if (node instanceof RexCall call && call.isA(SqlKind.CAST)) {
            return number(call.operands.get(0));
        }
        return node instanceof RexLiteral literal && !literal.isNull()
                ? literal.getValueAs(BigDecimal.class)
                : null;
    }

    private Block projected(Project project) {
        if (project.containsOver()) {
            throw Terms.unsupported("a window function (OVER), or a subquery that would need one,");
        }
        Block input = block(project.getInput());
        boolean isRenaming = project.getProjects().stream().allMatch(RexInputRef.class::isInstance);
        Block block = isRenaming || input.takesColumns() ? input : input.wrapped();
        Scalars scalars = new Scalars(rex, block.columns());
        block.columns(project.getProjects().stream().map(scalars::value).toList());
        return block;
    }

    private Block sorted(Sort sort) {
        Block block = block(sort.getInput());
        List<RelFieldCollation> keys = sort.getCollation().getFieldCollations();
        if (!keys.isEmpty() && !block.isSummary()) {
            block = ordered(block, keys);
        }
        if (sort.fetch != null || sort.offset != null) {
            block = block.takesLimit() ? block : block.wrapped();
            block.limit(
                    sort.offset == null ? 0 : count(sort.offset, "OFFSET"),
                    sort.fetch == null ? Block.NO_LIMIT : count(sort.fetch, "LIMIT"));
        }
        return block;
    }

    private static long count(RexNode node, String what) {
        BigDecimal number = number(node);
        if (number == null) {
            throw Terms.unsupported(what + " with anything but a number");
        }
        if (number.signum() < 0) {
            throw SqlException.of("%s %s is below 0".formatted(what, number));
        }
        return number.min(BigDecimal.valueOf(Long.MAX_VALUE)).longValue();
    }

    private static Block ordered(Block input, List<RelFieldCollation> keys) {
        boolean areFields =
                keys.stream().allMatch(key -> input.fieldOf(key.getFieldIndex()) != null);
        Block block = input.takesOrder() && areFields ? input : input.wrapped();
        List<Block.By> by = new ArrayList<>();
        for (RelFieldCollation key : keys) {
            by.add(new Block.By(
                    Objects.requireNonNull(block.fieldOf(key.getFieldIndex())),
                    key.direction.isDescending() ? Order.DESC : Order.ASC,
                    areNullsFirst(key) ? Nulls.FIRST : Nulls.LAST));
        }
        block.order(by);
        return block;
    }

    static boolean areNullsFirst(RelFieldCollation key) {
        return switch (key.nullDirection) {
            case UNSPECIFIED -> !key.direction.isDescending();
            case FIRST -> true;
            case LAST -> false;
        };
    }

    /** Rows that the statement has in it. */
    private Block given(org.apache.calcite.rel.core.Values values) {
        List<String> names = new ArrayList<>();
        List<Field> fields = new ArrayList<>();
        for (RelDataTypeField field : values.getRowType().getFieldList()) {
            names.add("v$" + field.getIndex());
            fields.add(Types.field(
                    names.getLast(), field.getType(), !values.getTuples().isEmpty()));
        }
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        for (List<RexLiteral> literals : values.getTuples()) {
            Map<String, @Nullable Object> row = new HashMap<>();
            for (int i = 0; i < literals.size(); i++) {
                row.put(
                        names.get(i),
                        Folding.value(rex, literals.get(i), fields.get(i).kind()));
            }
            rows.add(row);
        }
        return Block.of(Values.of(RecordType.of(fields), rows), names);
    }

    private Block combined(SetOp sets) {
        List<Relation> sides = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (int i = 0; i < sets.getRowType().getFieldCount(); i++) {
            names.add("s$" + i);
        }
        for (RelNode input : sets.getInputs()) {
            sides.add(block(input).named(names));
        }
        Relation first = sides.getFirst();
        Relation[] more = sides.subList(1, sides.size()).toArray(Relation[]::new);
        return Block.of(
                switch (sets.kind) {
                    case UNION ->
                        sets.all
                                ? SetOperation.unionAll(first, more)
                                : SetOperation.union(first, more);
                    case INTERSECT -> inTurn(sides, sets.all, true);
                    default -> inTurn(sides, sets.all, false);
                },
                names);
    }

    private static Relation inTurn(List<Relation> sides, boolean all, boolean intersects) {
        Relation result = sides.getFirst();
        for (Relation side : sides.subList(1, sides.size())) {
            result = intersects
                    ? all
                            ? SetOperation.intersectAll(result, side)
                            : SetOperation.intersect(result, side)
                    : all
                            ? SetOperation.exceptAll(result, side)
                            : SetOperation.except(result, side);
        }
        return result;
    }

    private Block joined(org.apache.calcite.rel.core.Join join) {
        Block left = block(join.getLeft());
        Block right = block(join.getRight());
        List<Integer> leftKeys = new ArrayList<>();
        List<Integer> rightKeys = new ArrayList<>();
        List<Boolean> nullsDiffer = new ArrayList<>();
        List<RexNode> rest = new ArrayList<>();
        RelOptUtil.splitJoinCondition(
                join.getLeft(),
                join.getRight(),
                join.getCondition(),
                leftKeys,
                rightKeys,
                nullsDiffer,
                rest);
        if (nullsDiffer.contains(false)) {
            // a null equals a null here: nothing that keys can say
            leftKeys.clear();
            rightKeys.clear();
            rest = RelOptUtil.conjunctions(join.getCondition());
        }
        JoinRelType kind = join.getJoinType();
        boolean isLeftWhole =
                kind != JoinRelType.RIGHT && kind != JoinRelType.FULL && left.areFields();
        Set<String> taken = new HashSet<>(isLeftWhole ? left.fieldNames() : Set.of());
        List<String> leftNames =
                isLeftWhole ? left.columnFields() : InnerNames.of(left.columns(), "l$", taken);
        List<String> rightNames = InnerNames.of(right.columns(), "r$", taken);
        // a join copies what is asked for: there is no need to make a row of it first
        Relation l = isLeftWhole ? left.whole() : left.named(leftNames);
        Relation r = right.named(rightNames);
        boolean isSwapped = kind == JoinRelType.RIGHT;
        boolean isCross = kind == JoinRelType.INNER && leftKeys.isEmpty() && rest.isEmpty();
        Join joined = switch (kind) {
            case INNER -> isCross ? Join.cross(l, r) : Join.inner(l, r);
            case LEFT -> Join.left(l, r);
            case RIGHT -> Join.left(r, l);
            case FULL -> Join.full(l, r);
            case SEMI -> Join.semi(l, r);
            case ANTI -> Join.anti(l, r);
            default -> throw Terms.unsupported(kind + " JOIN");
        };
        for (int i = 0; i < leftKeys.size(); i++) {
            boolean isLeftOpen = isOpen(join.getLeft(), leftKeys.get(i));
            if (isLeftOpen != isOpen(join.getRight(), rightKeys.get(i))) {
                throw Terms.unsupported(
                        "a join by a field that is not declared and another (write CAST(t.x AS …))");
            }
            String a = leftNames.get(leftKeys.get(i));
            String b = rightNames.get(rightKeys.get(i));
            joined.on(isSwapped ? b : a, isSwapped ? a : b);
        }
        List<String> both = new ArrayList<>(leftNames);
        both.addAll(rightNames);
        List<Expression> pairs =
                both.stream().<Expression>map(Expression.Name::new).toList();
        Scalars scalars = new Scalars(rex, pairs);
        scalars.filter(RexUtil.composeConjunction(rex, rest)).forEach(joined::where);
        if (!isCross && leftKeys.isEmpty() && rest.isEmpty()) {
            joined.where(Terms.always());
        }
        return Block.of(joined, kind.projectsRight() ? both : leftNames);
    }

    /** One window after another over the rows, each with its functions. */
    private Block windowed(org.apache.calcite.rel.core.Window window) {
        Block input = block(window.getInput());
        Block block = input.takesColumns() ? input : input.wrapped();
        return new Windows(window).over(block);
    }

    private static boolean isOpen(RelNode side, int column) {
        RelDataTypeField field = side.getRowType().getFieldList().get(column);
        return Types.isOpen(field.getType());
    }

    /** Rows with the elements of their arrays: {@code t, UNNEST(t.tags) AS u(tag)}. */
    private Block unnested(Correlate correlate) {
        Block left = block(correlate.getLeft());
        List<String> names = InnerNames.of(left.columns(), "l$");
        boolean keepsEmpty = correlate.getJoinType() == JoinRelType.LEFT;
        if (!keepsEmpty && correlate.getJoinType() != JoinRelType.INNER) {
            throw Terms.unsupported("this correlated subquery");
        }
        return new Elements(rex, correlate.getCorrelationId(), left.named(names), names)
                .joined(correlate.getRight(), keepsEmpty);
    }
}
