package io.turbidite.ops.plan;

import io.turbidite.core.geo.Circle;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.search.IndexRange;

import java.util.List;
import java.util.Optional;

/** The ways in by an R-tree: windows, circles, neighbours. Static. */
final class SpatialWays {
    private SpatialWays() {}

    /** Adds those that go with the query. */
    static void add(
            CheckedQuery query, IndexDescription index, FilterPredicate filter, List<Access> to) {
        window(query, index, filter).ifPresent(to::add);
        around(query, index, filter).ifPresent(to::add);
        nearest(query, index, filter).ifPresent(to::add);
    }

    /** The way in by an R-tree, if there is a window on its field. */
    private static Optional<Access> window(
            CheckedQuery query, IndexDescription index, FilterPredicate filter) {
        String field = index.fields().getFirst();
        if (isOnSphere(query, field)) {
            return sphericWindow(query, index, filter);
        }
        SpatialKind spatial = spatialKind(query, field);
        // a rectangle may meet two windows and not what they have in common
        Rectangle bounds = spatial == SpatialKind.POINT
                ? query.conditions().places().window(field)
                : query.conditions().places().anyWindow(field);
        if (bounds == null) {
            return Optional.empty();
        }
        IndexSearch search = new IndexSearch.Window(spatial, bounds);
        IndexRange range = new IndexRange(index, search, filter, List.of(), true);
        boolean isWhole =
                spatial == SpatialKind.POINT || query.conditions().predicates().size() == 1;
        boolean entriesDo =
                countsEntries(query, field) && isWhole && query.conditions().onlyWindows(field);
        return Optional.of(entriesDo ? new Access.Entries(range) : new Access.Fetch(range));
    }

    /** The way in by an R-tree of longitudes and latitudes, if there is a window on them. */
    private static Optional<Access> sphericWindow(
            CheckedQuery query, IndexDescription index, FilterPredicate filter) {
        String field = index.fields().getFirst();
        List<List<Rectangle>> windows = query.conditions().places().sphericWindows(field);
        if (windows.isEmpty()) {
            return Optional.empty();
        }
        IndexSearch search = new IndexSearch.SphericWindow(windows.getFirst());
        IndexRange range = new IndexRange(index, search, filter, List.of(), true);
        boolean entriesDo = countsEntries(query, field) && isOnlyPredicate(query);
        return Optional.of(entriesDo ? new Access.Entries(range) : new Access.Fetch(range));
    }

    static boolean isOnSphere(CheckedQuery query, String field) {
        return query.type().field(query.type().indexOf(field)).kind() == TypeKind.LONLAT;
    }

    private static boolean isOnlyPredicate(CheckedQuery query) {
        return query.conditions().predicates().size() == 1 && query.conditions().testCount() == 0;
    }

    /** The way in by an R-tree, if there is a circle on its field. */
    private static Optional<Access> around(
            CheckedQuery query, IndexDescription index, FilterPredicate filter) {
        String field = index.fields().getFirst();
        List<Circle> circles = query.conditions().places().circles(field);
        if (circles.isEmpty()) {
            return Optional.empty();
        }
        IndexSearch search = new IndexSearch.Around(spatialKind(query, field), circles.getFirst());
        IndexRange range = new IndexRange(index, search, filter, List.of(), true);
        return Optional.of(
                isOnlyPredicate(query) && countsEntries(query, field)
                        ? new Access.Entries(range)
                        : new Access.Fetch(range));
    }

    /** The way in by an R-tree, if the nearest of its values are wanted. */
    private static Optional<Access> nearest(
            CheckedQuery query, IndexDescription index, FilterPredicate filter) {
        CheckedQuery.Near near = query.near();
        String field = index.fields().getFirst();
        if (near == null || !near.name().equals(field)) {
            return Optional.empty();
        }
        IndexSearch search = new IndexSearch.Nearest(spatialKind(query, field), near.place());
        return Optional.of(
                new Access.Fetch(new IndexRange(index, search, filter, List.of(), true)));
    }

    static SpatialKind spatialKind(CheckedQuery query, String field) {
        TypeKind kind = query.type().field(query.type().indexOf(field)).kind();
        return kind.isPoint() ? SpatialKind.POINT : SpatialKind.RECTANGLE;
    }

    /** Whether rows are counts that an R-tree's entries have all that is needed for. */
    private static boolean countsEntries(CheckedQuery query, String field) {
        return query.kind() == CheckedQuery.Kind.COUNT
                || (query.kind() == CheckedQuery.Kind.CELLS
                        && query.type().field(query.cellField()).name().equals(field));
    }
}
