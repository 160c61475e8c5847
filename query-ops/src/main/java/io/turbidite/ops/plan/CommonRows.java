package io.turbidite.ops.plan;

import io.turbidite.core.scan.IndexDescription;
import io.turbidite.ops.plan.JoinChoice.Counted;
import io.turbidite.ops.search.IndexRange;

import java.util.ArrayList;
import java.util.List;

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
    private final List<Counted> fewestFirst = new ArrayList<>(4);

    /**
     * @param all about how many records there are
     */
    CommonRows(Counted first, long all) {
        this.all = all;
        fewestFirst.add(first);
    }

    /** What those before and this one have in common. */
    double add(Counted next) {
        insert(next);
        return rows();
    }

    /** As {@link #add}, if it were added. */
    double with(Counted next) {
        int at = insert(next);
        double rows = rows();
        fewestFirst.remove(at);
        return rows;
    }

    private int insert(Counted next) {
        int at = fewestFirst.size();
        while (at > 0 && fewestFirst.get(at - 1).rows() > next.rows()) {
            at--;
        }
        fewestFirst.add(at, next);
        return at;
    }

    private double rows() {
        double rows = (double) Math.max(1, all);
        double exponent = 1;
        for (int i = 0; i < fewestFirst.size(); i++) {
            if (!isTold(i)) {
                rows *= Math.pow(share(fewestFirst.get(i)), exponent);
                exponent /= 2;
            }
        }
        return rows;
    }

    /** Of all records those that a search has entries of. */
    private double share(Counted next) {
        return Math.min(1, (double) next.rows() / Math.max(1, all));
    }

    /**
     * Whether those with fewer entries say what this one does: of fields of one value any of them,
     * of many values each field and the same question, since two questions may be met by two
     * elements or tokens.
     */
    private boolean isTold(int index) {
        IndexRange range = fewestFirst.get(index).range();
        String windowed = range.windowed();
        if (windowed != null) {
            return isTold(windowed, index);
        }
        boolean hasMany = hasManyValues(range);
        boolean isAskedBefore = false;
        for (int i = 0; i < index && hasMany && !isAskedBefore; i++) {
            isAskedBefore = fewestFirst.get(i).range().search().equals(range.search());
        }
        if (hasMany && !isAskedBefore) {
            return false;
        }
        int told = 0;
        for (String field : range.narrowed()) {
            told += isTold(field, index) ? 1 : 0;
        }
        return hasMany ? told == range.narrowed().size() : told > 0;
    }

    private boolean isTold(String field, int before) {
        for (int i = 0; i < before; i++) {
            IndexRange range = fewestFirst.get(i).range();
            if (field.equals(range.windowed()) || range.narrowed().contains(field)) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasManyValues(IndexRange range) {
        return range.index().multiValued()
                || range.index().kind() == IndexDescription.Kind.INVERTED;
    }
}
