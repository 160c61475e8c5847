package io.turbidite.ops.jdbc;

import io.turbidite.core.Cleanup;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.Moment;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;

import java.util.ArrayList;
import java.util.List;

/** The moment that a statement, or a transaction, reads. <em>Thread-safe.</em> */
final class Reading implements AutoCloseable {
    private final Moment moment;
    private final List<ReadView> views = new ArrayList<>();
    private boolean closed;

    Reading(Catalog catalog) {
        this.moment = catalog.openMoment();
    }

    /** The one view of a dataset. */
    synchronized ReadView of(Source source) {
        for (ReadView view : views) {
            if (view.source().equals(source)) {
                return view;
            }
        }
        ReadView view = moment.view(source);
        views.add(view);
        return view;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            new Cleanup().addAll(views, ReadView::close).add(moment::close).run();
        }
    }
}
