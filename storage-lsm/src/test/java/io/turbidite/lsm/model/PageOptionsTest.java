package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.Compression;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.harness.SimStore;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Page size and compression, chosen for a dataset and for each of its indexes. */
class PageOptionsTest {
    private static final long SEED = 7;

    private static Dataset create(SimStore sim, Compression compression) {
        PageOptions small = new PageOptions(4 << 10, Compression.LZ4);
        return sim.store.createDataset(DatasetSpec.named("T")
                .field("id", "int64")
                .field("name", "string")
                .primaryKey("id")
                .components(ComponentOptions.primary()
                        .withPageBytes(128 << 10)
                        .withCompression(compression))
                .index(IndexSpec.btree("by_name", "name"))
                .index(IndexSpec.btree("small", "name").withPages(small)));
    }

    private static List<PageOptions> pages(Store store) {
        return store.describe().datasets().get(0).partitions().get(0).indexes().stream()
                .map(StoreDescription.IndexDescription::pages)
                .toList();
    }

    @Test
    void each_index_keeps_its_pages_as_it_was_told() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        StoreOptions options = SimStore.options(Durability.BUFFERED);
        long compressed;
        try (SimStore sim = SimStore.open(disk, SEED, options)) {
            fill(create(sim, Compression.ZSTD));
            compressed = bytes(sim.store);
        }
        PageOptions large = new PageOptions(128 << 10, Compression.ZSTD);
        try (SimStore sim = SimStore.open(disk, SEED, options)) {
            assertThat(pages(sim.store))
                    .containsExactly(large, large, new PageOptions(4 << 10, Compression.LZ4));
            sim.verify();
            Map<String, ?> row = Objects.requireNonNull(sim.store.dataset("T").get(17L));
            assertThat(row.get("name")).isEqualTo("a name that is said again and again");
        }
        try (SimStore sim = SimStore.open(new SimDisk(SEED, Profile.STRICT), SEED, options)) {
            fill(create(sim, Compression.NONE));
            assertThat(bytes(sim.store)).isGreaterThan(3 * compressed);
        }
    }

    @Test
    void pages_are_4_to_128_KiB() {
        assertThatThrownBy(() -> PageOptions.standard().withPageBytes(4095))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("page of 4095 bytes; 4096 to 131072 are possible");
        assertThatThrownBy(() -> PageOptions.standard().withPageBytes(131_073))
                .isInstanceOf(InvalidRequestException.class);
    }

    private static void fill(Dataset dataset) {
        for (long id = 0; id < 2_000; id++) {
            dataset.upsert(Map.of("id", id, "name", "a name that is said again and again"));
        }
        dataset.flush();
    }

    private static long bytes(Store store) {
        return store.describe().datasets().get(0).partitions().get(0).indexes().stream()
                .flatMap(index -> index.components().stream())
                .mapToLong(StoreDescription.ComponentDescription::bytes)
                .sum();
    }
}
