package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.pm.PmKind;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The file of a region is attacked in every way while no store has it open: the opening tells of
 * it, builds the region anew, and no query ever has another answer than a scan.
 */
@Timeout(300)
class RegionFilesTest {
    private static final int FLIPS = Tier.count(5, 20, 400);
    private static final int USERS = 9;

    @TempDir
    Path directory;

    private final SplittableRandom random = new SplittableRandom(Seeds.of("RegionFilesTest"));

    private static StoreOptions options() {
        return StoreOptions.defaults()
                .withDurability(Durability.PROCESS)
                .withIndexKinds(new PmKind());
    }

    private Store open() {
        return Store.open(directory.resolve("store"), options());
    }

    private void create() {
        try (Store store = open()) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Visits")
                    .field("id", "int64")
                    .field("user", "string")
                    .primaryKey("id")
                    .partitions(2)
                    .maintenance(Maintenance.VALIDATION)
                    .index(IndexSpec.pm("by_user", "user")
                            .withParameter("mode", "file")
                            .withParameter("bytes", "16MiB")));
            for (int round = 0; round < 3; round++) {
                for (long id = 0; id < 400; id++) {
                    dataset.upsert(Map.of("id", id, "user", "user " + random.nextInt(USERS)));
                }
                dataset.flush();
            }
            dataset.delete(7L);
            check(dataset);
        }
    }

    private List<Path> regions() throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve("store").resolve("regions"))) {
            return files.sorted().toList();
        }
    }

    private static void check(Dataset dataset) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (dataset.indexes().isEmpty()) {
            assertThat(System.nanoTime()).as("the region is being built").isLessThan(end);
            Thread.onSpinWait();
        }
        for (int user = 0; user < USERS; user++) {
            assertThat(rows(query(user).usingIndex("by_user"), dataset))
                    .containsExactlyInAnyOrderElementsOf(rows(query(user).usingScan(), dataset));
        }
    }

    private interface Asked {
        Query on(Dataset dataset);

        default Asked usingIndex(String index) {
            return dataset -> on(dataset).usingIndex(index);
        }

        default Asked usingScan() {
            return dataset -> on(dataset).usingScan();
        }
    }

    private static Asked query(int user) {
        return dataset -> Query.on(dataset).where(Predicates.eq("user", "user " + user));
    }

    private static List<Map<String, @Nullable Object>> rows(Asked asked, Dataset dataset) {
        return asked.on(dataset).run().toList();
    }

    private static long refusedCount(Store store) {
        return store.events().recent().stream()
                .filter(StoreEvent.RegionRefused.class::isInstance)
                .count();
    }

    private interface Attack {
        void run(List<Path> regions) throws IOException;
    }

    private void attack(String what, Attack attack, boolean isTold) throws IOException {
        attack.run(regions());
        try (Store store = open()) {
            assertThat(refusedCount(store) > 0).as(what).isEqualTo(isTold);
            Dataset dataset = store.dataset("Visits");
            check(dataset);
            dataset.upsert(Map.of("id", 1_000L + random.nextInt(50), "user", "user 1"));
            dataset.flush();
            check(dataset);
            assertThat(store.verify().errors()).isEmpty();
        }
        try (Store store = open()) {
            assertThat(refusedCount(store)).as(what + ", opened again").isZero();
            check(store.dataset("Visits"));
        }
        assertThat(regions()).hasSize(2);
    }

    @Test
    void whatever_happens_to_a_region_it_is_built_anew() throws IOException {
        create();
        attack("nothing", regions -> {}, false);
        attack("gone", regions -> Files.delete(regions.getFirst()), true);
        attack(
                "all gone",
                regions -> {
                    for (Path region : regions) {
                        Files.delete(region);
                    }
                },
                true);
        attack("empty", regions -> cut(regions.getFirst(), 0), true);
        attack("cut", regions -> cut(regions.getFirst(), Files.size(regions.getFirst()) / 2), true);
        attack(
                "cut by a byte",
                regions -> cut(regions.getFirst(), Files.size(regions.getFirst()) - 1),
                true);
        attack(
                "swapped",
                regions -> {
                    Path aside = directory.resolve("aside");
                    Files.move(regions.get(0), aside);
                    Files.move(regions.get(1), regions.get(0));
                    Files.move(aside, regions.get(1));
                },
                true);
    }

    /** Its mapping faults: the index goes, and the store lives on. */
    @Test
    void a_region_that_is_cut_while_it_is_open_takes_its_index_alone() throws IOException {
        create();
        try (Store store = open()) {
            Dataset dataset = store.dataset("Visits");
            for (Path region : regions()) {
                cut(region, 0);
            }
            for (long id = 0; id < 100; id++) {
                dataset.upsert(Map.of("id", id, "user", "user 8"));
            }
            dataset.flush();
            while (refusedCount(store) == 0 || !dataset.indexes().isEmpty()) {
                Thread.onSpinWait(); // the class has a bound
            }
            assertThat(rows(query(8), dataset)).hasSizeGreaterThanOrEqualTo(100 - 1);
            dataset.upsert(Map.of("id", 1_000L, "user", "user 8"));
            dataset.flush();
            dataset.rebuildIndex("by_user");
            check(dataset);
            assertThat(store.verify().errors()).isEmpty();
        }
        try (Store store = open()) {
            check(store.dataset("Visits"));
        }
    }

    /** Plans ask the index for estimates: who has another way must not fail by that. */
    @ParameterizedTest
    @ValueSource(strings = {"cut", "zeros"})
    void a_region_that_is_spoilt_while_it_is_open_disturbs_no_query_that_has_another_way(
            String attack) throws IOException {
        create();
        try (Store store = open()) {
            Dataset dataset = store.dataset("Visits");
            List<Map<String, @Nullable Object>> all =
                    Query.on(dataset).usingScan().run().toList();
            for (Path region : regions()) {
                if (attack.equals("cut")) {
                    cut(region, 0);
                } else {
                    Files.write(
                            region, new byte[(int) Files.size(region)], StandardOpenOption.WRITE);
                }
            }
            for (int round = 0; round < 20; round++) {
                int user = round % USERS;
                List<Map<String, @Nullable Object>> wanted = all.stream()
                        .filter(row -> Objects.equals(row.get("user"), "user " + user))
                        .toList();
                assertThat(rows(query(user).usingScan(), dataset))
                        .containsExactlyInAnyOrderElementsOf(wanted);
                assertThat(rows(query(user), dataset)).containsExactlyInAnyOrderElementsOf(wanted);
                assertThat(query(user).on(dataset).newestFirst().limit(5).run().toList())
                        .hasSize(Math.min(5, wanted.size()));
            }
            while (refusedCount(store) == 0) {
                Thread.onSpinWait(); // the class has a bound
            }
        }
        try (Store store = open()) {
            check(store.dataset("Visits"));
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    /** A region of another moment: the files of a store were put back one by one. */
    @Test
    void an_older_region_is_not_believed() throws IOException {
        create();
        List<byte[]> older = regions().stream().map(RegionFilesTest::bytes).toList();
        try (Store store = open()) {
            Dataset dataset = store.dataset("Visits");
            for (long id = 0; id < 50; id++) {
                dataset.upsert(Map.of("id", id, "user", "user 8"));
            }
            dataset.flush();
        }
        attack(
                "older",
                regions -> {
                    for (int i = 0; i < regions.size(); i++) {
                        Files.write(regions.get(i), older.get(i));
                    }
                },
                true);
    }

    /** What is read is a copy: the file stays what it is, byte for byte. */
    @Test
    void who_only_reads_changes_no_region() throws IOException {
        create();
        for (int round = 0; round < 2; round++) {
            List<byte[]> before = regions().stream().map(RegionFilesTest::bytes).toList();
            try (Store store = Store.openForReading(directory.resolve("store"), options())) {
                assertThat(store.dataset("Visits").indexes()).hasSize(1 - round);
                if (round == 0) {
                    check(store.dataset("Visits"));
                }
                assertThat(refusedCount(store) > 0).isEqualTo(round == 1);
            }
            assertThat(regions().stream().map(RegionFilesTest::bytes).toList())
                    .containsExactlyElementsOf(before);
            flip(regions().getFirst());
        }
    }

    /** Its disk may be gone, or something else may have its name: the store opens. */
    @Test
    void what_is_no_directory_of_regions_keeps_no_store_shut() throws IOException {
        Path path = Files.createDirectory(directory.resolve("pm"));
        try (Store store = open()) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Visits")
                    .field("id", "int64")
                    .field("user", "string")
                    .primaryKey("id")
                    .maintenance(Maintenance.VALIDATION)
                    .index(IndexSpec.pm("by_user", "user")
                            .withParameter("mode", "file")
                            .withParameter("path", path.toString())
                            .withParameter("bytes", "16MiB")));
            for (long id = 0; id < 100; id++) {
                dataset.upsert(Map.of("id", id, "user", "user " + random.nextInt(USERS)));
            }
            dataset.flush();
        }
        Files.move(path, directory.resolve("aside"));
        openTwice();
        assertThat(path).as("another disk would get the regions").doesNotExist();
        Files.writeString(path, "no directory");
        openTwice();
        assertThat(path).hasContent("no directory");
        Files.delete(path);
        Files.move(directory.resolve("aside"), path);
        openTwice();
    }

    private void openTwice() {
        for (long opening = 0; opening < 2; opening++) {
            try (Store store = open()) {
                assertThat(store.dataset("Visits").get(7L)).containsEntry("id", 7L);
                store.dataset("Visits").upsert(Map.of("id", 1_000L + opening, "user", "new"));
            }
        }
    }

    /**
     * The opening builds both indexes. Who asks for a change waits for its turn: a command
     * that was refused would end the store, and the builds with it, each time.
     */
    @ParameterizedTest
    @ValueSource(strings = {"rebuild", "enable", "drop", "create"})
    void a_change_waits_for_what_the_store_builds_by_itself(String change) throws IOException {
        try (Store store = open()) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Visits")
                    .field("id", "int64")
                    .field("user", "string")
                    .primaryKey("id")
                    .maintenance(Maintenance.VALIDATION)
                    .index(IndexSpec.pm("by_user", "user").withParameter("bytes", "16MiB"))
                    .index(IndexSpec.pm("by_other", "user").withParameter("bytes", "16MiB")));
            for (long id = 0; id < 10_000; id++) {
                dataset.upsert(Map.of("id", id, "user", "user " + id % USERS));
            }
            dataset.flush();
        }
        for (Path region : regions()) {
            Files.delete(region);
        }
        try (Store store = open()) {
            Dataset dataset = store.dataset("Visits");
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (store.events().recent().stream()
                    .noneMatch(event -> event instanceof StoreEvent.IndexChanged changed
                            && changed.state().equals("building"))) {
                assertThat(System.nanoTime()).as("a build begins").isLessThan(end);
                Thread.onSpinWait();
            }
            switch (change) {
                case "rebuild" -> dataset.rebuildIndex("by_other");
                case "enable" -> dataset.enableIndex("by_other");
                case "drop" -> dataset.dropIndex("by_other");
                default -> dataset.createIndex(IndexSpec.btree("by_third", "user"));
            }
            check(dataset);
            assertThat(dataset.indexes())
                    .extracting(IndexDescription::name)
                    .contains(change.equals("create") ? "by_third" : "by_user")
                    .hasSize(change.equals("drop") ? 1 : change.equals("create") ? 3 : 2);
        }
    }

    /**
     * A store, and a copy of it that is put in its place, have both built their index and written
     * as much: what the removed one has left in the path is not taken for the copy's.
     */
    @Test
    void the_region_of_a_removed_store_is_not_believed_by_a_copy_in_its_place() throws IOException {
        Path path = Files.createDirectory(directory.resolve("pm"));
        Path own = directory.resolve("store");
        Path copy = directory.resolve("copy");
        try (Store store = Store.open(own, options())) {
            write(
                    store.createDataset(DatasetSpec.named("Visits")
                            .field("id", "int64")
                            .field("user", "string")
                            .primaryKey("id")
                            .maintenance(Maintenance.VALIDATION)
                            .index(IndexSpec.pm("by_user", "user")
                                    .withParameter("mode", "file")
                                    .withParameter("path", path.toString())
                                    .withParameter("bytes", "16MiB"))),
                    0);
        }
        copy(own, copy);
        try (Store store = Store.open(own, options())) {
            store.dataset("Visits").rebuildIndex("by_user");
            write(store.dataset("Visits"), 1);
        }
        try (Store store = Store.open(copy, options())) {
            check(store.dataset("Visits"));
            write(store.dataset("Visits"), 2);
        }
        Files.move(own, directory.resolve("removed"));
        Files.move(copy, own);
        try (Store store = open()) {
            assertThat(refusedCount(store)).isPositive();
            check(store.dataset("Visits"));
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    private static void write(Dataset dataset, int from) {
        for (long id = 0; id < 100; id++) {
            dataset.upsert(Map.of("id", id, "user", "user " + (id + from) % USERS));
        }
        dataset.flush();
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file)));
            }
        }
    }

    private static byte[] bytes(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void a_flipped_byte_is_found() throws IOException {
        create();
        for (int i = 0; i < FLIPS; i++) {
            attack("flip " + i, regions -> flip(regions.get(random.nextInt(2))), true);
        }
    }

    private static void cut(Path file, long bytes) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(bytes);
        }
    }

    /** Behind both headers: of these one is the older, which nobody needs. */
    private void flip(Path file) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            long at = 8_192 + random.nextLong(channel.size() - 8_192);
            ByteBuffer one = ByteBuffer.allocate(1);
            channel.read(one, at);
            one.put(0, (byte) (one.get(0) ^ (1 << random.nextInt(8))));
            channel.write(one.flip(), at);
        }
    }
}
