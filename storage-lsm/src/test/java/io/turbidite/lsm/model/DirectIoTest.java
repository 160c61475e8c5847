package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.RealDisk;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/** Direct I/O changes how components are reached, not what is in them. */
class DirectIoTest {
    private static final StoreOptions BUFFERED = SimStore.options(Durability.SYNC);
    private static final StoreOptions DIRECT = BUFFERED.withDirectIo(true);

    @TempDir
    private Path directory;

    private static DatasetSpec spec() {
        return DatasetSpec.named("D")
                .field("id", "int64")
                .field("text", "string")
                .primaryKey("id")
                .index(IndexSpec.btree("by_text", "text"));
    }

    private static void fill(Store store) {
        Dataset dataset = store.createDataset(spec());
        for (int id = 0; id < 3_000; id++) {
            dataset.upsertJson("{\"id\":%d,\"text\":\"text %d\"}".formatted(id, id * 7919 % 3_000));
            if (id % 1_000 == 999) {
                dataset.flush();
            }
        }
    }

    private static void check(Store store) {
        Dataset dataset = store.dataset("D");
        for (int id : IntStream.of(0, 1, 999, 1_000, 2_999).toArray()) {
            assertThat(dataset.get((long) id)).containsEntry("text", "text " + id * 7919 % 3_000);
        }
        assertThat(store.verify().isOk()).isTrue();
    }

    @Test
    void components_are_the_same_bytes_with_direct_io_and_without() {
        SimDisk buffered = new SimDisk(1, Profile.STRICT);
        SimDisk direct = new SimDisk(1, Profile.STRICT);
        try (SimStore first = SimStore.open(buffered, 1, BUFFERED);
                SimStore second = SimStore.open(direct, 1, DIRECT)) {
            fill(first.store);
            fill(second.store);
            check(second.store);
            List<String> names = buffered.files().stream()
                    .filter(name -> name.startsWith(StoreFiles.DATA))
                    .toList();
            assertThat(names).isNotEmpty();
            assertThat(direct.files()).containsAll(names);
            for (String name : names) {
                assertThat(direct.content(name)).as(name).isEqualTo(buffered.content(name));
            }
        }
    }

    @Test
    void a_store_is_opened_with_direct_io_and_without_as_one_likes() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, 1, DIRECT)) {
            fill(sim.store);
        }
        try (SimStore sim = SimStore.open(disk, 2, BUFFERED)) {
            check(sim.store);
            sim.store.dataset("D").mergeAll();
        }
        try (SimStore sim = SimStore.open(disk, 3, DIRECT)) {
            check(sim.store);
            assertThat(gauge(sim.store, "disk.direct")).isEqualTo(1);
            assertThat(events(sim.store)).isEmpty();
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void a_file_system_without_direct_io_is_told_of_when_the_store_opens() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        disk.refuseDirect();
        try (SimStore sim = SimStore.open(disk, 1, DIRECT)) {
            assertThat(events(sim.store))
                    .singleElement()
                    .satisfies(event -> assertThat(event.disk()).isEqualTo(disk.description()));
            assertThat(gauge(sim.store, "disk.direct")).isZero();
            fill(sim.store);
            check(sim.store);
            assertThat(events(sim.store)).hasSize(1);
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void a_store_on_a_real_disk_reads_and_writes_its_components_directly() {
        RealDisk disk = RealDisk.open(directory);
        try (Store store = Store.open(directory, DIRECT)) {
            fill(store);
            check(store);
            store.dataset("D").mergeAll();
            check(store);
            if (gauge(store, "disk.direct") == 0) {
                System.out.println("SKIPPED: " + disk.description()
                        + " refuses direct I/O; only the falling back was shown");
                assertThat(events(store)).hasSize(1);
            }
        }
        try (Store store = Store.open(directory, BUFFERED)) {
            check(store);
        }
    }

    private static List<StoreEvent.DirectIoRefused> events(Store store) {
        return store.events().recent().stream()
                .filter(StoreEvent.DirectIoRefused.class::isInstance)
                .map(StoreEvent.DirectIoRefused.class::cast)
                .toList();
    }

    private static long gauge(Store store, String name) {
        return store.meters().instruments().stream()
                .filter(instrument -> instrument.name().equals(name))
                .map(Reading.class::cast)
                .findFirst()
                .orElseThrow()
                .value();
    }
}
