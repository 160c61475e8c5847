package io.turbidite.ops.plan;

import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.FieldRange;
import io.turbidite.ops.search.IndexRange;
import io.turbidite.ops.search.IndexWalk;

import java.util.ArrayList;
import java.util.List;

/**
 * The ways in by secondary indexes: all that go with a query, by entries alone where those do.
 * Static.
 */
final class IndexWays {
    private IndexWays() {}

    /** All that the indexes of a view give. */
    static List<Access> of(
            CheckedQuery query, List<IndexDescription> indexes, FilterPredicate filter) {
        List<Access> ways = new ArrayList<>(2);
        for (IndexDescription index : indexes) {
            switch (index.kind()) {
                case RTREE -> SpatialWays.add(query, index, filter, ways);
                case INVERTED -> addTerms(query, index, filter, ways);
                case BTREE, PM -> {
                    if (index.multiValued()) {
                        addElements(query, index, filter, ways);
                    } else {
                        addKeys(query, index, filter, ways);
                    }
                }
            }
        }
        return ways;
    }

    private static void addKeys(
            CheckedQuery query, IndexDescription index, FilterPredicate filter, List<Access> to) {
        boolean entriesDo = entriesSuffice(query, index);
        NarrowedKey narrowed = NarrowedKey.of(query, index.fields(), index.keyForm());
        if (index.kind() == IndexDescription.Kind.PM
                && query.wantsNewestOfEach(index.fields(), index.keyForm())) {
            IndexRange keys = new IndexRange(
                    index, narrowed.range(), filter, narrowed.narrowed(), narrowed.isExact());
            to.add(new Access.Fetch(keys, true));
        }
        IndexWalk walk = IndexOrder.of(query, index);
        if (walk != null) {
            IndexRange keys = new IndexRange(
                    index, narrowed.range(), filter, narrowed.narrowed(), narrowed.isExact());
            to.add(new Access.InOrder(keys, walk));
        }
        if (entriesDo || narrowed.fieldCount() > 0) {
            IndexRange range = new IndexRange(
                    index, narrowed.range(), filter, narrowed.narrowed(), narrowed.isExact());
            to.add(entriesDo ? new Access.Entries(range) : new Access.Fetch(range));
            if (index.kind() == IndexDescription.Kind.PM
                    && narrowed.whole()
                    && query.wantsNewest()) {
                to.add(new Access.Fetch(new IndexRange(
                        index,
                        new IndexSearch.Newest(narrowed.range()),
                        filter,
                        narrowed.narrowed(),
                        narrowed.isExact())));
            }
        }
    }

    /**
     * The ways in by a B+-tree on the elements of an array. It has no entry for a record without
     * elements, so it answers only where a predicate wants one. Each predicate is a search of its
     * own: another element may meet the next one.
     */
    private static void addElements(
            CheckedQuery query, IndexDescription index, FilterPredicate filter, List<Access> to) {
        RecordType type = query.type();
        int each = index.fields().stream()
                .mapToInt(type::indexOf)
                .filter(type::isEach)
                .findFirst()
                .orElseThrow();
        List<FieldRange> ranges = query.conditions().rangesOf(each);
        if (ranges.isEmpty() && groupsBy(query, each) && fieldsAreIn(query, index)) {
            NarrowedKey narrowed = NarrowedKey.of(query, index.fields(), index.keyForm(), null);
            to.add(new Access.Entries(new IndexRange(
                    index, narrowed.range(), filter, narrowed.narrowed(), narrowed.isExact())));
        }
        for (FieldRange range : ranges) {
            NarrowedKey narrowed = NarrowedKey.of(query, index.fields(), index.keyForm(), range);
            if (narrowed.fieldCount() == 0) {
                continue;
            }
            // of two elements in a range a record has two entries, and is counted once
            boolean once = ranges.size() == 1 && range.single() != null;
            boolean counts = query.kind() == CheckedQuery.Kind.COUNT
                    || (query.kind() == CheckedQuery.Kind.GROUPS && !groupsBy(query, each));
            boolean entriesDo = counts && once && fieldsAreIn(query, index);
            IndexRange search = new IndexRange(
                    index, narrowed.range(), filter, narrowed.narrowed(), narrowed.isExact());
            Access access = entriesDo ? new Access.Entries(search) : new Access.Fetch(search);
            if (!to.contains(access)) {
                to.add(access);
            }
        }
    }

    /** Whether the rows are groups with a part for each element of an array. */
    private static boolean groupsBy(CheckedQuery query, int each) {
        return query.kind() == CheckedQuery.Kind.GROUPS && query.fields().contains(each);
    }

    /** An inverted index answers what is asked of its tokens. */
    private static void addTerms(
            CheckedQuery query, IndexDescription index, FilterPredicate filter, List<Access> to) {
        for (IndexSearch search : TextChoice.searches(query.conditions(), index)) {
            IndexRange range = new IndexRange(index, search, filter, index.fields(), false);
            boolean entriesDo = query.kind() == CheckedQuery.Kind.COUNT
                    && TextChoice.saysAll(range, query.conditions());
            to.add(entriesDo ? new Access.Entries(range) : new Access.Fetch(range));
        }
    }

    /** Whether entries of the index can answer the query without the records. */
    private static boolean entriesSuffice(CheckedQuery query, IndexDescription index) {
        boolean counts =
                query.kind() == CheckedQuery.Kind.COUNT || query.kind() == CheckedQuery.Kind.GROUPS;
        return counts && !index.multiValued() && fieldsAreIn(query, index);
    }

    /** Whether entries have all fields that counts and their predicates, all ranges, need. */
    private static boolean fieldsAreIn(CheckedQuery query, IndexDescription index) {
        if (!query.conditions().onlyRanges()) {
            return false;
        }
        for (int field : query.fieldsNeeded()) {
            String name = query.type().field(field).name();
            if (!index.fields().contains(name) && !query.source().primaryKey().contains(name)) {
                return false;
            }
        }
        return true;
    }
}
