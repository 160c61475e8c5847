package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What is left of several indexes where there is no memory for the candidates of all, and no
 * directory to spill to.
 */
class JoinedMemoryTest {
    private final SimClock clock = new SimClock();

    /** Each text has more words than there is memory for; the other index has one entry a record. */
    @Test
    void an_index_without_versions_is_left_of_two() {
        check(60, 60);
    }

    @Test
    void the_records_of_an_index_without_versions_decide() {
        check(1_000, 2);
    }

    private void check(int recordCount, int wordCount) {
        try (Store store = Store.open(
                new SimDisk(7, Profile.STRICT),
                new SimTasks(7, clock),
                clock,
                StoreOptions.defaults().withWriteMemoryBytes(8 << 20).withCacheBytes(8 << 20))) {
            Dataset dataset = store.createDataset(DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("a", "int32")
                    .field("text", "string")
                    .primaryKey("id")
                    .maintenance(Maintenance.VALIDATION)
                    .mergePolicy(MergePolicySpec.parse("no-merge"))
                    .index(IndexSpec.btree("by_a", "a").withMaintenance(Maintenance.EAGER))
                    .index(IndexSpec.inverted("by_text", "text")));
            for (String word : List.of("old", "new")) {
                String text = IntStream.range(0, wordCount)
                        .mapToObj(i -> word + i)
                        .collect(Collectors.joining(" "));
                for (long id = 0; id < recordCount; id++) {
                    // the entry of by_a stays as it was
                    dataset.upsert(Map.of("id", id, "a", 1, "text", text));
                }
                dataset.flush();
            }
            Query query = Query.on((Source) dataset)
                    .where(Predicates.range("a", 0, 1))
                    .where(Predicates.containsPrefix("text", Tokenizer.WORD, "new"))
                    .usingIndexes("by_a", "by_text")
                    .with(RunOptions.defaults().withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN));
            try (QueryResult result = query.run()) {
                List<Object> found = new ArrayList<>();
                result.forEach(row -> found.add(row.get("id")));
                assertThat(found).as("%s", result.explain()).hasSize(recordCount);
            }
        }
    }
}
