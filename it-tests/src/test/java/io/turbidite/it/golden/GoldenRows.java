package io.turbidite.it.golden;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.log.LogOptions;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.expr.Predicate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.stream.Stream;

/**
 * An archived store of one dataset, with two flushed components and what is in the log alone. It is
 * asked, written on and merged with components of today. {@code -Dgolden.write=true} writes its
 * archive with the running release.
 */
abstract class GoldenRows {
    private static final String RESOURCES = "src/test/resources";

    /** What is in the store: of each key the number of the write that put it. */
    final Map<Long, Integer> rows = new TreeMap<>();

    private final int keys;

    /**
     * @param keys how many different keys are written
     */
    GoldenRows(int keys) {
        this.keys = keys;
    }

    /** What a write puts under a key. */
    abstract Map<String, Object> row(long id, int write);

    /** Asks for what {@link #rows} says. */
    abstract void check(Dataset dataset);

    /** Whether the archives are of formats before today's. */
    boolean isOld() {
        return true;
    }

    /** Called when the archived store is open, before it is asked. */
    void opened(Dataset dataset) {}

    static StoreOptions options() {
        LogOptions log = LogOptions.defaults().withSegmentBytes(256 << 10, 16, 256, 64 << 10);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(1 << 20)
                .withCacheBytes(1 << 20)
                .withLog(1 << 20, log);
    }

    /** Upgrades the archive, and asks it before and behind. */
    final void upgrade(String archive, Path directory) throws IOException {
        GoldenStoreTest.unzip(archive, directory.resolve("old"));
        noteWrites();
        try (Store store = Store.openExisting(directory.resolve("old"), options())) {
            Dataset dataset = store.dataset("Golden");
            opened(dataset);
            check(dataset);
            GoldenStoreTest.upgrade(store, isOld());
            check(dataset);
            assertThat(store.verify().errors()).isEmpty();
        }
        try (Store store = Store.openExisting(directory.resolve("old"), options())) {
            check(store.dataset("Golden"));
        }
        rows.clear();
    }

    /** Reads the archive, goes on, and merges; {@code spec} is what a new archive is written by. */
    final void goThrough(String archive, DatasetSpec spec, Path directory) throws IOException {
        if (Boolean.getBoolean("golden.write")) {
            write(directory.resolve("new"), spec);
            GoldenStoreTest.zip(directory.resolve("new"), Path.of(RESOURCES).resolve(archive));
            rows.clear();
        }
        upgrade(archive, directory);
        GoldenStoreTest.unzip(archive, directory.resolve("store"));
        noteWrites();
        try (Store store = Store.openExisting(directory.resolve("store"), options())) {
            Dataset dataset = store.dataset("Golden");
            opened(dataset);
            check(dataset);
            dataset.flush();
            for (long id = 0; id < keys; id += 7) {
                put(dataset, id, 4);
            }
            dataset.flush();
            check(dataset);
            dataset.mergeAll();
            check(dataset);
            assertThat(store.verify().errors()).isEmpty();
        }
        try (Store store = Store.openExisting(directory.resolve("store"), options())) {
            check(store.dataset("Golden"));
        }
    }

    private void write(Path directory, DatasetSpec spec) {
        try (Store store = Store.open(directory, options())) {
            writeAll(store.createDataset(spec));
        }
    }

    /** Two flushes and what is in the log alone. */
    private void writeAll(Dataset dataset) {
        for (long id = 0; id < keys; id++) {
            put(dataset, id, 1);
        }
        dataset.flush();
        for (long id = 0; id < keys; id += 3) {
            dataset.delete(id);
        }
        for (long id = 1; id < keys; id += 3) {
            put(dataset, id, 2);
        }
        dataset.flush();
        for (long id = 0; id < keys; id += 5) {
            put(dataset, id, 3);
        }
    }

    /** As {@link #writeAll} does. */
    final void noteWrites() {
        for (long id = 0; id < keys; id++) {
            if (id % 3 != 0) {
                rows.put(id, id % 3 == 1 ? 2 : 1);
            }
            if (id % 5 == 0) {
                rows.put(id, 3);
            }
        }
    }

    private void put(Dataset dataset, long id, int write) {
        dataset.upsert(row(id, write));
        rows.put(id, write);
    }

    /**
     * Flips bits of each file of an archived store, one by one: it says so or answers as it should.
     *
     * @param flips of each file
     */
    final void flip(String archive, int flips, Path directory) throws IOException {
        noteWrites();
        Path sound = directory.resolve("sound");
        GoldenStoreTest.unzip(archive, sound);
        int told = 0;
        int number = 0;
        for (Path file : files(sound)) {
            long bytes = Files.size(file);
            for (int i = 0; i < Math.min(flips, bytes); i++) {
                // of the last file's end too: a step is a part of what is left
                long at = i == 0 ? bytes - 1 : (bytes - 1) * (i - 1) / flips;
                Path store = directory.resolve("flipped" + number++);
                GoldenStoreTest.unzip(archive, store);
                Path flipped = store.resolve(sound.relativize(file));
                byte[] content = Files.readAllBytes(flipped);
                content[(int) at] ^= (byte) (1 << i % 8);
                Files.write(flipped, content);
                told += isTold(store, sound.relativize(file) + " at " + at) ? 1 : 0;
            }
        }
        assertThat(told).as("of %d flips", number).isGreaterThan(number / 2);
    }

    private static List<Path> files(Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private boolean isTold(Path directory, String what) {
        try (Store store = Store.openExisting(directory, options())) {
            check(store.dataset("Golden"));
            return !store.verify().errors().isEmpty();
        } catch (StorageException told) {
            assertThat(told.getMessage()).as(what).isNotBlank();
            return true;
        } catch (AssertionError wrong) {
            throw new AssertionError(what, wrong);
        }
    }

    /** How many of the rows hold what a predicate says. */
    final long count(BiPredicate<Long, Integer> holds) {
        return rows.entrySet().stream()
                .filter(row -> holds.test(row.getKey(), row.getValue()))
                .count();
    }

    /** By the index and by the scan. */
    final void check(
            Dataset dataset, String index, Predicate predicate, BiPredicate<Long, Integer> holds) {
        long expected = count(holds);
        try (QueryResult byIndex = Query.on(dataset)
                        .where(predicate)
                        .count()
                        .usingIndex(index)
                        .run();
                QueryResult scan =
                        Query.on(dataset).where(predicate).count().usingScan().run()) {
            assertThat(byIndex.count()).as("%s by %s", predicate, index).isEqualTo(expected);
            assertThat(scan.count()).as("%s by a scan", predicate).isEqualTo(expected);
        }
    }
}
