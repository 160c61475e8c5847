package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.ForwardingDisk;
import io.turbidite.core.index.IndexKind;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.HeapIndexKind;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.OutsideKind;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;

/** What openings do about files of regions that were left outside of the store. */
class OutsideRegionTest {
    private final HeapIndexKind heap = HeapIndexKind.persistent();
    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private String directory = "the store";

    private record Named(Disk disk, String description) implements ForwardingDisk {}

    private SimStore open() {
        return open(new OutsideKind(heap, disk));
    }

    private SimStore open(IndexKind... kinds) {
        String name = directory;
        StoreOptions options = SimStore.options(Durability.SYNC).withIndexKinds(kinds);
        return SimStore.open(disk, 1, options, lens -> new Named(lens, name));
    }

    /** Its index is gone, and the file of its region is left. */
    private void leaveAFile() {
        try (SimStore sim = open()) {
            disk.createDirectories(OutsideKind.PLACE);
            Dataset dataset = sim.store.createDataset(DatasetSpec.named("Visits")
                    .field("id", "int64")
                    .field("user", "string")
                    .primaryKey("id")
                    .partitions(1)
                    .maintenance(Maintenance.VALIDATION)
                    .index(IndexSpec.pm("by_user", "user")));
            dataset.upsert(Map.of("id", 1L, "user", "ann"));
            dataset.flush();
            disk.fault(FaultScript.with(Fault.EIO)
                    .on(OperationKind.DELETE)
                    .named(name -> name.startsWith(OutsideKind.PLACE)));
            dataset.dropIndex("by_user");
            assertThat(left(sim.store)).hasSize(1);
        }
        disk.clearFaults();
        assertThat(files()).hasSize(1);
        assertThat(markers()).hasSize(1);
    }

    private List<String> files() {
        return disk.list(OutsideKind.PLACE);
    }

    private List<String> markers() {
        return disk.list(StoreFiles.REGIONS);
    }

    private static List<String> left(Store store) {
        return store.events().recent().stream()
                .filter(StoreEvent.RegionLeft.class::isInstance)
                .map(StoreEvent::toString)
                .toList();
    }

    private static List<String> failed(Store store) {
        return store.events().recent().stream()
                .filter(StoreEvent.Failed.class::isInstance)
                .map(StoreEvent::toString)
                .toList();
    }

    private void openQuietly() {
        try (SimStore sim = open()) {
            assertThat(left(sim.store)).isEmpty();
            assertThat(failed(sim.store)).isEmpty();
        }
    }

    @Test
    void the_next_opening_deletes_what_could_not_be_deleted() {
        leaveAFile();
        openQuietly();
        assertThat(files()).isEmpty();
        assertThat(markers()).isEmpty();
    }

    @Test
    void a_place_that_is_not_there_is_told_until_it_comes_back() {
        leaveAFile();
        disk.rename(OutsideKind.PLACE + "/" + files().getFirst(), "aside");
        disk.delete(OutsideKind.PLACE);
        for (int opening = 0; opening < 2; opening++) {
            try (SimStore sim = open()) {
                assertThat(left(sim.store))
                        .singleElement()
                        .asString()
                        .contains("Visits", "by_user", OutsideKind.PLACE, "not mounted");
            }
        }
        disk.createDirectories(OutsideKind.PLACE);
        disk.rename(
                "aside",
                OutsideKind.PLACE + "/" + markers().getFirst().replace(".outside", ".region"));
        openQuietly();
        assertThat(files()).isEmpty();
        assertThat(markers()).isEmpty();
    }

    @Test
    void a_file_of_somebody_else_is_left() {
        leaveAFile();
        String name = OutsideKind.PLACE + "/" + files().getFirst();
        disk.rename(name, "aside");
        disk.createDirectories(name);
        for (int opening = 0; opening < 2; opening++) {
            try (SimStore sim = open()) {
                assertThat(left(sim.store)).singleElement().asString().contains(name, "yours");
            }
        }
        assertThat(files()).hasSize(1);
        disk.delete(name);
        openQuietly();
        assertThat(markers()).isEmpty();
    }

    @Test
    void a_store_without_the_kind_leaves_marker_and_file() {
        leaveAFile();
        try (SimStore sim = open(new IndexKind[0])) {
            assertThat(left(sim.store))
                    .singleElement()
                    .asString()
                    .contains("not given the kind pm");
        }
        openQuietly();
        assertThat(files()).isEmpty();
    }

    @Test
    void a_file_that_can_not_be_deleted_keeps_no_store_shut() {
        leaveAFile();
        for (String where : List.of(OutsideKind.PLACE, StoreFiles.REGIONS)) {
            disk.fault(FaultScript.with(Fault.EIO)
                    .on(OperationKind.DELETE, OperationKind.SYNC_DIRECTORY)
                    .named(name -> name.startsWith(where)));
            try (SimStore sim = open()) {
                assertThat(left(sim.store)).singleElement().asString().contains("injected");
            }
            disk.clearFaults();
            assertThat(markers()).hasSize(1);
        }
        openQuietly();
        assertThat(files()).isEmpty();
        assertThat(markers()).isEmpty();
    }

    /** The copy has the marker, and perhaps the original's file is in use. */
    @Test
    void a_copy_or_a_moved_store_leaves_the_file_and_says_so_once() {
        leaveAFile();
        directory = "a copy";
        try (SimStore sim = open()) {
            assertThat(left(sim.store))
                    .singleElement()
                    .asString()
                    .contains("made for the store in the store", "copy", "moved");
        }
        assertThat(files()).hasSize(1);
        assertThat(markers()).isEmpty();
        openQuietly();
        assertThat(files()).hasSize(1);
    }

    @Test
    void a_spoilt_marker_is_told_and_deletes_nothing() {
        leaveAFile();
        String marker = StoreFiles.REGIONS + "/" + markers().getFirst();
        byte[] sound = disk.content(marker);
        for (int at = 0; at < sound.length; at++) {
            byte[] damaged = sound.clone();
            damaged[at] ^= (byte) (1 << at % 8);
            openSpoilt(marker, damaged, "byte " + at);
        }
        for (int length = 0; length < sound.length; length += 7) {
            byte[] cut = new byte[length];
            System.arraycopy(sound, 0, cut, 0, length);
            openSpoilt(marker, cut, "cut to " + length);
        }
        put(marker, sound);
        openQuietly();
        assertThat(files()).isEmpty();
    }

    private void openSpoilt(String marker, byte[] bytes, String as) {
        put(marker, bytes);
        try (SimStore sim = open()) {
            assertThat(failed(sim.store)).as(as).singleElement().asString().contains(marker);
            assertThat(sim.store.dataset("Visits").get(1L)).containsEntry("user", "ann");
        }
        assertThat(files()).as(as).hasSize(1);
        assertThat(disk.content(marker)).as(as).isEqualTo(bytes);
    }

    private void put(String name, byte[] bytes) {
        disk.delete(name);
        try (DiskFile file = disk.create(name)) {
            file.write(0, MemorySegment.ofArray(bytes), 0, bytes.length);
        }
    }
}
