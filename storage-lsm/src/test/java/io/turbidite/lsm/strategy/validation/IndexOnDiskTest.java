package io.turbidite.lsm.strategy.validation;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SubDisk;
import io.turbidite.core.type.Point;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.backup.CopyMode;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;

/**
 * Obsolete entries are those beyond what the records there are have, be that five entries or half
 * an entry for each (design §4 rule 12).
 */
class IndexOnDiskTest {
    private static final int RECORDS = 200;

    private static void put(Dataset dataset, long id, String words, boolean hasPlace) {
        Map<String, Object> row = new HashMap<>(Map.of("id", id, "text", words));
        if (hasPlace) {
            row.put("place", new Point(words.length(), id));
        }
        dataset.upsert(row);
    }

    private static long obsolete(Dataset dataset, String name) {
        IndexSchema index = Inside.schema(dataset).indexes().stream()
                .filter(one -> one.name().equals(name))
                .findFirst()
                .orElseThrow();
        return new IndexOnDisk(Inside.partitions(dataset), index.tree(), Long.MAX_VALUE).obsolete();
    }

    @Test
    void entriesOfAVersionAreCounted() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, 1, SimStore.options(Durability.SYNC))) {
            Dataset dataset = sim.store.createDataset(DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("text", "string")
                    .field("place", "point?")
                    .primaryKey("id")
                    .maintenance(Maintenance.VALIDATION)
                    .mergePolicy(MergePolicySpec.parse("no-merge")));
            dataset.createIndex(IndexSpec.inverted("by_word", "text"));
            dataset.createIndex(IndexSpec.rtree("by_place", "place"));
            for (long id = 0; id < RECORDS; id++) {
                put(dataset, id, "five words for each one", id % 2 == 0);
            }
            dataset.flush();
            assertThat(obsolete(dataset, "by_word")).isZero();
            assertThat(obsolete(dataset, "by_place")).isZero();
            for (long id = 0; id < RECORDS / 2; id++) {
                put(dataset, id, "quite other words are here", id % 2 == 0);
            }
            dataset.flush();
            assertThat(obsolete(dataset, "by_word")).isEqualTo(5 * RECORDS / 2);
            assertThat(obsolete(dataset, "by_place")).isEqualTo(RECORDS / 4);
            dataset.repair();
            assertThat(obsolete(dataset, "by_word")).isZero();
            assertThat(obsolete(dataset, "by_place")).isZero();
            dataset.mergeAll();
            assertThat(obsolete(dataset, "by_word")).isZero();
            assertThat(obsolete(dataset, "by_place")).isZero();
            // built from the records of a component
            dataset.createIndex(IndexSpec.inverted("later", "text"));
            assertThat(obsolete(dataset, "later")).isZero();
        }
    }

    /** What was in memory is on disk in a backup. */
    @Test
    void aBackupCountsEntriesOfAVersionToo() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        StoreOptions options = SimStore.options(Durability.SYNC);
        try (SimStore sim = SimStore.open(disk, 1, options, on -> SubDisk.of(on, "store"))) {
            Dataset dataset = sim.store.createDataset(DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("text", "string")
                    .primaryKey("id")
                    .maintenance(Maintenance.VALIDATION)
                    .index(IndexSpec.inverted("by_word", "text")));
            for (long id = 0; id < RECORDS; id++) {
                put(dataset, id, "five words for each one", false);
            }
            sim.store.backup(SubDisk.of(disk, "backup"), CopyMode.COPY);
        }
        try (SimStore sim = SimStore.open(disk, 1, options, on -> SubDisk.of(on, "backup"))) {
            Dataset dataset = sim.store.dataset("T");
            assertThat(obsolete(dataset, "by_word")).isZero();
            assertThat(dataset.get(0L)).isNotNull();
        }
    }
}
