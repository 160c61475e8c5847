package io.turbidite.ops.plan;

import io.turbidite.core.key.KeyForm;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.FieldRange;
import io.turbidite.ops.search.IndexRange;
import io.turbidite.ops.search.IndexWalk;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Whether the entries of a B+-tree have the first few rows of a query in their order: the fields of
 * the index and then those of the primary key, but for those that equalities leave one value of.
 * Static.
 *
 * <p>What the order goes by behind these fields, or the other way round, is left to the sort, which
 * gets all rows that are equal in them.
 */
final class IndexOrder {
    private IndexOrder() {}

    /** How the entries are gone through; null where they do not help. */
    static @Nullable IndexWalk of(CheckedQuery query, IndexDescription index) {
        if (index.kind() != IndexDescription.Kind.BTREE
                || index.multiValued()
                || query.kind() != CheckedQuery.Kind.ROWS
                || !query.hasLimit()
                || query.order().isEmpty()
                || query.ordersBeforeEach() >= 0) {
            return null;
        }
        List<String> fields = new ArrayList<>(index.fields());
        fields.addAll(query.source().primaryKey());
        List<TypeKind> kinds = new ArrayList<>(fields.size());
        int nextOrder = 0;
        int orderedCount = 0;
        boolean descending = false;
        for (int i = 0; i < fields.size(); i++) {
            int field = query.type().indexOf(fields.get(i));
            TypeKind kind = query.type().field(field).kind();
            boolean isSecondary = i < index.fields().size();
            KeyForm form = isSecondary ? index.keyForm() : query.source().keyForm();
            nextOrder = pastConstants(query, nextOrder);
            if (!isConstant(query, field, form)) {
                if (nextOrder == query.order().size()) {
                    break;
                }
                CheckedQuery.Order by = query.order().get(nextOrder);
                if (!hasOrderOf(query, by, field, form)
                        || (orderedCount > 0 && by.descending() != descending)) {
                    break;
                }
                descending = by.descending();
                orderedCount++;
                nextOrder++;
            }
            kinds.add(kind);
        }
        if (orderedCount == 0) {
            return null;
        }
        boolean isAll = pastConstants(query, nextOrder) == query.order().size();
        // the sort breaks ties by the primary key upwards, as the entries do
        boolean isExact = isAll && !descending && kinds.size() >= index.fields().size();
        return new IndexWalk(descending, kinds, isExact);
    }

    /** The next of what is ordered by that rows can differ in. */
    private static int pastConstants(CheckedQuery query, int from) {
        int next = from;
        while (next < query.order().size()) {
            CheckedQuery.Order by = query.order().get(next);
            if (by.isNewest()
                    || by.tokens() != null
                    || !isConstant(query, by.index(), query.source().keyForm())) {
                break;
            }
            next++;
        }
        return next;
    }

    private static boolean isConstant(CheckedQuery query, int field, KeyForm form) {
        FieldRange range = query.conditions().range(field);
        return range != null && range.in(form).single() != null;
    }

    /** Whether keys of a field are in an order of rows, forwards or backwards. */
    private static boolean hasOrderOf(
            CheckedQuery query, CheckedQuery.Order by, int field, KeyForm form) {
        return !by.isNewest()
                && by.tokens() == null
                && by.index() == field
                // where one value has two keys, what is ordered by keys is not ordered by values
                && !form.isAmbiguous(query.type().field(field).kind())
                // in keys null lies below all values
                && (!by.nullsAbove() || !mayBeAbsent(query, field));
    }

    private static boolean mayBeAbsent(CheckedQuery query, int field) {
        FieldRange range = query.conditions().range(field);
        return range == null || range.absent();
    }

    /**
     * About how many entries are equal to one of the last rows in what the order goes by, all of
     * which are read.
     *
     * @param rows of the range
     */
    static double ties(
            CheckedQuery query, ReadView view, IndexRange range, IndexWalk walk, long rows) {
        if (walk.isExact()) {
            return 0;
        }
        List<String> fields = new ArrayList<>(range.index().fields());
        fields.addAll(query.source().primaryKey());
        DistinctValues distinct = new DistinctValues();
        double values = 1;
        for (int i = 0; i < walk.kinds().size(); i++) {
            int field = query.type().indexOf(fields.get(i));
            if (!isConstant(query, field, KeyForm.CURRENT)) {
                values *= Math.max(1, distinct.of(query, view, field));
            }
        }
        double ties = rows / values;
        double absent = absent(query, view, range);
        boolean reachesAbsent = !walk.descending() || query.limit() > rows - absent;
        return reachesAbsent ? Math.max(ties, absent) : ties;
    }

    /** Entries without a value, which come first upwards; 0 where there are none in the range. */
    private static long absent(CheckedQuery query, ReadView view, IndexRange range) {
        NarrowedKey narrowed =
                NarrowedKey.of(query, range.index().fields(), range.index().keyForm());
        int first = narrowed.last() == null ? narrowed.fieldCount() : narrowed.fieldCount() - 1;
        if (first >= range.index().fields().size()) {
            return 0;
        }
        int field = query.type().indexOf(range.index().fields().get(first));
        if (!mayBeAbsent(query, field)) {
            return 0;
        }
        KeyRange absent = narrowed.startingWithAbsent(query.type().field(field).kind());
        return view.estimateSearch(range.index().name(), absent, range.filter());
    }
}
