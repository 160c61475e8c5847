package io.turbidite.ops;

import io.turbidite.core.Cleanup;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;

import java.util.ArrayList;
import java.util.List;

/**
 * The views of one run of a tree of relations: each source is looked at once, so that all parts
 * show the same moment of it. <em>Confined to one thread.</em>
 */
final class Moments {
    private final List<ReadView> opened = new ArrayList<>();
    private final List<String> names = new ArrayList<>();

    /** The one view of a source. */
    ReadView of(Source source) {
        for (ReadView view : opened) {
            if (view.source().equals(source)) {
                add(source.name());
                return view;
            }
        }
        ReadView view = source.openView();
        opened.add(view);
        add(source.name());
        return view;
    }

    /** Takes note of a view that is the caller's. */
    ReadView given(ReadView view) {
        add(view.source().name());
        return view;
    }

    private void add(String name) {
        names.add(name);
    }

    /** What was opened, to be closed with the result. */
    List<ReadView> opened() {
        return opened;
    }

    /** Closes what was opened. */
    Cleanup closing() {
        return new Cleanup().addAll(opened, ReadView::close);
    }

    /** The names of what is read, in the order of reading. */
    String names() {
        return String.join(", ", names);
    }
}
