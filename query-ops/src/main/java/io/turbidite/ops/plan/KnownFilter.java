package io.turbidite.ops.plan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Circle;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.FieldRange;

import java.util.ArrayList;
import java.util.List;

/** What a query knows of the fields by which components may be passed over. Static. */
final class KnownFilter {
    private KnownFilter() {}

    /** What the query knows of the filter fields. */
    static FilterPredicate of(CheckedQuery query) {
        List<String> fields = query.source().filterFields();
        if (fields.isEmpty() || query.conditions().predicates().isEmpty()) {
            return FilterPredicate.none();
        }
        List<KeyRange> ranges = new ArrayList<>();
        List<FilterPredicate.Window> windows = new ArrayList<>();
        for (int i = 0; i < fields.size(); i++) {
            int field = query.type().indexOf(fields.get(i));
            FieldRange range = query.conditions().range(field);
            ranges.add(
                    range == null
                            ? KeyRange.all()
                            : range.in(query.source().keyForm()).range());
            TypeKind kind = query.type().field(field).kind();
            if (kind.isSpatial()) {
                addWindows(query, i, field, windows);
            }
        }
        FilterPredicate filter = new FilterPredicate(ranges, windows);
        return filter.isNone() ? FilterPredicate.none() : filter;
    }

    /** What windows, and an equality with a point, say of a filter field. */
    private static void addWindows(
            CheckedQuery query, int filterField, int field, List<FilterPredicate.Window> to) {
        String name = query.type().field(field).name();
        SpatialKind spatial = SpatialWays.spatialKind(query, name);
        for (Circle circle : query.conditions().places().circles(name)) {
            // all of them must be met, as each window must
            if (circle.windows().size() == 1) {
                to.add(new FilterPredicate.Window(
                        filterField, spatial, circle.windows().getFirst()));
            }
        }
        if (query.type().field(field).kind() == TypeKind.RECTANGLE) {
            for (Rectangle window : query.conditions().places().windows(name)) {
                to.add(new FilterPredicate.Window(filterField, SpatialKind.RECTANGLE, window));
            }
            return;
        }
        if (SpatialWays.isOnSphere(query, name)) {
            for (List<Rectangle> parts : query.conditions().places().sphericWindows(name)) {
                if (parts.size() == 1) {
                    to.add(new FilterPredicate.Window(filterField, spatial, parts.getFirst()));
                }
            }
        }
        Rectangle common = SpatialWays.isOnSphere(query, name)
                ? null
                : query.conditions().places().window(name);
        if (common != null) {
            to.add(new FilterPredicate.Window(filterField, SpatialKind.POINT, common));
        }
        FieldRange range = query.conditions().range(field);
        byte[] single = range == null || range.absent() ? null : range.single();
        if (single != null) {
            double x = KeyCodec.coordinate(Slice.of(single), 0);
            double y = KeyCodec.coordinate(Slice.of(single), 1);
            to.add(new FilterPredicate.Window(
                    filterField, SpatialKind.POINT, new Rectangle(x, y, x, y)));
        }
    }
}
