package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
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

    /** Each text has more words than there is memory for; the other has one entry a record. */
    @Test
    void an_index_without_versions_is_left_of_two() {
        check(60, 60);
    }

    @Test
    void the_records_of_an_index_without_versions_decide() {
        check(1_000, 2);
    }

    /** Whichever operation on the runs fails: none is left, and nothing is held. */
    @Test
    void runs_that_fail_leave_nothing() {
        try (Store store = open()) {
            Dataset dataset = filled(store, 20, 40);
            int failed = 0;
            for (OperationKind kind : new OperationKind[] {
                OperationKind.CREATE, OperationKind.WRITE, OperationKind.READ
            }) {
                boolean isOver = false;
                for (int call = 1; !isOver; call++) {
                    SimDisk spills = new SimDisk(call, Profile.STRICT);
                    spills.fault(FaultScript.with(Fault.EIO).on(kind).call(call));
                    try (QueryResult result = query(dataset)
                            .with(RunOptions.defaults()
                                    .withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN)
                                    .withSpill(spills, "spill"))
                            .run()) {
                        int[] rows = {0};
                        result.forEach(row -> rows[0]++);
                        assertThat(rows[0]).isEqualTo(20);
                        isOver = true;
                    } catch (StorageIoException expected) {
                        failed++;
                    }
                    assertThat(spills.openHandleCount()).as("%s %d", kind, call).isZero();
                    if (spills.exists("spill")) {
                        assertThat(spills.list("spill")).as("%s %d", kind, call).isEmpty();
                    }
                }
            }
            assertThat(failed).isGreaterThan(3);
        }
    }

    private void check(int recordCount, int wordCount) {
        try (Store store = open()) {
            Query query = query(filled(store, recordCount, wordCount))
                    .with(RunOptions.defaults().withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN));
            try (QueryResult result = query.run()) {
                List<Object> found = new ArrayList<>();
                result.forEach(row -> found.add(row.get("id")));
                assertThat(found).as("%s", result.explain()).hasSize(recordCount);
            }
        }
    }

    private Store open() {
        return Store.open(
                new SimDisk(7, Profile.STRICT),
                new SimTasks(7, clock),
                clock,
                StoreOptions.defaults().withWriteMemoryBytes(8 << 20).withCacheBytes(8 << 20));
    }

    private static Dataset filled(Store store, int recordCount, int wordCount) {
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
        return dataset;
    }

    private static Query query(Dataset dataset) {
        return Query.on(new SourceWithoutMeans(dataset))
                .where(Predicates.range("a", 0, 1))
                .where(Predicates.containsPrefix("text", Tokenizer.WORD, "new"))
                .usingIndexes("by_a", "by_text");
    }
}
