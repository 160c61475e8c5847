package io.turbidite.lsm.background;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.SimStore;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

/** An event of a flush says what asked for it: full write memory, a long log, or a caller. */
class FlushCauseTest {
    private static final int RECORD_BYTES = 2_000;

    private static List<String> causes(StoreOptions options, int recordCount) {
        SimDisk disk = new SimDisk(3, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, 3, options)) {
            Dataset dataset = sim.store.createDataset(
                    DatasetSpec.named("T").field("id", "int64").primaryKey("id"));
            for (long i = 0; i < recordCount; i++) {
                dataset.upsert(Map.of("id", i, "filler", "x".repeat(RECORD_BYTES)));
            }
            dataset.flush();
            return sim.store.events().recent().stream()
                    .filter(StoreEvent.Flushed.class::isInstance)
                    .map(event -> ((StoreEvent.Flushed) event).cause())
                    .toList();
        }
    }

    @Test
    void write_memory_that_fills() {
        StoreOptions options = SimStore.options(Durability.SYNC);
        assertThat(causes(options.withLog(64 << 20, options.log()), 2_000))
                .hasSizeGreaterThan(2)
                .contains("memory")
                .doesNotContain("log");
    }

    @Test
    void a_log_that_is_long() {
        StoreOptions options = SimStore.options(Durability.SYNC).withWriteMemoryBytes(64 << 20);
        assertThat(causes(options, 8_000))
                .hasSizeGreaterThan(2)
                .contains("log")
                .doesNotContain("memory");
    }

    @Test
    void a_caller() {
        assertThat(causes(SimStore.options(Durability.SYNC), 10)).containsExactly("request");
    }
}
