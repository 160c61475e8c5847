package io.turbidite.ops.plan;

import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.Operator;
import io.turbidite.ops.join.HashJoin;
import io.turbidite.ops.plan.JoinGraph.Condition;
import io.turbidite.ops.plan.JoinGraph.LeafField;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * About how many rows some relations of a graph have when they are joined, in whatever order, and
 * what it costs to join two parts. <em>Confined to one thread.</em>
 *
 * <p>Fields that must be equal, perhaps by way of others, are one class. Each value of the side
 * that has more is taken to meet one of the other side (containment; Selinger et al., SIGMOD 1979):
 * a pair is left of as many as the larger number of values. Classes are taken for independent, but
 * no relation has more combinations of values than records.
 */
final class JoinEstimates {
    /** Of comparisons between relations: an equality of what is worked out, an order, others. */
    private static final double EQUAL = 0.05;

    private static final double ORDERED = 0.3;

    private final JoinGraph graph;
    private final int leafCount;
    private final double[] leafRows;
    private final double[] baseRows;

    /** Values of each class in each relation; 0 if it has no field of it. */
    private final List<double[]> values = new ArrayList<>();

    /** The relations of each class. */
    private final List<Long> classes = new ArrayList<>();

    /**
     * What a scan of each relation costs that may be read by keys of the class instead, once they
     * are known; 0 of others.
     */
    private final List<double[]> scans = new ArrayList<>();

    private final Map<Long, Double> known = new HashMap<>();

    /** Whether the relations have other rows than their plans expect. */
    private final boolean areGiven;

    private JoinEstimates(JoinGraph graph, double[] leafRows, boolean areGiven) {
        this.graph = graph;
        this.areGiven = areGiven;
        this.leafCount = leafRows.length;
        this.leafRows = leafRows;
        this.baseRows = new double[leafCount];
        for (int i = 0; i < leafCount; i++) {
            baseRows[i] =
                    Math.max(leafRows[i], DistinctValues.baseRows(graph.leaves().get(i)));
        }
        findClasses();
    }

    /**
     * Looks at the relations.
     *
     * @param rowsMin where they have fewer, all together, any order is good
     * @return null where of one nothing is known, or any order is good
     */
    static @Nullable JoinEstimates of(JoinGraph graph, long rowsMin) {
        double[] leafRows = new double[graph.leaves().size()];
        double all = 0;
        for (int i = 0; i < leafRows.length; i++) {
            long rows = graph.leaves().get(i).estimatedRows();
            if (rows == PlanStep.UNKNOWN) {
                return null;
            }
            // none are expected of a few that were guessed: what is joined with them is not free
            leafRows[i] = (double) Math.max(1, rows);
            all += rows;
        }
        return all < rowsMin ? null : new JoinEstimates(graph, leafRows, false);
    }

    /** Of relations that have so many rows. */
    static JoinEstimates ofRows(JoinGraph graph, double[] leafRows) {
        return new JoinEstimates(graph, leafRows, true);
    }

    private void findClasses() {
        DistinctValues distinct = new DistinctValues();
        for (List<LeafField> fields : graph.sames()) {
            double[] of = new double[leafCount];
            double[] scan = new double[leafCount];
            long mask = 0;
            for (LeafField field : fields) {
                int leaf = field.leaf();
                double count = distinct.of(graph.leaves().get(leaf), field.field());
                mask |= 1L << leaf;
                // of unknown fields a tenth of the rows: so it was guessed in System R
                double told = count == DistinctValues.UNKNOWN ? leafRows[leaf] / 10 : count;
                of[leaf] = Math.max(1, Math.max(of[leaf], told));
                if (graph.leaves().get(leaf) instanceof Plan plan
                        && graph.top(field).equals(field)) {
                    scan[leaf] = Math.max(scan[leaf], plan.scanCostBeside(field.field()));
                }
            }
            scans.add(scan);
            values.add(of);
            classes.add(mask);
        }
    }

    /** About how many rows these relations have together. */
    double rows(long mask) {
        Double before = known.get(mask);
        if (before != null) {
            return before;
        }
        int last = Long.SIZE - 1 - Long.numberOfLeadingZeros(mask);
        long rest = mask & ~(1L << last);
        double rows = rest == 0
                ? leafRows[last]
                : rows(rest) * leafRows[last] / values(last, rest) * shares(mask, rest);
        known.put(mask, rows);
        return rows;
    }

    /** The values of what a relation is joined by with others, of the side that has more. */
    private double values(int last, long rest) {
        double ofLast = 1;
        double[] ofRest = new double[leafCount];
        for (int i = 0; i < classes.size(); i++) {
            long shared = classes.get(i) & rest;
            double[] of = values.get(i);
            if (of[last] > 0 && shared != 0) {
                ofLast *= of[last];
                int fewest = fewest(of, shared);
                ofRest[fewest] = Math.max(1, ofRest[fewest]) * of[fewest];
            }
        }
        double product = 1;
        for (int leaf = 0; leaf < leafCount; leaf++) {
            product *= Math.max(1, Math.min(ofRest[leaf], baseRows[leaf]));
        }
        return Math.max(product, Math.max(1, Math.min(ofLast, baseRows[last])));
    }

    private int fewest(double[] of, long mask) {
        int fewest = Long.numberOfTrailingZeros(mask);
        for (int leaf = fewest + 1; leaf < leafCount; leaf++) {
            if ((mask >> leaf & 1) != 0 && of[leaf] < of[fewest]) {
                fewest = leaf;
            }
        }
        return fewest;
    }

    /** What is left by the conditions that can be asked of some relations, and not of fewer. */
    private double shares(long mask, long rest) {
        double share = 1;
        for (Condition condition : graph.conditions()) {
            long needed = condition.leaves();
            boolean isNew =
                    (needed & ~mask) == 0 && ((needed & ~rest) != 0 || Long.bitCount(rest) == 1);
            share *= isNew ? share(condition) : 1;
        }
        return share;
    }

    private static double share(Condition condition) {
        if (condition.sources().isEmpty()) {
            return 1;
        }
        if (!(condition.expression() instanceof Expression.Comparison(var _, Operator by, var _))) {
            return Shares.CONDITION;
        }
        return by == Operator.EQUAL ? EQUAL : by.isOrder() ? ORDERED : Shares.CONDITION;
    }

    /** Whether fields of both parts must be equal. */
    boolean areEqual(long a, long b) {
        for (long of : classes) {
            if ((of & a) != 0 && (of & b) != 0) {
                return true;
            }
        }
        return false;
    }

    /** Whether something is asked of pairs of both parts. */
    boolean areConnected(long a, long b) {
        if (areEqual(a, b)) {
            return true;
        }
        for (Condition condition : graph.conditions()) {
            long needed = condition.leaves();
            if ((needed & ~(a | b)) == 0 && (needed & a) != 0 && (needed & b) != 0) {
                return true;
            }
        }
        return false;
    }

    /** Parts that nothing connects. */
    List<Long> components() {
        List<Long> components = new ArrayList<>();
        for (int leaf = 0; leaf < leafCount; leaf++) {
            unite(components, 1L << leaf);
        }
        classes.forEach(mask -> unite(components, mask));
        graph.conditions().forEach(condition -> unite(components, condition.leaves()));
        return components;
    }

    private static void unite(List<Long> components, long mask) {
        long united = mask;
        for (int i = components.size() - 1; i >= 0; i--) {
            if ((components.get(i) & united) != 0) {
                united |= components.remove(i);
            }
        }
        components.add(united);
    }

    /**
     * What scans cost of those relations that one order or the other reads by keys instead.
     *
     * @param a holds the right part of each pair
     * @param written holds what {@link #written} says
     */
    double scans(JoinTree a, JoinTree written) {
        Set<Integer> spared = new HashSet<>();
        addSpared(a, false, spared);
        addSpared(written, true, spared);
        double all = 0;
        for (int leaf : spared) {
            double most = 0;
            for (double[] of : scans) {
                most = Math.max(most, of[leaf]);
            }
            all += most;
        }
        return all;
    }

    private void addSpared(JoinTree tree, boolean isWritten, Set<Integer> spared) {
        if (tree instanceof JoinTree.Pair pair) {
            addSpared(pair.left(), isWritten, spared);
            addSpared(pair.right(), isWritten, spared);
            boolean holdsLeft = isWritten && holdsLeft(pair);
            long held = (holdsLeft ? pair.left() : pair.right()).mask();
            long passing = pair.mask() & ~held;
            if (narrowed(held, passing).saved > 0) {
                spared.add(Long.numberOfTrailingZeros(passing));
            }
        }
    }

    private boolean holdsLeft(JoinTree.Pair written) {
        return areGiven
                ? JoinRows.isLeftSmaller(
                        rows(written.left().mask()), rows(written.right().mask()))
                : graph.isLeftHeld(written);
    }

    /**
     * What joining two parts costs beside what these cost, the smaller one held. Below 0 where the
     * keys that it holds spare a scan of the other one.
     */
    double cost(long a, long b) {
        return cost(a, b, rows(a) < rows(b));
    }

    private double cost(long a, long b, boolean holdsFirst) {
        double held = rows(holdsFirst ? a : b);
        double passing = rows(holdsFirst ? b : a);
        if (!areEqual(a, b)) {
            return AccessCost.join(held, passing * Math.max(1, held), rows(a | b));
        }
        Narrowed by = narrowed(holdsFirst ? a : b, holdsFirst ? b : a);
        return AccessCost.join(held, passing * by.share, rows(a | b)) - by.saved;
    }

    /**
     * What comes of reading a side by the keys of the other.
     *
     * @param share of its records that are read
     * @param saved of the cost of its scan
     */
    private record Narrowed(double share, double saved) {
        static final Narrowed NOT = new Narrowed(1, 0);
    }

    /** As {@link PassingSide} does it when the keys are known. */
    private Narrowed narrowed(long held, long passing) {
        int leaf = Long.numberOfTrailingZeros(passing);
        int by = -1;
        for (int i = 0; i < classes.size(); i++) {
            if ((classes.get(i) & held) != 0 && (classes.get(i) & passing) != 0) {
                if (by >= 0) {
                    return Narrowed.NOT;
                }
                by = i;
            }
        }
        if (Long.bitCount(passing) != 1 || by < 0 || scans.get(by)[leaf] == 0) {
            return Narrowed.NOT;
        }
        double[] of = values.get(by);
        double keys = Math.min(rows(held), of[fewest(of, classes.get(by) & held)]);
        double share = Math.min(1, keys / of[leaf]);
        double all = baseRows[leaf];
        double read = AccessCost.byKeys(keys, all * share, all);
        return keys <= HashJoin.NARROWING_KEYS_MAX && read < scans.get(by)[leaf]
                ? new Narrowed(share, scans.get(by)[leaf] - read)
                : Narrowed.NOT;
    }

    /** What an order costs, with each side held that a join as it is written holds. */
    double written(JoinTree tree) {
        return switch (tree) {
            case JoinTree.Leaf _ -> 0;
            case JoinTree.Pair pair -> {
                JoinTree left = pair.left();
                JoinTree right = pair.right();
                boolean holdsLeft = holdsLeft(pair);
                yield written(left) + written(right) + cost(left.mask(), right.mask(), holdsLeft);
            }
        };
    }
}
