package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.type.Point;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.function.IntFunction;

/** What each candidate of an index leaves behind on the heap: nothing, batches take a little. */
class CandidateGarbageTest {
    private static final int RECORDS = 10_000;
    private static final int FEW = 500;
    private static final int MANY = 9_500;

    /** Less than a bit of what notes a candidate: some objects for each batch, and noise. */
    private static final int EACH_BYTES = 6;

    private final SimClock clock = new SimClock();

    private Store open() {
        return Store.open(
                new SimDisk(7, Profile.STRICT),
                new SimTasks(7, clock),
                clock,
                StoreOptions.defaults().withWriteMemoryBytes(16 << 20).withCacheBytes(16 << 20));
    }

    /** A record may be in several batches: each is asked for its entry. */
    @Test
    void a_record_that_may_repeat_makes_no_garbage() {
        try (Store store = open()) {
            Dataset dataset = filled(store);
            double each = eachOf(width -> Query.on((Source) dataset)
                    .where(Predicates.within("place", 0, 0, width - 1, 1))
                    .where(Predicates.range("at", 0, 9))
                    .with(RunOptions.defaults().withKeyBatchBytes(16 << 10))
                    .usingIndex("by_place")
                    .count());
            assertThat(each).as("bytes of heap a candidate").isLessThan(EACH_BYTES);
        }
    }

    /** All candidates are sorted and fetched together: what notes them is taken over. */
    @Test
    void a_large_batch_makes_no_garbage_for_its_candidates() {
        try (Store store = open()) {
            Dataset dataset = filled(store);
            double each = eachOf(width -> Query.on((Source) dataset)
                    .where(Predicates.within("place", 0, 0, width - 1, 1))
                    .where(Predicates.range("at", 0, 9))
                    .usingIndex("by_place")
                    .count());
            assertThat(each).as("bytes of heap a candidate").isLessThan(EACH_BYTES);
        }
    }

    /** Workers fetch slices of a batch: each is a fetch of its own. */
    @Test
    void a_batch_that_workers_share_makes_no_garbage_for_its_candidates() {
        try (Store store = open()) {
            Dataset dataset = filled(store);
            double each = eachOf(width -> Query.on((Source) dataset)
                    .where(Predicates.within("place", 0, 0, width - 1, 1))
                    .where(Predicates.range("at", 0, 9))
                    .with(RunOptions.defaults().withTasks(new SimTasks(7, clock)))
                    .usingIndex("by_place")
                    .count());
            assertThat(each).as("bytes of heap a candidate").isLessThan(EACH_BYTES);
        }
    }

    private static Dataset filled(Store store) {
        Dataset dataset = store.createDataset(DatasetSpec.named("T")
                .field("id", "int64")
                .field("place", "point")
                .field("at", "int32")
                .primaryKey("id")
                .maintenance(Maintenance.VALIDATION)
                .index(IndexSpec.rtree("by_place", "place")));
        for (int id = 0; id < RECORDS; id++) {
            dataset.upsert(Map.of("id", (long) id, "place", new Point(id, 0), "at", id % 5));
        }
        dataset.flush();
        return dataset;
    }

    private static double eachOf(IntFunction<Query> queries) {
        long few = 0;
        long many = 0;
        for (int i = 0; i < 20; i++) {
            // the last ones count, when code is compiled
            few = allocated(queries.apply(FEW));
            many = allocated(queries.apply(MANY));
        }
        return (many - few) / (double) (MANY - FEW);
    }

    private static long allocated(Query query) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().threadId();
        long before = threads.getThreadAllocatedBytes(thread);
        try (QueryResult result = query.run()) {
            assertThat(result.next()).isTrue();
            assertThat(result.next()).isFalse();
        }
        return threads.getThreadAllocatedBytes(thread) - before;
    }
}
