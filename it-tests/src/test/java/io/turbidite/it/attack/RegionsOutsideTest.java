package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.RealDisk;
import io.turbidite.core.index.OutsideFile;
import io.turbidite.core.index.RegionPlace;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.backup.CopyMode;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.ship.Shipment;
import io.turbidite.lsm.version.Manifest;
import io.turbidite.lsm.version.RegionMarker;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.pm.PmKind;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Files of regions in a {@code path}: what is left there is deleted by a later opening, and nothing
 * else is, whoever has copied, moved, restored or unmounted what.
 */
@Timeout(300)
class RegionsOutsideTest {
    private static final int USERS = 9;

    @TempDir
    Path directory;

    private Path own = Path.of("");
    private Path pm = Path.of("");

    @BeforeEach
    void makePlaces() throws IOException {
        // the hash of before is one for both: "Aa" and "BB"
        own = directory.resolve("Aa");
        pm = Files.createDirectory(directory.resolve("pm"));
    }

    private static StoreOptions options() {
        return StoreOptions.defaults()
                .withDurability(Durability.PROCESS)
                .withIndexKinds(new PmKind());
    }

    private void create() {
        try (Store store = Store.open(own, options())) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Visits")
                    .field("id", "int64")
                    .field("user", "string")
                    .primaryKey("id")
                    .partitions(1)
                    .maintenance(Maintenance.VALIDATION)
                    .index(spec("by_user")));
            write(dataset);
            check(dataset);
        }
    }

    private IndexSpec spec(String name) {
        return IndexSpec.pm(name, "user")
                .withParameter("mode", "file")
                .withParameter("path", pm.toString())
                .withParameter("bytes", "16MiB");
    }

    private static void write(Dataset dataset) {
        for (long id = 0; id < 100; id++) {
            dataset.upsert(Map.of("id", id, "user", "user " + id % USERS));
        }
        dataset.flush();
    }

    private static void check(Dataset dataset) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (dataset.indexes().isEmpty()) {
            assertThat(System.nanoTime()).as("the region is being built").isLessThan(end);
            Thread.onSpinWait();
        }
        for (int user = 0; user < USERS; user++) {
            Query query = Query.on(dataset).where(Predicates.eq("user", "user " + user));
            List<Map<String, @Nullable Object>> wanted = query.usingScan().run().toList();
            assertThat(query.usingIndex("by_user").run().toList())
                    .containsExactlyInAnyOrderElementsOf(wanted);
        }
    }

    private static List<Path> in(Path place) throws IOException {
        try (Stream<Path> files = Files.list(place)) {
            return files.sorted().toList();
        }
    }

    private List<Path> markers() throws IOException {
        return in(own.resolve("regions"));
    }

    private static List<String> left(Store store) {
        return store.events().recent().stream()
                .filter(StoreEvent.RegionLeft.class::isInstance)
                .map(StoreEvent::toString)
                .toList();
    }

    private static boolean isRefused(Store store) {
        return store.events().recent().stream()
                .anyMatch(StoreEvent.RegionRefused.class::isInstance);
    }

    /** A dropped index whose file could not be deleted, since its directory had gone. */
    private Path leaveAFile() throws IOException {
        create();
        Path aside = directory.resolve("aside");
        try (Store store = Store.open(own, options())) {
            Files.move(pm, aside);
            store.dataset("Visits").dropIndex("by_user");
            assertThat(left(store)).singleElement().asString().contains("by_user", pm.toString());
        }
        Files.move(aside, pm);
        assertThat(markers()).hasSize(1);
        return in(pm).getFirst();
    }

    private void openOnce(boolean tells) {
        try (Store store = Store.open(own, options())) {
            assertThat(left(store)).hasSize(tells ? 1 : 0);
            assertThat(store.dataset("Visits").get(7L)).containsEntry("id", 7L);
        }
    }

    private void assertNothingLeft() throws IOException {
        openOnce(false);
        assertThat(in(pm)).isEmpty();
        assertThat(markers()).isEmpty();
    }

    @Test
    void a_region_that_is_in_use_has_a_marker_and_a_dropped_one_has_none() throws IOException {
        create();
        assertThat(markers()).hasSize(1);
        assertThat(markers().getFirst().toString()).endsWith(".outside");
        try (Store store = Store.open(own, options())) {
            assertThat(isRefused(store)).isFalse();
            store.dataset("Visits").dropIndex("by_user");
            assertThat(in(pm)).isEmpty();
            assertThat(markers()).isEmpty();
        }
    }

    @Test
    void a_file_that_was_left_goes_with_the_next_opening() throws IOException {
        Path file = leaveAFile();
        Files.write(Path.of(file + ".probe"), new byte[4_096]);
        Path foreign = Files.writeString(pm.resolve("0-0-5f0a1c93d27b4e68.region"), "others");
        try (Store reading = Store.openForReading(own, options())) {
            assertThat(reading.dataset("Visits").get(7L)).containsEntry("id", 7L);
            assertThat(file).exists();
        }
        openOnce(false);
        assertThat(in(pm)).containsExactly(foreign);
        assertThat(markers()).isEmpty();
    }

    @Test
    void what_was_begun_and_has_no_header_goes_too() throws IOException {
        for (int bytes : new int[] {0, 100, 65_536}) {
            Path file = leaveAFile();
            Files.write(file, new byte[bytes]);
            assertNothingLeft();
            removeStore();
        }
    }

    private void removeStore() throws IOException {
        try (Stream<Path> files = Files.walk(own)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /** While a file system is not mounted, there is an empty directory. */
    @Test
    void an_empty_directory_in_the_place_of_another_is_no_proof() throws IOException {
        Path file = leaveAFile();
        Path aside = directory.resolve("aside");
        Files.move(pm, aside);
        openOnce(true); // it is not there
        Files.createDirectory(pm);
        openOnce(true); // it is another one
        openOnce(true);
        Files.delete(pm);
        Files.move(aside, pm);
        assertThat(file).exists();
        assertNothingLeft();
    }

    /** The roots of two file systems have the same inode more often than not. */
    @Test
    void the_same_inode_of_another_device_is_no_proof() throws IOException {
        String here = RealDisk.open(pm).inode();
        String inode = here.substring(here.indexOf(':') + 1);
        String file = pm.resolve("%016x-%016x-%s".formatted(1L, 2L, RegionPlace.fileName(3)))
                .toString();
        PmKind kind = new PmKind();
        assertThat(kind.removeOutside(new OutsideFile(file, here), 1, 3))
                .isEqualTo(OutsideFile.Removal.GONE);
        for (String other : List.of("1:" + inode, inode, here + "1")) {
            assertThat(kind.removeOutside(new OutsideFile(file, other), 1, 3))
                    .isEqualTo(OutsideFile.Removal.OUT_OF_REACH);
        }
    }

    /** A device may have another number when the machine was started anew. */
    @Test
    void a_marker_whose_directory_has_another_number_is_written_anew() throws IOException {
        create();
        RealDisk disk = RealDisk.open(own);
        String name = disk.list("regions").getFirst();
        long regionId = StoreFiles.markedRegion(name);
        RegionMarker kept = RegionMarker.readToTell(disk, regionId);
        long storeId = Manifest.open(disk).state().storeId();
        new RegionMarker(
                        regionId,
                        kept.kind(),
                        kept.dataset(),
                        kept.partition(),
                        kept.index(),
                        kept.store(),
                        new OutsideFile(kept.file().path(), "9:9"))
                .write(disk, storeId);
        try (Store store = Store.open(own, options())) {
            check(store.dataset("Visits"));
        }
        assertThat(RegionMarker.readToTell(disk, regionId)).isEqualTo(kept);
    }

    /** The opening finds no region, drops it and builds it anew; the file comes back later. */
    @Test
    void a_region_that_was_not_mounted_is_deleted_when_it_comes_back() throws IOException {
        create();
        Path aside = directory.resolve("aside");
        Path other = directory.resolve("other");
        Path first = in(pm).getFirst();
        Files.move(pm, aside);
        Files.createDirectory(pm);
        try (Store store = Store.open(own, options())) {
            assertThat(isRefused(store)).isTrue();
            check(store.dataset("Visits"));
        }
        Path second = in(pm).getFirst();
        assertThat(markers()).hasSize(2);
        Files.move(pm, other);
        Files.move(aside, pm);
        try (Store store = Store.open(own, options())) {
            check(store.dataset("Visits"));
        }
        assertThat(first).doesNotExist();
        assertThat(in(pm)).hasSize(1);
        Files.move(in(other).getFirst(), second);
        openOnce(false);
        assertThat(second).doesNotExist();
        assertThat(in(pm)).hasSize(1);
        assertThat(markers()).hasSize(1);
    }

    @Test
    void what_is_not_that_region_is_never_deleted() throws IOException {
        Path file = leaveAFile();
        byte[] sound = Files.readAllBytes(file);
        byte[] damaged = sound.clone();
        damaged[40] ^= 1;
        damaged[4_096 + 40] ^= 1;
        Files.write(file, damaged);
        openOnce(true);
        assertThat(file).hasBinaryContent(damaged);
        Files.writeString(file, "somebody's");
        openOnce(true);
        assertThat(file).hasContent("somebody's");
        Files.delete(file);
        Path precious = Files.write(directory.resolve("precious"), sound);
        Files.createSymbolicLink(file, precious);
        openOnce(true);
        assertThat(precious).hasBinaryContent(sound);
        assertThat(file).isSymbolicLink();
        Files.delete(file);
        Files.createDirectory(file);
        openOnce(true);
        Files.delete(file);
        damaged = sound.clone();
        damaged[40] ^= 1; // the other header says it
        Files.write(file, damaged);
        assertNothingLeft();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_restored_or_received_store_knows_no_file_of_the_original(boolean isShipped)
            throws IOException {
        create();
        Path file = in(pm).getFirst();
        Path backup = directory.resolve("backup");
        Path restored = directory.resolve("restored");
        try (Store store = Store.open(own, options())) {
            var _ = store.backup(backup, CopyMode.COPY);
            if (isShipped) {
                ByteArrayOutputStream sent = new ByteArrayOutputStream();
                try (Shipment shipment = store.openShipment()) {
                    shipment.writeTo(sent, 0);
                }
                var _ = Store.receive(new ByteArrayInputStream(sent.toByteArray()), restored);
            } else {
                var _ = Store.restore(backup, restored);
            }
            assertThat(restored.resolve("regions")).doesNotExist();
            try (Store copy = Store.open(restored, options())) {
                check(copy.dataset("Visits"));
                copy.dropDataset("Visits");
                assertThat(left(copy)).isEmpty();
            }
            check(store.dataset("Visits"));
        }
        try (Stream<Path> files = Files.walk(backup)) {
            assertThat(files.map(Path::toString)).noneMatch(name -> name.contains("outside"));
        }
        assertThat(in(pm)).containsExactly(file);
        assertThat(in(restored.resolve("regions"))).isEmpty();
        try (Store store = Store.open(own, options())) {
            assertThat(isRefused(store)).isFalse();
        }
    }

    /** With the hash of before it would have one file with the original. */
    @Test
    void a_copied_store_leaves_the_files_of_the_original() throws IOException {
        create();
        Path file = in(pm).getFirst();
        Path copied = directory.resolve("BB");
        assertThat(copied.toString().hashCode()).isEqualTo(own.toString().hashCode());
        try (Store store = Store.open(own, options())) {
            copy(own, copied);
            try (Store copy = Store.open(copied, options())) {
                assertThat(isRefused(copy)).isTrue();
                check(copy.dataset("Visits"));
                check(store.dataset("Visits"));
                assertThat(in(pm)).hasSize(2);
            }
            try (Store copy = Store.open(copied, options())) {
                assertThat(isRefused(copy)).isFalse();
                assertThat(left(copy))
                        .singleElement()
                        .asString()
                        .contains(file.toString(), own.toString());
                check(copy.dataset("Visits"));
                copy.dataset("Visits").dropIndex("by_user");
            }
            assertThat(in(copied.resolve("regions"))).isEmpty();
            write(store.dataset("Visits"));
            check(store.dataset("Visits"));
            assertThat(store.verify().errors()).isEmpty();
        }
        assertThat(in(pm)).containsExactly(file);
        try (Store store = Store.open(own, options())) {
            assertThat(isRefused(store)).isFalse();
            check(store.dataset("Visits"));
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(each -> !each.endsWith("LOCK")).toList()) {
                Files.copy(file, to.resolve(from.relativize(file)));
            }
        }
    }

    /** Releases of before wrote no marker, and hashed the directory with 32 bits. */
    @Test
    void a_region_of_an_older_release_is_read_on_and_deleted() throws IOException {
        create();
        Path file = in(pm).getFirst();
        String[] parts = file.getFileName().toString().split("-");
        assertThat(parts).hasSize(3);
        assertThat(parts[1]).hasSize(16);
        Path old = pm.resolve(
                "%s-%08x-%s".formatted(parts[0], own.toRealPath().toString().hashCode(), parts[2]));
        Files.move(file, old);
        Files.delete(markers().getFirst());
        try (Store reading = Store.openForReading(own, options())) {
            assertThat(isRefused(reading)).isFalse();
            assertThat(reading.dataset("Visits").indexes()).hasSize(1);
        }
        assertThat(markers()).isEmpty();
        for (int opening = 0; opening < 2; opening++) {
            try (Store store = Store.open(own, options())) {
                assertThat(isRefused(store)).isFalse();
                assertThat(store.dataset("Visits").indexes()).hasSize(1);
                write(store.dataset("Visits"));
                check(store.dataset("Visits"));
            }
            assertThat(in(pm)).containsExactly(old);
            assertThat(markers()).hasSize(1);
        }
        try (Store store = Store.open(own, options())) {
            store.dataset("Visits").dropIndex("by_user");
        }
        assertNothingLeft();
    }
}
