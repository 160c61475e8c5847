package io.turbidite.ops.plan;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The order in which relations are joined: the cheapest of all by dynamic programming where they
 * are few (Selinger et al., SIGMOD 1979, over bushy trees too), else the pair that has the fewest
 * rows, again and again. Pairs that nothing connects are joined only where there is no other way,
 * and last. Static, without state.
 */
final class JoinOrder {
    /** Of more the ways to split them are too many: of 8 they are 3,025, of 12 some 260,000. */
    static final int EXACT_COUNT_MAX = 8;

    /** So few rows are joined in any order sooner than an order is found. */
    static final long ROWS_MIN = 256;

    /**
     * Another order than the written one must cost so much of it at most: estimates are not that
     * good, and who wrote it may have known.
     */
    private static final double BETTER = 0.8;

    private JoinOrder() {}

    /**
     * An order, and what is told of it.
     *
     * @param tree the cheapest that was found, or the written one
     * @param cost of all its joins, and of the relations that it may read by an index of keys that
     *     another one has; without the others
     * @param writtenCost the same of the order as it is written
     * @param isWritten whether the order is the written one
     */
    record Chosen(
            JoinGraph graph,
            JoinEstimates estimates,
            JoinTree tree,
            double cost,
            double writtenCost,
            boolean isWritten) {
        long rows() {
            return Math.round(estimates.rows(tree.mask()));
        }

        /** All that was weighed. */
        List<Plan.Choice> choices() {
            Plan.Choice best =
                    new Plan.Choice("join order " + text(tree), AccessCost.OPEN + cost, !isWritten);
            Plan.Choice written = new Plan.Choice(
                    "as written " + text(graph.written()),
                    AccessCost.OPEN + writtenCost,
                    isWritten);
            return tree.equals(graph.written()) || cost > writtenCost
                    ? List.of(written)
                    : List.of(best, written);
        }

        private String text(JoinTree of) {
            return switch (of) {
                case JoinTree.Leaf(int number) -> label(number);
                case JoinTree.Pair(JoinTree left, JoinTree right, var _) ->
                    "(%s, %s)".formatted(text(left), text(right));
            };
        }

        /** The name of what it reads, with its number where that stands there twice. */
        String label(int leaf) {
            List<ResultPlan> leaves = graph.leaves();
            String name = name(leaves.get(leaf));
            boolean isTwice =
                    leaves.stream().filter(one -> name(one).equals(name)).count() > 1;
            return isTwice ? "%s#%d".formatted(name, leaf + 1) : name;
        }

        private static String name(ResultPlan leaf) {
            return leaf instanceof Plan plan ? plan.query().source().name() : "rows";
        }
    }

    /** Null where there is nothing to order, or nothing to tell orders from one another by. */
    static @Nullable Chosen of(JoinPlan top) {
        JoinGraph graph = JoinGraph.of(top);
        JoinEstimates estimates = graph == null ? null : JoinEstimates.of(graph, ROWS_MIN);
        if (graph == null || estimates == null) {
            return null;
        }
        // costs ask what joins below have: they are as they are written, whatever is best for them
        graph.joins().stream().filter(join -> join != top).forEach(JoinPlan::stayAsWritten);
        return of(graph, estimates);
    }

    static Chosen of(JoinGraph graph, JoinEstimates estimates) {
        List<Costed> parts = new ArrayList<>();
        for (long component : estimates.components()) {
            parts.add(
                    Long.bitCount(component) <= EXACT_COUNT_MAX
                            ? exactly(estimates, component)
                            : greedily(estimates, leavesOf(component)));
        }
        Costed best = greedily(estimates, parts);
        double scans = estimates.scans(best.tree, graph.written());
        double cost = scans + best.cost;
        double writtenCost = scans + estimates.written(graph.written());
        boolean isWritten = best.tree.equals(graph.written()) || !(cost < BETTER * writtenCost);
        return new Chosen(graph, estimates, best.tree, cost, writtenCost, isWritten);
    }

    private record Costed(JoinTree tree, double cost) {}

    private static List<Costed> leavesOf(long mask) {
        List<Costed> leaves = new ArrayList<>();
        for (int leaf = 0; leaf < Long.SIZE; leaf++) {
            if ((mask >> leaf & 1) != 0) {
                leaves.add(new Costed(new JoinTree.Leaf(leaf), 0));
            }
        }
        return leaves;
    }

    private static Costed pair(JoinEstimates estimates, Costed a, Costed b) {
        long x = a.tree.mask();
        long y = b.tree.mask();
        boolean isFirstSmaller = estimates.rows(x) < estimates.rows(y);
        return new Costed(
                isFirstSmaller
                        ? JoinTree.Pair.of(b.tree, a.tree)
                        : JoinTree.Pair.of(a.tree, b.tree),
                a.cost + b.cost + estimates.cost(x, y));
    }

    /** By all splits of all their subsets. */
    private static Costed exactly(JoinEstimates estimates, long component) {
        List<Costed> leaves = leavesOf(component);
        Costed connected = exactly(estimates, leaves, false);
        if (connected != null) {
            return connected;
        }
        // a condition on three of them, for example, of which no two have anything in common
        Costed any = exactly(estimates, leaves, true);
        if (any == null) {
            throw new IllegalStateException("no order of " + leaves);
        }
        return any;
    }

    private static @Nullable Costed exactly(
            JoinEstimates estimates, List<Costed> leaves, boolean mayCross) {
        int all = 1 << leaves.size();
        @Nullable Costed[] best = new Costed[all];
        for (int set = 1; set < all; set++) {
            if (Integer.bitCount(set) == 1) {
                best[set] = leaves.get(Integer.numberOfTrailingZeros(set));
                continue;
            }
            for (int some = set - 1 & set; some > 0; some = some - 1 & set) {
                Costed a = best[some];
                Costed b = best[set ^ some];
                if (some < (set ^ some) || a == null || b == null) {
                    continue;
                }
                Costed before = best[set];
                if (mayCross || estimates.areConnected(a.tree.mask(), b.tree.mask())) {
                    Costed pair = pair(estimates, a, b);
                    best[set] = before == null || pair.cost < before.cost ? pair : before;
                }
            }
        }
        return best[all - 1];
    }

    /** The pair with the fewest rows first, connected ones before others. */
    private static Costed greedily(JoinEstimates estimates, List<Costed> parts) {
        List<Costed> rest = new ArrayList<>(parts);
        rest.sort(Comparator.comparingLong(part -> Long.numberOfTrailingZeros(part.tree.mask())));
        while (rest.size() > 1) {
            int first = 0;
            int second = 1;
            double fewest = Double.POSITIVE_INFINITY;
            boolean isConnected = false;
            for (int i = 0; i < rest.size(); i++) {
                for (int j = i + 1; j < rest.size(); j++) {
                    long a = rest.get(i).tree.mask();
                    long b = rest.get(j).tree.mask();
                    boolean connects = estimates.areConnected(a, b);
                    double rows = estimates.rows(a | b);
                    if ((connects && !isConnected) || (connects == isConnected && rows < fewest)) {
                        first = i;
                        second = j;
                        fewest = rows;
                        isConnected = connects;
                    }
                }
            }
            Costed pair = pair(estimates, rest.get(first), rest.remove(second));
            rest.set(first, pair);
        }
        return rest.getFirst();
    }
}
