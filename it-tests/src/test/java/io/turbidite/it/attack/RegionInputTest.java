package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexBuild;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.pm.PmKind;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What an index of kind pm can't be, and what it can't have: each is refused by an error that names
 * it, and nothing is changed. Where a region ends while a store runs, its index ends alone.
 */
@Timeout(60)
class RegionInputTest {
    private final Path directory;
    private Store store;

    RegionInputTest(@TempDir Path directory) throws IOException {
        this.directory = directory;
        store = open("store");
        Files.createDirectory(directory.resolve("empty"));
        Files.writeString(directory.resolve("file"), "no directory");
        put(create("There"), 0, "user 1");
    }

    @AfterEach
    void close() {
        store.close();
    }

    private Store open(String name) {
        StoreOptions options = StoreOptions.defaults()
                .withDurability(Durability.PROCESS)
                .withIndexKinds(new PmKind());
        return Store.open(directory.resolve(name), options);
    }

    private static DatasetSpec spec(String name) {
        return DatasetSpec.named(name)
                .field("id", "int64")
                .field("user", "string")
                .field("tags", "[string]")
                .primaryKey("id")
                .maintenance(Maintenance.VALIDATION);
    }

    private Dataset create(String name, IndexSpec... indexes) {
        DatasetSpec spec = spec(name);
        List.of(indexes).forEach(spec::index);
        return store.createDataset(spec);
    }

    private static void put(Dataset dataset, long id, String user) {
        dataset.upsert(Map.of("id", id, "user", user, "tags", List.of("a", "b")));
    }

    private List<String> files(String of) throws IOException {
        Path path = directory.resolve(of);
        if (!Files.isDirectory(path)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(path)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    /** The parameters, the field, and the maintenance, of an index; what is said of it. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "pageBytes=1000 | user | | pageBytes must be a multiple of 256 from 256 to 32768, not 1000",
                "pageBytes=0 | user | | pageBytes is 0, but primary keys may have 36 bytes: it must be 256 at least",
                "pageBytes=64KiB | user | | pageBytes must be a multiple of 256 from 256 to 32768, not 65536",
                "pageBytes=many | user | | pageBytes",
                "bytes=64KiB | user | | bytes of a region must be from 262144 to 274877906944, not 65536",
                "bytes=1TiB | user | | bytes of a region must be from 262144 to 274877906944",
                "bytes=lots | user | | bytes",
                "mode=fast | user | | unknown mode 'fast'; there are auto, dax, file and volatile",
                "mode=dax | user | | mode dax is not to be had in DIR/store; there is file",
                "mode=dax,path=DIR/empty | user | | mode dax is not to be had in DIR/empty; there is file",
                "path=here | user | | path is 'here' but must be absolute",
                "path=DIR/none | user | | path: DIR/none does not exist",
                "path=DIR/file | user | | path: DIR/file is not a directory",
                "path=/proc | user | | path: /proc takes no files: create of ",
                "path= | user | | path is empty; leave it out to have the regions in the store",
                "path=DIR/store | user | | path: DIR/store lies in the store",
                "path=DIR/store/regions | user | | path: DIR/store/regions lies in the store",
                "speed=high | user | | kind pm takes mode, path, bytes and pageBytes, not [speed]",
                "mode=file | user | EAGER | eager",
                "mode=file | user | DELETED_KEY | deleted-key",
                "mode=file | tags[] | | elements of an array",
                "mode=file | nobody | | nobody",
            })
    void what_is_wrong_is_named_and_nothing_is_changed(
            String parameters, String field, Maintenance maintenance, String message)
            throws IOException {
        Files.createDirectories(directory.resolve("store/regions"));
        IndexSpec index = IndexSpec.pm("by_user", field);
        for (String parameter :
                parameters.replace("DIR", directory.toRealPath().toString()).split(",", -1)) {
            String[] parts = parameter.split("=", 2);
            index = index.withParameter(parts[0], parts[1]);
        }
        IndexSpec wrong = maintenance == null ? index : index.withMaintenance(maintenance);
        String expected = message.replace("DIR", directory.toRealPath().toString());
        Dataset there = store.dataset("There");
        assertThatThrownBy(() -> create("New", wrong))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(expected)
                .hasMessageContaining("by_user");
        assertThatThrownBy(() -> there.createIndex(wrong))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(expected)
                .hasMessageContaining("by_user");
        assertNothingChanged();
    }

    private void assertNothingChanged() throws IOException {
        assertThat(store.datasets()).extracting(Dataset::name).containsExactly("There");
        assertThat(store.dataset("There").indexes()).isEmpty();
        assertThat(files("empty")).isEmpty();
        assertThat(files("store/regions")).isEmpty();
        put(store.dataset("There"), 1, "user 2");
        store.dataset("There").flush();
        assertThat(store.verify().errors()).isEmpty();
    }

    @Test
    void a_unique_index_and_a_page_too_small_for_primary_keys_are_refused() throws IOException {
        assertThatThrownBy(() -> IndexSpec.pm("by_user", "user").asUnique())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("unique");
        assertThatThrownBy(() -> store.createDataset(DatasetSpec.named("New")
                        .field("name", "string")
                        .field("user", "string")
                        .primaryKey("name")
                        .index(IndexSpec.pm("by_user", "user").withParameter("pageBytes", "512"))))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(
                        "pageBytes is 512, but primary keys may have 1024 bytes: it must be 1280 at least");
        assertNothingChanged();
    }

    @Test
    void a_key_that_is_too_long_is_named_and_no_index_is_left() throws IOException {
        String tooLong = "x".repeat(Limits.KEY_BYTES_MAX + 1);
        put(store.dataset("There"), 5, tooLong);
        assertThatThrownBy(
                        () -> store.dataset("There").createIndex(IndexSpec.pm("by_user", "user")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("index by_user of There")
                .hasMessageContaining("primary key [5]");
        assertNothingChanged();
        Dataset indexed = create("Indexed", IndexSpec.pm("by_user", "user"));
        assertThatThrownBy(() -> put(indexed, 1, tooLong))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("by_user");
        assertThat(indexed.get(1L)).isNull();
    }

    private static IndexSpec small() {
        return IndexSpec.pm("by_user", "user").withParameter("bytes", "256KiB");
    }

    private static void fill(Dataset dataset) {
        for (long id = 0; id < 5_000; id++) {
            put(dataset, id, "user " + id % 999);
        }
    }

    @Test
    void a_region_too_small_for_the_records_that_are_there_is_no_index() throws IOException {
        Dataset there = store.dataset("There");
        fill(there);
        assertThatThrownBy(() -> there.createIndex(small()))
                .isInstanceOfSatisfying(
                        StorageIoException.class,
                        e -> assertThat(e.kind()).isEqualTo(StorageIoException.Kind.NO_SPACE))
                .hasMessageContaining("of index by_user of There")
                .hasMessageContaining("262144 bytes");
        assertNothingChanged();
    }

    @Test
    void a_build_says_how_many_records_it_has_read() {
        Dataset there = store.dataset("There");
        fill(there);
        there.flush();
        IndexBuild build = there.startIndex(IndexSpec.pm("by_user", "user"));
        build.await();
        assertThat(build.entriesRead()).isEqualTo(build.entriesTotal()).isGreaterThan(4_999);
    }

    @Test
    void a_region_that_can_not_grow_ends_its_index_and_nothing_else() throws IOException {
        Dataset dataset = create(
                "Growing",
                small(),
                IndexSpec.pm("by_other", "user").withParameter("bytes", "64MiB"));
        fill(dataset);
        dataset.flush();
        Clock clock = Clock.system();
        long until = clock.monotonicNanos() + 20_000_000_000L;
        while (dataset.indexes().size() > 1 && clock.monotonicNanos() < until) {
            Thread.onSpinWait();
        }
        assertThat(dataset.indexes())
                .extracting(IndexDescription::name)
                .containsExactly("by_other");
        assertThat(store.events().recent())
                .filteredOn(StoreEvent.RegionRefused.class::isInstance)
                .singleElement()
                .asString()
                .contains("by_user", "262144 bytes");
        put(dataset, 9_000, "late");
        dataset.flush();
        Query late = Query.on(dataset).where(Predicates.eq("user", "late"));
        assertThat(late.usingIndex("by_other").run().toList()).hasSize(1);
        assertThat(late.usingScan().run().toList()).hasSize(1);
        assertThat(store.verify().errors()).isEmpty();
    }

    /** Indexes and stores share a directory; the regions of another store are nobody's garbage. */
    @Test
    void a_directory_may_be_shared() throws IOException {
        Path shared = directory.resolve("other/regions");
        try (Store other = open("other")) {
            Dataset own = other.createDataset(spec("Own").index(IndexSpec.pm("by_user", "user")));
            put(own, 1, "a");
            own.flush();
        }
        IndexSpec index = IndexSpec.pm("by_user", "user")
                .withParameter("mode", "file")
                .withParameter("bytes", "1MiB")
                .withParameter("path", shared.toRealPath().toString());
        for (String name : List.of("One", "Two")) {
            put(create(name, index), 1, name);
            store.dataset(name).flush();
        }
        assertThat(files("other/regions")).hasSize(3);
        store.close();
        try (Store other = open("other")) {
            assertThat(other.verify().errors()).isEmpty();
            put(other.dataset("Own"), 2, "a");
            other.dataset("Own").flush();
        }
        store = open("store");
        assertThat(store.events().recent()).noneMatch(StoreEvent.RegionRefused.class::isInstance);
        store.dropDataset("One");
        assertThat(files("other/regions")).hasSize(2);
        Query rows = Query.on(store.dataset("Two")).where(Predicates.eq("user", "Two"));
        assertThat(rows.usingIndex("by_user").run().toList()).hasSize(1);
    }

    @Test
    void a_place_that_takes_no_files_any_more_leaves_a_rebuilt_index_as_it_is() throws IOException {
        Path place = Files.createDirectories(directory.resolve("place"));
        Dataset dataset = create(
                "Placed",
                IndexSpec.pm("by_user", "user")
                        .withParameter("path", place.toRealPath().toString()));
        put(dataset, 1, "user 1");
        dataset.flush();
        Path away = Files.move(place, directory.resolve("away"));
        assertThatThrownBy(() -> dataset.rebuildIndex("by_user"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("dataset Placed: index by_user: path: ")
                .hasMessageContaining("does not exist");
        assertThat(dataset.indexes()).extracting(IndexDescription::name).containsExactly("by_user");
        Files.move(away, place);
        dataset.rebuildIndex("by_user");
        assertThat(store.verify().errors()).isEmpty();
    }

    @Test
    void a_dataset_without_an_index_to_repair_is_told_why() {
        Dataset dataset = create("Mended", IndexSpec.pm("by_user", "user"));
        assertThatThrownBy(dataset::repair)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("of a kind that looks after its obsolete entries itself");
    }

    @Test
    void a_file_that_can_not_be_deleted_as_its_place_is_gone_is_named() throws IOException {
        Path place = Files.createDirectories(directory.resolve("place"));
        Dataset dataset = create(
                "Placed",
                IndexSpec.pm("by_user", "user")
                        .withParameter("path", place.toRealPath().toString()));
        put(dataset, 1, "user 1");
        dataset.flush();
        List<String> files = files("place");
        assertThat(files).isNotEmpty();
        Files.move(place, directory.resolve("away"));
        dataset.dropIndex("by_user");
        assertThat(store.events().recent())
                .filteredOn(StoreEvent.RegionLeft.class::isInstance)
                .map(event -> ((StoreEvent.RegionLeft) event).cause())
                .hasSameSizeAs(files)
                .allMatch(cause -> files.stream().anyMatch(cause::contains));
    }
}
