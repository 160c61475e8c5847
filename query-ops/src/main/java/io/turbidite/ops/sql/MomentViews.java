package io.turbidite.ops.sql;

import io.turbidite.core.Cleanup;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.Moment;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.ops.expr.Predicate;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The datasets of a store at one moment, as a statement asks for them. <em>Confined to one
 * thread.</em>
 */
final class MomentViews implements AutoCloseable {
    private final Moment moment;
    private final Map<String, ReadView> views = new LinkedHashMap<>();

    MomentViews(Catalog catalog) {
        this.moment = catalog.openMoment();
    }

    long timestamp() {
        return moment.timestamp();
    }

    ReadView view(Source source) {
        return views.computeIfAbsent(source.name(), _ -> moment.view(source));
    }

    /** The source at this moment. */
    SourceAndView at(SourceAndView named, List<Predicate> only) {
        return new SourceAndView(
                named.source(),
                view(named.source()),
                named.isTarget(),
                named.isTarget() ? only : List.of());
    }

    @Override
    public void close() {
        new Cleanup().addAll(views.values(), ReadView::close).add(moment::close).run();
    }
}
