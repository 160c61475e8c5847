package io.turbidite.it.attack;

import static io.turbidite.ops.Predicates.eq;
import static io.turbidite.ops.Predicates.range;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Instrument;
import io.turbidite.core.type.Point;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.ops.Predicates;
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
import java.util.TreeMap;

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

    /** Five components, each with a place of its own and a number of its own; one without. */
    @Test
    void an_explanation_and_counters_tell_the_layers_passed_over_and_by_which_filter() {
        try (Store store = Store.open(directory.resolve("store"))) {
            Dataset dataset = store.createDataset(DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("n", "int32")
                    .field("place", "point?")
                    .primaryKey("id")
                    .filter("n", "place")
                    .mergePolicy(MergePolicySpec.parse("no-merge"))
                    .index(IndexSpec.btree("by_n", "n"))
                    .index(IndexSpec.rtree("by_place", "place")));
            for (int i = 0; i < 5; i++) {
                dataset.upsert(Map.of("id", (long) i, "n", i, "place", new Point(1, 10 * i)));
                dataset.flush();
            }
            dataset.upsert(Map.of("id", 5L, "n", 5));
            dataset.flush();
            String scan =
                    "primary index, 1 partition, components by filter on place; 5 of 6 layers passed over (5 by place)";
            assertThat(explained(within(dataset, 0, 15, 2, 25).usingScan())).contains(scan);
            assertThat(explained(within(dataset, 0, 15, 2, 35)
                            .where(Predicates.above("n", 2))
                            .usingIndex("by_n")))
                    .contains("5 of 6 layers passed over (3 by n, 2 by place)")
                    .contains("fetch");
            assertThat(explained(within(dataset, 0, 15, 2, 25).usingIndex("by_place")))
                    .contains("5 of 6 layers passed over (5 by place)");
            // only one has it, and no other is read
            assertThat(explained(Query.on(dataset).where(eq("place", null)).usingScan()))
                    .contains("5 of 6 layers passed over (5 by place)");
            Map<String, Long> passed = new TreeMap<>();
            for (Instrument instrument : store.meters().instruments()) {
                if (instrument.name().equals("filter.layers.passed")) {
                    passed.put(instrument.tags().toString(), ((Counter) instrument).sum());
                }
            }
            assertThat(passed)
                    .containsEntry("{dataset=T, filter=n, index=by_n}", 3L)
                    .containsEntry("{dataset=T, filter=place, index=by_n}", 2L);
        }
    }

    private static Query within(
            Dataset dataset, double minX, double minY, double maxX, double maxY) {
        return Query.on(dataset).where(Predicates.within("place", minX, minY, maxX, maxY));
    }

    private static String explained(Query query) {
        try (QueryResult rows = query.run()) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.next()).isFalse();
            // long details are wrapped
            return rows.explain().toString().replaceAll("\\s+", " ");
        }
    }
}
