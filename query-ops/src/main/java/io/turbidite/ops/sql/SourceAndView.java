package io.turbidite.ops.sql;

import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.ops.Query;
import io.turbidite.ops.expr.Predicate;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * What statements may name.
 *
 * @param view the moment that they show; null: as it is when they run
 * @param isTarget whether the statement changes it, and this is where it looks for records
 * @param only the records that are looked at; empty: all
 * @param hosting where its records are; null: here
 */
record SourceAndView(
        Source source,
        @Nullable ReadView view,
        boolean isTarget,
        List<Predicate> only,
        @Nullable Hosting hosting) {
    SourceAndView {
        only = List.copyOf(only);
    }

    SourceAndView(Source source, @Nullable ReadView view) {
        this(source, view, false, List.of());
    }

    SourceAndView(Source source, @Nullable ReadView view, boolean isTarget, List<Predicate> only) {
        this(source, view, isTarget, only, null);
    }

    Query query() {
        Query query = view == null ? Query.on(source) : Query.on(view);
        only.forEach(query::where);
        return query;
    }
}
