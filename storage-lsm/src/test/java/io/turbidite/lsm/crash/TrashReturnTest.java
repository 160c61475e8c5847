package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * A manifest comes back after one opening with an older one: what that put into the trash is put
 * back.
 */
class TrashReturnTest {
    private static final long SEED = Seeds.of("TrashReturnTest");

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final StoreOptions options = SimStore.options(Durability.SYNC);
    private NavigableMap<Long, Row> rows = new TreeMap<>();

    /** The newer manifest, beside what an opening with the older one left. */
    private void exchangeManifests() {
        byte[] older;
        byte[] newer;
        try (SimStore sim = SimStore.open(disk, SEED, options)) {
            Dataset dataset = sim.store.createDataset(Row.spec("T")
                    .partitions(1)
                    .mergePolicy(MergePolicySpec.parse("correlated-no-merge")));
            for (int round = 0; round < 2; round++) {
                for (int id = 0; id < 40; id++) {
                    dataset.upsert(new Row(id, "u" + round, id, null, "body " + round).toMap());
                }
                dataset.flush();
            }
            older = disk.content(StoreFiles.MANIFEST);
            dataset.mergeAll();
            newer = disk.content(StoreFiles.MANIFEST);
            rows = SimStore.rows(dataset);
        }
        int files = disk.list(StoreFiles.DATA).size();
        disk.put(StoreFiles.MANIFEST, older);
        SimStore.open(disk, SEED, options).close();
        assertThat(disk.list(StoreFiles.TRASH)).hasSize(files);
        disk.put(StoreFiles.MANIFEST, newer);
    }

    private static List<StoreEvent.TrashChanged> events(SimStore sim) {
        return sim.store.events().recent().stream()
                .filter(StoreEvent.TrashChanged.class::isInstance)
                .map(StoreEvent.TrashChanged.class::cast)
                .toList();
    }

    private void assertHoldsAll(SimDisk on) {
        try (SimStore sim = SimStore.open(on, SEED, options)) {
            assertThat(SimStore.rows(sim.store.dataset("T"))).isEqualTo(rows);
            sim.verify();
            sim.store.emptyTrash(); // a power cut in a rename may leave a file in both places
            assertThat(sim.store.describe().trash()).isEmpty();
        }
        assertThat(on.list(StoreFiles.TRASH)).isEmpty();
    }

    @Test
    void what_the_manifest_names_comes_back_from_the_trash() {
        exchangeManifests();
        try (SimStore sim = SimStore.open(disk, SEED, options)) {
            assertThat(events(sim))
                    .extracting(StoreEvent.TrashChanged::cause)
                    .containsExactly("manifest");
        }
        assertHoldsAll(disk);
    }

    @Test
    void a_power_cut_at_any_step_of_the_return_loses_nothing() {
        exchangeManifests();
        int[] cuts = {0};
        disk.onOperation(step -> {
            for (Profile profile : Profile.values()) {
                assertHoldsAll(disk.crashImage(Seeds.mix(SEED, step.index()), profile));
                cuts[0]++;
            }
        });
        SimStore sim = SimStore.open(disk, SEED, options);
        disk.onOperation(step -> {});
        sim.close();
        assertThat(cuts[0]).isGreaterThan(10);
        assertHoldsAll(disk);
    }

    @Test
    void who_reads_moves_nothing_and_says_where_the_file_is() {
        exchangeManifests();
        List<String> before = disk.files();
        SimClock clock = new SimClock();
        try (Store store = Store.openForReading(disk, new SimTasks(SEED, clock), clock, options)) {
            assertThatThrownBy(() -> {
                        try (var view = store.dataset("T").openView()) {
                            SimStore.rows(store.dataset("T"), view);
                        }
                    })
                    .isInstanceOf(CorruptionException.class)
                    .hasMessageContaining("trash/")
                    .hasMessageContaining("a writing opening of the store puts it back");
        }
        assertThat(disk.files()).isEqualTo(before);
        assertHoldsAll(disk);
    }

    @Test
    void what_the_manifest_names_is_not_deleted_though_it_is_not_whole() {
        exchangeManifests();
        String name = disk.list(StoreFiles.TRASH).getFirst();
        String path = StoreFiles.TRASH + "/" + name;
        byte[] whole = disk.content(path);
        byte[] damaged = whole.clone();
        damaged[damaged.length - 20] ^= 1;
        disk.put(path, damaged);
        try (SimStore sim = SimStore.open(disk, SEED, options)) {
            assertThat(sim.store.emptyTrash()).isEmpty();
            assertThat(sim.store.describe().trash()).hasSize(1);
        }
        assertThat(disk.list(StoreFiles.TRASH)).containsExactly(name);
        disk.put(path, whole);
        assertHoldsAll(disk);
    }
}
