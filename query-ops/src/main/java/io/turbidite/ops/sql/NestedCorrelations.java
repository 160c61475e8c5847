package io.turbidite.ops.sql;

import org.apache.calcite.rel.RelHomogeneousShuttle;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelShuttleImpl;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.Uncollect;
import org.apache.calcite.rel.logical.LogicalCorrelate;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.util.ImmutableBitSet;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Makes columns of the fields in nested records that a subquery names of the row around it ({@code
 * u.lang = t.user.lang}). Calcite's decorrelator would group by the records that they are in, which
 * nothing here can compare. Stateless.
 */
final class NestedCorrelations extends RelShuttleImpl {
    private NestedCorrelations() {}

    /** The same rows. */
    static RelNode flattened(RelNode statement) {
        return statement.accept(new NestedCorrelations());
    }

    @Override
    public RelNode visit(LogicalCorrelate correlate) {
        RelNode visited = super.visit(correlate);
        if (!(visited instanceof LogicalCorrelate inner) || hasElements(inner.getRight())) {
            return visited;
        }
        Set<List<Integer>> paths = new LinkedHashSet<>();
        RelNode _ = replaced(inner, path -> {
            paths.add(path);
            return path;
        });
        return paths.stream().allMatch(path -> path.size() == 1)
                ? visited
                : flattened(inner, List.copyOf(paths));
    }

    /** Elements of an array are read where it lies. */
    private static boolean hasElements(RelNode node) {
        return node instanceof Uncollect
                || node.getInputs().stream().anyMatch(NestedCorrelations::hasElements);
    }

    private static RelNode flattened(LogicalCorrelate correlate, List<List<Integer>> paths) {
        RelNode left = correlate.getLeft();
        RexBuilder rex = correlate.getCluster().getRexBuilder();
        int count = left.getRowType().getFieldCount();
        List<RexNode> columns = new ArrayList<>();
        List<String> names = new ArrayList<>(left.getRowType().getFieldNames());
        for (int i = 0; i < count; i++) {
            columns.add(rex.makeInputRef(left, i));
        }
        for (List<Integer> path : paths) {
            RexNode value = rex.makeInputRef(left, path.getFirst());
            for (int field : path.subList(1, path.size())) {
                value = rex.makeFieldAccess(value, field);
            }
            columns.add(value);
            names.add("n$" + names.size());
        }
        RelNode wide = LogicalProject.create(left, List.of(), columns, names, Set.of());
        List<Integer> places = new ArrayList<>();
        paths.forEach(path -> places.add(count + places.size()));
        LogicalCorrelate over = LogicalCorrelate.create(
                wide,
                correlate.getRight(),
                correlate.getHints(),
                correlate.getCorrelationId(),
                ImmutableBitSet.of(places),
                correlate.getJoinType());
        RelNode right = replaced(over, path -> List.of(count + paths.indexOf(path)));
        return narrow(over.copy(over.getTraitSet(), List.of(wide, right)), correlate, paths.size());
    }

    /** Without the columns between those of the left side and those of the right one. */
    private static RelNode narrow(RelNode wide, LogicalCorrelate as, int added) {
        RexBuilder rex = as.getCluster().getRexBuilder();
        int leftCount = as.getLeft().getRowType().getFieldCount();
        List<RexNode> columns = new ArrayList<>();
        for (int i = 0; i < as.getRowType().getFieldCount(); i++) {
            columns.add(rex.makeInputRef(wide, i < leftCount ? i : i + added));
        }
        return LogicalProject.create(
                wide, List.of(), columns, as.getRowType().getFieldNames(), Set.of());
    }

    /**
     * The right side, with other paths to what it names of a left row.
     *
     * @param renamed places from the left row inwards
     */
    private static RelNode replaced(
            LogicalCorrelate correlate, UnaryOperator<List<Integer>> renamed) {
        RexBuilder rex = correlate.getCluster().getRexBuilder();
        CorrelationId row = correlate.getCorrelationId();
        RexShuttle values = new RexShuttle() {
            @Override
            public RexNode visitFieldAccess(RexFieldAccess access) {
                List<Integer> path = path(access, row);
                if (path.isEmpty()) {
                    return super.visitFieldAccess(access);
                }
                RexNode value = rex.makeCorrel(correlate.getLeft().getRowType(), row);
                for (int field : renamed.apply(path)) {
                    value = rex.makeFieldAccess(value, field);
                }
                return value;
            }
        };
        return correlate.getRight().accept(new RelHomogeneousShuttle() {
            @Override
            public RelNode visit(RelNode other) {
                return super.visit(other).accept(values);
            }
        });
    }

    /** The places from the row inwards; empty if it is a field of another one. */
    private static List<Integer> path(RexFieldAccess access, CorrelationId row) {
        List<Integer> path = new ArrayList<>();
        RexNode node = access;
        while (node instanceof RexFieldAccess outer) {
            path.addFirst(outer.getField().getIndex());
            node = outer.getReferenceExpr();
        }
        return node instanceof RexCorrelVariable variable && variable.id.equals(row)
                ? path
                : List.of();
    }
}
