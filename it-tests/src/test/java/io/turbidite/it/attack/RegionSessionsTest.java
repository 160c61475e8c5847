package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;

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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Copies of a store take turns at one directory, whose regions lie elsewhere: a region that one of
 * them went on with is no other's, whatever timestamps they have.
 */
@Timeout(300)
class RegionSessionsTest {
    private static final int USERS = 9;

    @TempDir
    Path directory;

    private Path own;
    private Path path;

    @BeforeEach
    void create() throws IOException {
        own = directory.resolve("store");
        path = Files.createDirectory(directory.resolve("pm"));
        try (Store store = open()) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Visits")
                    .field("id", "int64")
                    .field("user", "string")
                    .primaryKey("id")
                    .partitions(1)
                    .maintenance(Maintenance.VALIDATION)
                    .index(IndexSpec.pm("by_user", "user")
                            .withParameter("mode", "file")
                            .withParameter("path", path.toString())
                            .withParameter("bytes", "16MiB")));
            write(dataset, 1, 1_000);
            dataset.flush();
        }
    }

    private Store open() {
        return Store.open(
                own,
                StoreOptions.defaults()
                        .withDurability(Durability.PROCESS)
                        .withIndexKinds(new PmKind()));
    }

    private static void write(Dataset dataset, long seed, int count) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < count; i++) {
            long id = seed * 100 + random.nextInt(600);
            dataset.upsert(Map.of("id", id, "user", "user " + random.nextInt(USERS)));
        }
    }

    private void copy(String from, String to) throws IOException {
        Path source = directory.resolve(from);
        Path target = directory.resolve(to);
        try (Stream<Path> all = Files.walk(source)) {
            for (Path each : all.toList()) {
                Files.copy(each, target.resolve(source.relativize(each).toString()));
            }
        }
    }

    private void move(String from, String to) throws IOException {
        Files.move(directory.resolve(from), directory.resolve(to));
    }

    private static boolean isBuilt(Dataset dataset) {
        return !dataset.indexes().isEmpty();
    }

    private static void check(Store store) {
        Dataset dataset = store.dataset("Visits");
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!isBuilt(dataset)) {
            assertThat(System.nanoTime()).as("the region is being built").isLessThan(end);
            Thread.onSpinWait();
        }
        for (int user = 0; user < USERS; user++) {
            Query query = Query.on(dataset).where(Predicates.eq("user", "user " + user));
            assertThat(query.usingIndex("by_user").run().toList())
                    .containsExactlyInAnyOrderElementsOf(query.usingScan().run().toList());
        }
    }

    private static long refusedCount(Store store) {
        return store.events().recent().stream()
                .filter(StoreEvent.RegionRefused.class::isInstance)
                .count();
    }

    /** Today's log ends behind all that yesterday's copy has put into the region. */
    @Test
    void a_region_that_an_older_copy_went_on_with_is_built_anew() throws IOException {
        copy("store", "yesterday");
        try (Store store = open()) {
            write(store.dataset("Visits"), 2, 200);
        }
        move("store", "today");
        move("yesterday", "store");
        try (Store store = open()) {
            assertThat(refusedCount(store))
                    .as("untouched, it is yesterday's too")
                    .isZero();
            write(store.dataset("Visits"), 3, 100);
            store.dataset("Visits").flush();
            check(store);
        }
        move("store", "yesterday");
        move("today", "store");
        try (Store store = open()) {
            assertThat(refusedCount(store)).isEqualTo(1);
            check(store);
            store.dataset("Visits").flush();
            check(store);
            assertThat(store.verify().errors()).isEmpty();
        }
        move("store", "today");
        move("yesterday", "store");
        try (Store store = open()) {
            check(store);
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    /** Both have absorbed as much: nothing is ahead of anything. */
    @Test
    void equal_timestamps_do_not_make_two_histories_one() throws IOException {
        copy("store", "copy");
        copy("pm", "pm of both");
        goOn(2);
        move("pm", "pm of the first");
        move("store", "first");
        move("pm of both", "pm");
        move("copy", "store");
        goOn(3);
        move("pm", "pm of the second");
        move("pm of the first", "pm");
        try (Store store = open()) {
            assertThat(refusedCount(store)).isEqualTo(1);
            check(store);
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    private void goOn(long seed) {
        try (Store store = open()) {
            write(store.dataset("Visits"), seed, 100);
            store.dataset("Visits").flush();
            assertThat(refusedCount(store)).isZero();
            check(store);
        }
    }

    /** Nothing of it changes what is opened and closed, or killed in between. */
    @Test
    void a_store_that_is_opened_again_and_again_keeps_its_region() {
        for (int i = 0; i < 5; i++) {
            try (Store store = open()) {
                assertThat(refusedCount(store)).isZero();
                if (i % 2 == 0) {
                    write(store.dataset("Visits"), 4 + i, 50);
                }
                check(store);
            }
        }
    }
}
