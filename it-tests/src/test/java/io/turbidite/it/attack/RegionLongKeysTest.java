package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.Limits;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.pm.PmKind;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.Map;

/** Records with long primary keys, in a dataset with a region: flushed, searched, opened again. */
@Timeout(120)
class RegionLongKeysTest {
    private static final int RECORD_COUNT = 200;

    @TempDir
    Path directory;

    private Store open() {
        StoreOptions options = StoreOptions.defaults()
                .withDurability(Durability.PROCESS)
                .withIndexKinds(new PmKind());
        return Store.open(directory.resolve("store"), options);
    }

    @ParameterizedTest
    @ValueSource(ints = {708, Limits.KEY_BYTES_MAX - 16})
    void longPrimaryKeysAreAbsorbed(int keyBytes) {
        String prefix = "p".repeat(keyBytes - 8);
        try (Store store = open()) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Long")
                    .field("id", "string")
                    .field("a", "int64")
                    .primaryKey("id")
                    .maintenance(Maintenance.EAGER)
                    .index(IndexSpec.pm("pa", "a").withParameter("bytes", "64MiB")));
            for (int round = 0; round < 2; round++) {
                for (int i = 0; i < RECORD_COUNT; i++) {
                    dataset.upsert(
                            Map.of("id", prefix + "%08d".formatted(i), "a", (i + round) % 7L));
                }
                dataset.flush();
                check(store);
            }
        }
        try (Store store = open()) {
            check(store);
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    private static void check(Store store) {
        assertThat(store.events().recent()).noneMatch(StoreEvent.RegionRefused.class::isInstance);
        Dataset dataset = store.dataset("Long");
        for (long a = 0; a < 7; a++) {
            Query query = Query.on(dataset).where(Predicates.eq("a", a));
            assertThat(query.usingIndex("pa").run().toList())
                    .hasSizeGreaterThan(20)
                    .containsExactlyInAnyOrderElementsOf(Query.on(dataset)
                            .where(Predicates.eq("a", a))
                            .usingScan()
                            .run()
                            .toList());
        }
    }
}
