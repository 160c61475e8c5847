package io.turbidite.ops.plan;

import io.turbidite.core.scan.IndexDescription;
import io.turbidite.ops.plan.JoinChoice.Counted;
import io.turbidite.ops.search.IndexRange;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * About how many records several searches have in common, of which only the number of each one's
 * entries is known.
 *
 * <p>Searches by the same field tell the same twice: what one has left, the other leaves. Others
 * may depend on one another, and nobody knows how much (an airport says much of the carrier). So
 * the one that leaves least counts with its whole share of the records, the next one with the
 * square root of its share, the third one with the fourth root. Decision 0099 has what that does.
 * <em>Confined to one thread.</em>
 */
final class CommonRows {
    private final long all;
    private final List<Counted> counted = new ArrayList<>();

    /**
     * @param all about how many records there are
     */
    CommonRows(Counted first, long all) {
        this.all = all;
        counted.add(first);
    }

    /** What those before and this one have in common. */
    double add(Counted next) {
        counted.add(next);
        return rows(counted);
    }

    /** As {@link #add}, if it were added. */
    double with(Counted next) {
        List<Counted> more = new ArrayList<>(counted);
        more.add(next);
        return rows(more);
    }

    private double rows(List<Counted> some) {
        List<Counted> fewestFirst = new ArrayList<>(some);
        fewestFirst.sort(Comparator.comparingLong(Counted::rows));
        Set<Object> told = new HashSet<>();
        double rows = (double) Math.max(1, all);
        double exponent = 1;
        for (Counted next : fewestFirst) {
            if (!isTold(next.range(), told)) {
                rows *= Math.pow(share(next), exponent);
                exponent /= 2;
            }
            told.addAll(toldBy(next.range()));
        }
        return rows;
    }

    /** Of all records those that a search has entries of. */
    private double share(Counted next) {
        return Math.min(1, (double) next.rows() / Math.max(1, all));
    }

    private static boolean isTold(IndexRange range, Set<Object> told) {
        Set<Object> tells = toldBy(range);
        // elements and tokens differ: two of them may say two things of one array or text
        return hasManyEntries(range) ? told.containsAll(tells) : !Collections.disjoint(told, tells);
    }

    /** What a search goes by: fields of one value, and what it asks of a field of many. */
    private static Set<Object> toldBy(IndexRange range) {
        if (range.windowed() != null) {
            return Set.of(range.windowed());
        }
        Set<Object> tells = new HashSet<>(range.narrowed());
        if (hasManyEntries(range)) {
            tells.add(range.search());
        }
        return tells;
    }

    private static boolean hasManyEntries(IndexRange range) {
        return range.windowed() == null
                && (range.index().multiValued()
                        || range.index().kind() == IndexDescription.Kind.INVERTED);
    }
}
