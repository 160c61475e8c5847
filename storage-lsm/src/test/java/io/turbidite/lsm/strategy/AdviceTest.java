package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.dataset.KeptCounts;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.strategy.advice.Advice;
import io.turbidite.lsm.version.DatasetCounts;
import io.turbidite.lsm.version.DatasetCounts.Flushes;
import io.turbidite.lsm.version.DatasetCounts.IndexReads;
import io.turbidite.lsm.version.DatasetCounts.Lookups;
import io.turbidite.lsm.version.DatasetCounts.Reads;

import org.junit.jupiter.api.Test;

/**
 * What a store counts for advice outlives the process, and is neither lost nor counted twice in a
 * crash.
 */
class AdviceTest {
    private static final long SEED = 41;
    private static final StoreOptions OPTIONS = SimStore.options(Durability.SYNC);

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);

    private static DatasetSpec spec(Maintenance maintenance) {
        return DatasetSpec.named("T")
                .field("id", "int64")
                .field("user", "string?")
                .primaryKey("id")
                .partitions(2)
                .maintenance(maintenance)
                .index(IndexSpec.btree("by_user", "user"));
    }

    private static void write(Dataset dataset, int from, int to, String user) {
        for (int id = from; id < to; id++) {
            dataset.upsertJson("{\"id\":%d,\"user\":\"%s\"}".formatted(id, user));
        }
    }

    private static DatasetCounts counts(SimStore sim) {
        return KeptCounts.of(Inside.core(sim.store), Inside.opened(sim.store.dataset("T")));
    }

    /** Asks the index without records; returns how many entries were valid. */
    private static long search(Dataset dataset) {
        long found = 0;
        try (ReadView view = dataset.openView()) {
            IndexDescription index = view.indexes().getFirst();
            for (int p = 0; p < view.partitionCount(); p++) {
                try (ValidSearch search =
                        ValidSearch.open(view, p, index, KeyRange.all(), FilterPredicate.none())) {
                    while (search.next()) {
                        found++;
                    }
                }
            }
        }
        return found;
    }

    @Test
    void eager_writers_count_what_they_find() {
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            Dataset dataset = sim.store.createDataset(spec(Maintenance.EAGER));
            write(dataset, 0, 100, "ann");
            dataset.flush();
            write(dataset, 50, 150, "bob");
            dataset.delete(0L);
            dataset.flush();
            assertThat(counts(sim).lookups()).isEqualTo(new Lookups(201, 51));
            assertThat(counts(sim).flushes()).isEqualTo(new Flushes(201, 1, 0, 0));
            dataset.mergeAll();
            // 50 were written over and one deleted; the delete went with it
            assertThat(counts(sim).flushes()).isEqualTo(new Flushes(201, 1, 51, 149));
        }
    }

    @Test
    void what_was_counted_is_there_after_reopening() {
        DatasetCounts before;
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            Dataset dataset = sim.store.createDataset(spec(Maintenance.VALIDATION));
            write(dataset, 0, 100, "ann");
            dataset.flush();
            write(dataset, 0, 40, "bob");
            dataset.flush();
            assertThat(search(dataset)).isEqualTo(100);
            before = counts(sim);
            assertThat(before.lookups()).isEqualTo(new Lookups(0, 0));
            assertThat(before.reads()).isEqualTo(new Reads(0, 140, 100));
            assertThat(before.index(1)).isEqualTo(new IndexReads(2, 140));
        }
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            assertThat(counts(sim)).isEqualTo(before);
            Dataset dataset = sim.store.dataset("T");
            KeyBatch keys = new KeyBatch(1 << 20);
            try (ReadView view = dataset.openView()) {
                for (int p = 0; p < 2; p++) {
                    try (RecordStream none = view.fetch(p, keys)) {
                        assertThat(none.next()).isFalse();
                    }
                }
            }
            search(dataset);
            assertThat(counts(sim).index(1)).isEqualTo(new IndexReads(4, 280));
            dataset.dropIndex("by_user");
            assertThat(counts(sim).indexes()).isEmpty();
            write(dataset, 0, 1, "cid");
            dataset.flush();
            assertThat(counts(sim).indexes()).isEmpty();
        }
    }

    @Test
    void writes_are_counted_once_though_the_log_is_replayed() {
        SimDisk image;
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            Dataset dataset = sim.store.createDataset(spec(Maintenance.VALIDATION));
            write(dataset, 0, 100, "ann");
            dataset.flush();
            write(dataset, 0, 30, "bob");
            assertThat(counts(sim).flushes().writes()).isEqualTo(100);
            image = disk.crashImage(7);
        }
        try (SimStore sim = SimStore.open(image, SEED, OPTIONS)) {
            assertThat(counts(sim).flushes().writes()).isEqualTo(100);
            sim.store.dataset("T").flush();
            assertThat(counts(sim).flushes().writes()).isEqualTo(130);
        }
    }

    @Test
    void advice_goes_by_what_is_on_disk_and_by_what_definitions_allow() {
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            Dataset dataset = sim.store.createDataset(spec(Maintenance.EAGER));
            for (int round = 0; round < 4; round++) {
                write(dataset, 0, 500, "user" + round);
                dataset.flush();
            }
            Advice advice = dataset.advise();
            assertThat(advice.dataset()).isEqualTo("T");
            Advice.IndexAdvice index = advice.indexes().getFirst();
            assertThat(index.advised()).isEqualTo(Maintenance.AUTO);
            assertThat(index.refused()).containsKey(Maintenance.MUTABLE_BITMAP);
            assertThat(index.refused().get(Maintenance.DEFERRED)).contains("correlated");
            assertThat(advice.reasons())
                    .anyMatch(reason -> reason.contains("2,000 writes"))
                    .anyMatch(reason -> reason.contains("75.0 % took the place"));
            assertThat(advice.advisedPages()).isLessThan(advice.nowPages());
        }
    }

    @Test
    void what_readers_found_obsolete_and_components_have_in_common_is_told() {
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            Dataset dataset = sim.store.createDataset(spec(Maintenance.VALIDATION));
            write(dataset, 0, 500, "ann");
            dataset.flush();
            write(dataset, 0, 500, "bob");
            dataset.flush();
            assertThat(dataset.advise().reasons())
                    .anyMatch(reason -> reason.contains("about 50.0 % took the place"));
            search(dataset);
            DatasetCounts.Reads reads = counts(sim).reads();
            assertThat(1 - (double) reads.valid() / reads.validated()).isEqualTo(0.5, within(1e-9));
            assertThat(dataset.advise().indexes().getFirst().reasons())
                    .anyMatch(reason -> reason.contains("50.0 % of them obsolete"));
        }
    }
}
