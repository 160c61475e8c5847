package io.turbidite.ops.sql;

import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.ops.Query;

import org.jspecify.annotations.Nullable;

/**
 * What statements may name.
 *
 * @param view the moment that they show; null: as it is when they run
 */
record SourceAndView(Source source, @Nullable ReadView view) {
    Query query() {
        return view == null ? Query.on(source) : Query.on(view);
    }
}
