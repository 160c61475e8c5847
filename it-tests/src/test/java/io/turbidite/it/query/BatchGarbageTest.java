package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.ops.Join;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.aggregate.Aggregate;

import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.function.BiFunction;

/** A row that is counted, grouped, joined, ordered or dropped leaves nothing on the heap. */
class BatchGarbageTest {
    private static final int FEW = 4_000;
    private static final int MANY = 24_000;
    private static final int EACH_BYTES = 4;

    private final SimClock clock = new SimClock();

    @Test
    void a_row_that_is_counted_makes_no_garbage() {
        check((source, _) -> Query.on(source).where(Predicates.range("at", 1, 3)));
    }

    @Test
    void a_row_of_a_group_makes_no_garbage() {
        check((source, _) -> Query.on(source)
                .where("at != 2")
                .groupBy("name")
                .aggregate(
                        Aggregate.count(),
                        Aggregate.sum("at"),
                        Aggregate.avg("real"),
                        Aggregate.max("real")));
    }

    @Test
    void a_row_that_is_not_among_the_first_makes_no_garbage() {
        check((source, _) -> Query.on(source)
                .orderBy("real:desc")
                .orderBy("name")
                .select("id", "name")
                .limit(10));
        check((source, _) -> Query.on(source).orderBy("at").orderBy("name:desc").limit(10));
    }

    @Test
    void a_pair_of_a_join_makes_no_garbage() {
        check((source, held) -> Query.on(
                        Join.inner(Query.on(source), Query.on(held)).on("at", "key"))
                .groupBy("label", "name")
                .aggregate(Aggregate.count(), Aggregate.sum("weight"), Aggregate.avg("real")));
    }

    private void check(BiFunction<Source, Source, Query> asked) {
        try (Store store = Store.open(
                new SimDisk(7, Profile.STRICT),
                new SimTasks(7, clock),
                clock,
                StoreOptions.defaults().withWriteMemoryBytes(16 << 20).withCacheBytes(16 << 20))) {
            Dataset few = filled(store, "Few", FEW);
            Dataset many = filled(store, "Many", MANY);
            Dataset held = held(store);
            long ofFew = Long.MAX_VALUE;
            long ofMany = Long.MAX_VALUE;
            for (int i = 0; i < 40; i++) {
                // the least: code that is compiled meanwhile makes some too
                ofFew = Math.min(ofFew, allocated(asked.apply(few, held)));
                ofMany = Math.min(ofMany, allocated(asked.apply(many, held)));
            }
            assertThat((ofMany - ofFew) / (double) (MANY - FEW))
                    .as("bytes of heap a row")
                    .isLessThan(EACH_BYTES);
        }
    }

    private static Dataset filled(Store store, String name, int records) {
        Dataset dataset = store.createDataset(DatasetSpec.named(name)
                .field("id", "int64")
                .field("name", "string")
                .field("at", "int32")
                .field("real", "double")
                .primaryKey("id"));
        for (int id = 0; id < records; id++) {
            dataset.upsert(
                    Map.of("id", (long) id, "name", "n" + id % 50, "at", id % 5, "real", id / 4.0));
        }
        dataset.flush();
        return dataset;
    }

    /** Two rows for each value of {@code at}. */
    private static Dataset held(Store store) {
        Dataset dataset = store.createDataset(DatasetSpec.named("Held")
                .field("no", "int64")
                .field("key", "int64")
                .field("label", "string")
                .field("weight", "int32")
                .primaryKey("no"));
        for (long no = 0; no < 10; no++) {
            dataset.upsert(Map.of("no", no, "key", no % 5, "label", "l" + no, "weight", (int) no));
        }
        dataset.flush();
        return dataset;
    }

    private static long allocated(Query query) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getThreadAllocatedBytes(Thread.currentThread().threadId());
        try (QueryResult result = query.run()) {
            assertThat(result.count()).isPositive();
        }
        return threads.getThreadAllocatedBytes(Thread.currentThread().threadId()) - before;
    }
}
