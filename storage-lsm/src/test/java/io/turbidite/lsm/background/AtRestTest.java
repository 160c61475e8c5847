package io.turbidite.lsm.background;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.List;

/** What workers of a store cost to which nobody talks, and that whoever comes finds them ready. */
class AtRestTest {
    private static final long REST_MICROS = 30_000_000;

    private final long seed = Seeds.of("AtRestTest");
    private final SimClock clock = new SimClock();
    private final SimStore sim = SimStore.open(
            new SimDisk(seed, Profile.STRICT),
            seed,
            SimStore.options(Durability.BUFFERED),
            disk -> disk,
            clock);
    private Dataset rows;
    private int nextId;

    @BeforeEach
    void a_store_has_rested() {
        rows = sim.store.createDataset(Row.spec("Rows")
                .maintenance(Maintenance.VALIDATION)
                .mergePolicy(MergePolicySpec.parse(
                        "tiering(sizeRatio=1.2, mergeCountMin=2, mergeableBytesMax=1GiB)")));
        for (int i = 0; i < 2; i++) {
            write(50);
            rows.flush();
        }
        sim.tasks.runForMicros(REST_MICROS);
    }

    @AfterEach
    void close() {
        sim.close();
    }

    private void write(int count) {
        WriteBatch batch = sim.store.newBatch();
        for (int i = 0; i < count; i++) {
            int id = nextId++;
            Row row = new Row(id, "user" + id % 7, i, Instant.ofEpochSecond(i), "x".repeat(60) + i);
            batch.upsert(rows, rows.newRecordWriter().write(row.toMap()));
        }
        sim.store.write(batch);
    }

    private boolean has(Class<? extends StoreEvent> kind, long sinceWallMicros) {
        List<StoreEvent> recent = sim.store.events().recent();
        return recent.stream()
                .anyMatch(event -> kind.isInstance(event) && event.wallMicros() >= sinceWallMicros);
    }

    /** Milliseconds until there is such an event. */
    private long millisUntil(Class<? extends StoreEvent> kind, long sinceWallMicros) {
        long end = clock.wallMicros() + 5_000_000;
        while (!has(kind, sinceWallMicros) && clock.wallMicros() < end) {
            sim.tasks.step();
        }
        return (clock.wallMicros() - sinceWallMicros) / 1_000;
    }

    @Test
    void all_its_workers_together_take_at_most_15_steps_a_second() {
        long before = sim.tasks.stepCount();
        sim.tasks.runForMicros(REST_MICROS);
        assertThat(sim.tasks.stepCount() - before).isLessThan(15 * REST_MICROS / 1_000_000);
    }

    @Test
    void a_flush_that_is_asked_for_and_the_merge_that_it_makes_due_begin_at_once() {
        long start = clock.wallMicros();
        write(50);
        rows.flush();
        assertThat(millisUntil(StoreEvent.Flushed.class, start)).isLessThan(50);
        assertThat(millisUntil(StoreEvent.Merged.class, start)).isLessThan(100);
    }

    /** Each write comes to a flusher at rest, also the one that is one too many. */
    @Test
    void a_write_that_fills_the_memory_is_flushed_though_no_other_comes() {
        for (int i = 0; i < 40; i++) {
            long start = clock.wallMicros();
            write(300);
            long millis = millisUntil(StoreEvent.Flushed.class, start);
            if (has(StoreEvent.Flushed.class, start)) {
                assertThat(millis).isLessThan(200);
                return;
            }
        }
        throw new AssertionError("the memory was never full");
    }

    @Test
    void a_repair_begins_at_once() {
        long start = clock.wallMicros();
        write(20);
        rows.flush();
        rows.repair("by_user");
        assertThat(millisUntil(StoreEvent.Repaired.class, start)).isLessThan(100);
    }
}
