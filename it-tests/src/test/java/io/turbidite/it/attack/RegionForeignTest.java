package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Something of somebody else has the name of a region's file in a {@code path}: whatever the store
 * does, it changes and deletes nothing of it, says so, and has its index all the same.
 */
@Timeout(120)
class RegionForeignTest {
    private static final int USERS = 9;

    @TempDir
    Path directory;

    private Path pm;
    private Path mine;
    private Path region;
    private byte[] bytes = new byte[200_123];

    /** What has the name. */
    enum Foreign {
        FILE,
        SHORT_FILE,
        LONG_ZEROS_AND_A_BYTE,
        HARD_LINK,
        SECOND_NAME_OF_THE_REGION,
        SYMBOLIC_LINK,
        PIPE,
        DIRECTORY,
        FULL_DIRECTORY
    }

    @BeforeEach
    void create() throws IOException {
        pm = Files.createDirectory(directory.resolve("pm"));
        mine = directory.resolve("precious");
        try (Store store = open()) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Visits")
                    .field("id", "int64")
                    .field("user", "string")
                    .primaryKey("id")
                    .partitions(1)
                    .maintenance(Maintenance.VALIDATION)
                    .index(spec()));
            for (long id = 0; id < 300; id++) {
                dataset.upsert(Map.of("id", id, "user", "user " + id % USERS));
            }
            dataset.flush();
        }
        try (Stream<Path> files = Files.list(pm)) {
            region = files.findFirst().orElseThrow();
        }
        new SplittableRandom(1).nextBytes(bytes);
    }

    private IndexSpec spec() {
        return IndexSpec.pm("by_user", "user")
                .withParameter("mode", "file")
                .withParameter("path", pm.toString())
                .withParameter("bytes", "16MiB");
    }

    private Store open() {
        return Store.open(
                directory.resolve("store"),
                StoreOptions.defaults()
                        .withDurability(Durability.PROCESS)
                        .withIndexKinds(new PmKind()));
    }

    private void replace(Foreign foreign) throws IOException, InterruptedException {
        Path aside = directory.resolve("aside");
        Files.move(region, aside);
        switch (foreign) {
            case FILE -> Files.write(region, bytes);
            case SHORT_FILE -> {
                bytes = new byte[] {'m', 'i', 'n', 'e'};
                Files.write(region, bytes);
            }
            case LONG_ZEROS_AND_A_BYTE -> {
                bytes = new byte[300_000];
                bytes[299_999] = 1;
                Files.write(region, bytes);
            }
            case HARD_LINK -> {
                Files.write(mine, bytes);
                Files.createLink(region, mine);
            }
            case SECOND_NAME_OF_THE_REGION -> {
                bytes = Files.readAllBytes(aside);
                Files.copy(aside, mine);
                Files.createLink(region, mine);
            }
            case SYMBOLIC_LINK -> {
                Files.write(mine, bytes);
                Files.createSymbolicLink(region, mine);
            }
            case PIPE -> {
                Process made = new ProcessBuilder("mkfifo", region.toString()).start();
                assumeTrue(made.waitFor() == 0, "no pipes here");
            }
            case DIRECTORY -> Files.createDirectory(region);
            case FULL_DIRECTORY -> {
                Files.createDirectory(region);
                Files.write(region.resolve("x"), bytes);
            }
        }
    }

    private void requireUntouched(Foreign foreign) throws IOException {
        if (foreign != Foreign.SECOND_NAME_OF_THE_REGION) {
            assertThat(Files.exists(region, LinkOption.NOFOLLOW_LINKS)).isTrue();
        }
        switch (foreign) {
            case FILE, SHORT_FILE, LONG_ZEROS_AND_A_BYTE ->
                assertThat(region).hasBinaryContent(bytes);
            case HARD_LINK, SECOND_NAME_OF_THE_REGION, SYMBOLIC_LINK ->
                assertThat(mine).hasBinaryContent(bytes);
            case PIPE -> assertThat(Files.isRegularFile(region)).isFalse();
            case DIRECTORY -> assertThat(region).isEmptyDirectory();
            case FULL_DIRECTORY -> assertThat(region.resolve("x")).hasBinaryContent(bytes);
        }
    }

    private static void check(Dataset dataset) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (dataset.indexes().isEmpty()) {
            assertThat(System.nanoTime()).as("the region is being built").isLessThan(end);
            Thread.onSpinWait();
        }
        for (int user = 0; user < USERS; user++) {
            Query query = Query.on(dataset).where(Predicates.eq("user", "user " + user));
            assertThat(query.usingIndex("by_user").run().toList())
                    .containsExactlyInAnyOrderElementsOf(query.usingScan().run().toList());
        }
    }

    private void requireTold(Store store, Foreign foreign) {
        if (foreign != Foreign.SECOND_NAME_OF_THE_REGION) {
            assertThat(store.events().recent())
                    .filteredOn(StoreEvent.RegionLeft.class::isInstance)
                    .anyMatch(event ->
                            event.toString().contains(region.getFileName().toString()));
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_opening_leaves_it_and_builds_another_region(Foreign foreign) throws Exception {
        replace(foreign);
        for (int i = 0; i < 2; i++) {
            try (Store store = open()) {
                requireTold(store, foreign);
                check(store.dataset("Visits"));
            }
            requireUntouched(foreign);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_drop_while_it_is_open_leaves_it(Foreign foreign) throws Exception {
        try (Store store = open()) {
            replace(foreign);
            store.dataset("Visits").dropIndex("by_user");
            requireTold(store, foreign);
            requireUntouched(foreign);
            store.dataset("Visits").createIndex(spec());
            check(store.dataset("Visits"));
        }
        requireUntouched(foreign);
    }

    @ParameterizedTest
    @EnumSource
    void a_rebuild_leaves_it(Foreign foreign) throws Exception {
        try (Store store = open()) {
            replace(foreign);
            store.dataset("Visits").rebuildIndex("by_user");
            check(store.dataset("Visits"));
            requireTold(store, foreign);
        }
        requireUntouched(foreign);
    }

    @ParameterizedTest
    @EnumSource
    void who_opens_the_store_for_reading_does_not_wait_for_it(Foreign foreign) throws Exception {
        replace(foreign);
        try (Store store = Store.openForReading(
                directory.resolve("store"), StoreOptions.defaults().withIndexKinds(new PmKind()))) {
            Query query = Query.on(store.dataset("Visits")).where(Predicates.eq("user", "user 3"));
            assertThat(query.run().toList()).hasSize(34 - 1);
        }
        requireUntouched(foreign);
    }

    /** The name of the probe was a process and a thread, and what had it was deleted. */
    @Test
    void what_looks_like_a_probe_is_left_unless_it_is_an_empty_one() throws Exception {
        Path old = pm.resolve("1-3.region.probe");
        Path full = pm.resolve("0123456789abcdef.region.probe");
        Path killed = pm.resolve("0123456789abcde0.region.probe");
        Files.write(old, bytes);
        Files.write(full, new byte[] {1});
        Files.createFile(killed);
        try (Store store = open()) {
            store.dataset("Visits").dropIndex("by_user");
            store.dataset("Visits").createIndex(spec());
            check(store.dataset("Visits"));
        }
        assertThat(old).hasBinaryContent(bytes);
        assertThat(full).hasBinaryContent(new byte[] {1});
        assertThat(killed).doesNotExist();
        try (Stream<Path> files = Files.list(pm)) {
            assertThat(files).hasSize(3);
        }
    }

    /** Deleting what one has no need of, perhaps. */
    @Test
    void a_directory_of_regions_that_is_gone_is_made_with_its_marker() throws Exception {
        Path regions = directory.resolve("store").resolve("regions");
        try (Stream<Path> files = Files.list(regions)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(regions);
        try (Store store = open()) {
            check(store.dataset("Visits"));
        }
        try (Stream<Path> files = Files.list(regions)) {
            assertThat(files).singleElement().asString().endsWith(".outside");
        }
    }

    @Test
    void a_file_in_the_place_of_the_directory_of_regions_is_told() throws Exception {
        Path regions = directory.resolve("store").resolve("regions");
        try (Stream<Path> files = Files.list(regions)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(regions);
        Files.write(regions, bytes);
        try (Store store = open()) {
            check(store.dataset("Visits"));
            assertThat(store.events().recent())
                    .filteredOn(StoreEvent.Failed.class::isInstance)
                    .anyMatch(event -> event.toString().contains("it is not a directory"));
            store.dataset("Visits").upsert(Map.of("id", 1_000L, "user", "user 1"));
            store.dataset("Visits").flush();
            check(store.dataset("Visits"));
        }
        assertThat(regions).hasBinaryContent(bytes);
    }

    @Test
    void a_marker_that_is_a_pipe_keeps_nobody_waiting() throws Exception {
        Path marker;
        try (Stream<Path> files = Files.list(directory.resolve("store").resolve("regions"))) {
            marker = files.findFirst().orElseThrow();
        }
        Files.move(marker, directory.resolve("marker"));
        Process made = new ProcessBuilder("mkfifo", marker.toString()).start();
        assumeTrue(made.waitFor() == 0, "no pipes here");
        try (Store store = open()) {
            check(store.dataset("Visits"));
            store.dataset("Visits").dropIndex("by_user");
        }
        try (Store store = open()) {
            assertThat(store.events().recent())
                    .filteredOn(StoreEvent.Failed.class::isInstance)
                    .anyMatch(event -> event.toString().contains("a pipe or a device"));
        }
        assertThat(Files.exists(marker, LinkOption.NOFOLLOW_LINKS)).isTrue();
    }

    /** Two containers name their directories alike, and share the path. */
    @Test
    void a_region_that_another_store_has_open_is_left_and_another_is_built() throws Exception {
        byte[] before = Files.readAllBytes(region);
        try (FileChannel other = FileChannel.open(region, StandardOpenOption.WRITE)) {
            var _ = other.lock();
            try (Store store = open()) {
                assertThat(store.events().recent())
                        .filteredOn(StoreEvent.RegionRefused.class::isInstance)
                        .singleElement()
                        .asString()
                        .contains(
                                region.getFileName().toString(),
                                "another store has this file open");
                Dataset dataset = store.dataset("Visits");
                check(dataset);
                dataset.upsert(Map.of("id", 1_000L, "user", "user 1"));
                dataset.flush();
                check(dataset);
                assertThat(store.verify().errors()).isEmpty();
            }
        } catch (FileSystemException e) {
            throw new AssertionError(e);
        }
        assertThat(region).hasBinaryContent(before);
    }
}
