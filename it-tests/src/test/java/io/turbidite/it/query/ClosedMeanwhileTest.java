package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.scan.ReadView;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.Map;

/**
 * A scan goes ahead in the page that it is on; what is closed shows nothing of it any more, since
 * the page may be another's by then.
 */
class ClosedMeanwhileTest {
    /** Behind so many the stretches that a scan goes ahead are long. */
    private static final int READ = 200;

    @TempDir
    private Path directory;

    private static Dataset filled(Store store) {
        Dataset rows = store.createDataset(
                DatasetSpec.named("Rows").field("id", "int64").primaryKey("id"));
        for (long id = 0; id < 2_000; id++) {
            rows.upsert(Map.of("id", id));
        }
        rows.flush();
        return rows;
    }

    private static void read(QueryResult result) {
        for (int i = 0; i < READ; i++) {
            assertThat(result.next()).isTrue();
        }
    }

    @Test
    void no_row_comes_from_a_store_that_was_closed() {
        Store store = Store.open(directory, StoreOptions.defaults());
        try (QueryResult result = Query.on(filled(store)).run()) {
            read(result);
            store.close();
            assertThatThrownBy(result::next).isInstanceOf(ClosedException.class);
        }
    }

    @Test
    void no_row_comes_from_a_view_that_was_closed() {
        try (Store store = Store.open(directory, StoreOptions.defaults())) {
            ReadView view = filled(store).openView();
            try (QueryResult result = Query.on(view).run()) {
                read(result);
                view.close();
                assertThatThrownBy(result::next).isInstanceOf(ClosedException.class);
            }
        }
    }
}
