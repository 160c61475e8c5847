package io.turbidite.lsm.strategy.advice;

import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.strategy.advice.Advice.IndexAdvice;
import io.turbidite.lsm.strategy.advice.Facts.IndexFacts;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Chooses a strategy for each index of a dataset by the {@link CostModel}.
 *
 * <ol>
 *   <li>One eager index makes every write read the old record, and then the others have it for
 *       nothing. So there are two worlds: in one it is read and each index takes what is cheapest;
 *       in the other it is not, and none is eager.
 *   <li>The cheaper world is compared with what there is. An index is built anew for a fifth less,
 *       not for less than that; and not before enough was seen.
 * </ol>
 *
 * Stateless and pure.
 */
public final class Advisor {
    /** Writes, and entries returned, below which nothing is advised. */
    static final long SEEN_MIN = 1_000;

    /** What must be saved for a change to be worth a rebuilding. */
    static final double SAVING_MIN = 0.2;

    private Advisor() {}

    /** Advice on all indexes of a dataset. */
    public static Advice advise(Facts facts) {
        List<Map<Maintenance, Cost>> costs =
                facts.indexes().stream().map(index -> costs(facts, index)).toList();
        List<Maintenance> now =
                facts.indexes().stream().map(IndexFacts::maintenance).toList();
        double nowPages = total(facts, now, costs);
        List<Maintenance> best = cheapest(facts, costs, true);
        List<Maintenance> blind = cheapest(facts, costs, false);
        if (total(facts, blind, costs) < total(facts, best, costs)) {
            best = blind;
        }
        double bestPages = total(facts, best, costs);
        boolean enough = seen(facts) >= SEEN_MIN;
        boolean change = enough && bestPages < (1 - SAVING_MIN) * nowPages;
        List<Maintenance> advised = change ? best : now;
        List<IndexAdvice> indexes = new ArrayList<>();
        for (int i = 0; i < now.size(); i++) {
            IndexFacts index = facts.indexes().get(i);
            indexes.add(new IndexAdvice(
                    index.name(),
                    now.get(i),
                    advised.get(i),
                    costs.get(i),
                    index.refused(),
                    index.repair(),
                    Reasons.of(facts, index, advised.get(i), costs.get(i))));
        }
        List<String> reasons = new ArrayList<>(Reasons.of(facts));
        reasons.add(verdict(facts, nowPages, bestPages, change));
        return new Advice(
                facts.dataset(), reasons, nowPages, total(facts, advised, costs), indexes);
    }

    private static Map<Maintenance, Cost> costs(Facts facts, IndexFacts index) {
        Map<Maintenance, Cost> costs = new EnumMap<>(Maintenance.class);
        for (Maintenance strategy : Maintenance.values()) {
            if (!index.refused().containsKey(strategy)) {
                costs.put(strategy, CostModel.of(facts, index, strategy));
            }
        }
        return costs;
    }

    /**
     * What each index has cheapest, if that is enough less than what it has; an index that must be
     * eager is, whatever is asked for.
     */
    private static List<Maintenance> cheapest(
            Facts facts, List<Map<Maintenance, Cost>> costs, boolean eagerToo) {
        List<Maintenance> chosen = new ArrayList<>();
        for (int i = 0; i < costs.size(); i++) {
            Maintenance best = facts.indexes().get(i).maintenance();
            Cost now = costs.get(i).get(best);
            double least = now != null && (eagerToo || best != Maintenance.EAGER)
                    ? (1 - SAVING_MIN) * now.total()
                    : Double.MAX_VALUE;
            for (Map.Entry<Maintenance, Cost> one : costs.get(i).entrySet()) {
                boolean may = eagerToo
                        || one.getKey() != Maintenance.EAGER
                        || costs.get(i).size() == 1;
                if (may && one.getValue().total() < least) {
                    least = one.getValue().total();
                    best = one.getKey();
                }
            }
            chosen.add(best);
        }
        return chosen;
    }

    private static double total(
            Facts facts, List<Maintenance> strategies, List<Map<Maintenance, Cost>> costs) {
        double pages = facts.needsOldRecord() || strategies.contains(Maintenance.EAGER)
                ? CostModel.oldRecords(facts)
                : 0;
        for (int i = 0; i < strategies.size(); i++) {
            Cost cost = costs.get(i).get(strategies.get(i));
            pages += cost == null ? 0 : cost.total();
        }
        return pages;
    }

    private static long seen(Facts facts) {
        return facts.writes().count()
                + facts.indexes().stream().mapToLong(IndexFacts::returned).sum();
    }

    private static String verdict(Facts facts, double now, double best, boolean change) {
        if (seen(facts) < SEEN_MIN) {
            return String.format(
                    Locale.ROOT,
                    "%,d writes and returned entries are too few to advise on; ask again after %,d",
                    seen(facts),
                    SEEN_MIN);
        }
        String figures = String.format(Locale.ROOT, "%,.0f pages now, %,.0f at best", now, best);
        return change
                ? figures + ": worth building indexes anew"
                : figures + ": leave it as it is; a fifth must be saved to build indexes anew";
    }
}
