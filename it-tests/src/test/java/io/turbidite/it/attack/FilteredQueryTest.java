package io.turbidite.it.attack;

import static io.turbidite.ops.Predicates.eq;
import static io.turbidite.ops.Predicates.range;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Queries by an index that is always valid, with a filter that lets components be passed over. */
class FilteredQueryTest {
    /** More than the keys of a batch of 4 KiB: the record's two entries come in two batches. */
    private static final int OTHERS = 2_000;

    @TempDir
    Path directory;

    @Test
    void a_record_is_a_row_once_though_the_index_shows_a_former_entry_of_it() {
        try (Store store = Store.open(directory.resolve("store"))) {
            Dataset dataset = store.createDataset(DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("place", "int32")
                    .field("f", "int32")
                    .primaryKey("id")
                    .filter("f")
                    .mergePolicy(MergePolicySpec.parse("no-merge"))
                    .index(IndexSpec.btree("by_place", "place")));
            for (long id = 1; id <= OTHERS; id++) {
                dataset.upsert(Map.of("id", id, "place", 10 + (int) id, "f", 10));
            }
            int[][] versions = {{1, 10}, {2, 50}, {3, 50}, {100_000, 10}};
            for (int[] version : versions) {
                dataset.upsert(Map.of("id", 0L, "place", version[0], "f", version[1]));
                dataset.flush();
            }
            List<Object> ids = new ArrayList<>();
            try (QueryResult rows = Query.on(dataset)
                    .where(eq("f", 10))
                    .where(range("place", 0, 200_000))
                    .usingIndex("by_place")
                    .with(RunOptions.defaults().withKeyBatchBytes(4 << 10))
                    .run()) {
                rows.forEach(row -> ids.add(row.get("id")));
            }
            assertThat(ids.size()).as("rows").isEqualTo(OTHERS + 1);
            assertThat(Set.copyOf(ids).size()).as("records").isEqualTo(OTHERS + 1);
        }
    }
}
