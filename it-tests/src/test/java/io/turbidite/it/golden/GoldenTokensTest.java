package io.turbidite.it.golden;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.LogOptions;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.core.type.Point;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.expr.Predicate;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiPredicate;

/**
 * Stores with R-trees and with inverted indexes of each tokenizer, with components and a log. They
 * are asked, written on and merged with components of today. {@code -Dgolden.write=true} writes the
 * archives of a new format version.
 */
class GoldenTokensTest {
    private static final int KEYS = 120;
    private static final String LONG = "x".repeat(300);
    private static final List<String> WORDS =
            List.of("Late", "later", "fog", "caf\u00e9", "\uD801\uDC00y", "\u0001\u0002", LONG);

    /** What is in the store: of each key the number of the write that put it. */
    private final Map<Long, Integer> rows = new TreeMap<>();

    private static StoreOptions options() {
        LogOptions log = LogOptions.defaults().withSegmentBytes(256 << 10, 16, 256, 64 << 10);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(1 << 20)
                .withCacheBytes(1 << 20)
                .withLog(1 << 20, log);
    }

    @ParameterizedTest
    @EnumSource(
            value = Maintenance.class,
            names = {"EAGER", "VALIDATION", "MUTABLE_BITMAP"})
    void tokens_and_places_are_found_written_and_merged(
            Maintenance maintenance, @TempDir Path directory) throws IOException {
        String archive = "golden/tokens-%s-v1.zip".formatted(maintenance.label());
        if (Boolean.getBoolean("golden.write")) {
            write(directory.resolve("new"), maintenance);
            GoldenStoreTest.zip(
                    directory.resolve("new"), Path.of("src/test/resources").resolve(archive));
            rows.clear();
        }
        GoldenStoreTest.unzip(archive, directory.resolve("store"));
        noteWrites();
        try (Store store = Store.openExisting(directory.resolve("store"), options())) {
            Dataset dataset = store.dataset("Golden");
            enableWhatAnotherJavaMade(dataset);
            check(dataset);
            dataset.flush();
            for (long id = 0; id < KEYS; id += 7) {
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

    /** Under other tables of Unicode than those of then an index of words is disabled. */
    private static void enableWhatAnotherJavaMade(Dataset dataset) {
        List<String> ready =
                dataset.indexes().stream().map(index -> index.name()).toList();
        assertThat(ready).contains("by_place", "by_whole");
        for (String name : List.of("by_word", "by_pair")) {
            if (!ready.contains(name)) {
                dataset.enableIndex(name);
            }
        }
    }

    private void write(Path directory, Maintenance maintenance) {
        try (Store store = Store.open(directory, options())) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Golden")
                    .field("id", "int64")
                    .field("text", "string")
                    .field("place", "point")
                    .primaryKey("id")
                    .maintenance(maintenance)
                    .mergePolicy(MergePolicySpec.parse("correlated-no-merge"))
                    .index(IndexSpec.rtree("by_place", "place"))
                    .index(IndexSpec.inverted("by_word", "text"))
                    .index(IndexSpec.inverted("by_whole", "text")
                            .withParameter("tokenizer", "keyword"))
                    .index(IndexSpec.inverted("by_pair", "text")
                            .withParameter("tokenizer", "ngram(2)")));
            writeAll(dataset);
        }
    }

    /** Two flushes and what is in the log alone. */
    private void writeAll(Dataset dataset) {
        for (long id = 0; id < KEYS; id++) {
            put(dataset, id, 1);
        }
        dataset.flush();
        for (long id = 0; id < KEYS; id += 3) {
            dataset.delete(id);
        }
        for (long id = 1; id < KEYS; id += 3) {
            put(dataset, id, 2);
        }
        dataset.flush();
        for (long id = 0; id < KEYS; id += 5) {
            put(dataset, id, 3);
        }
    }

    /** As {@link #writeAll} does. */
    private void noteWrites() {
        for (long id = 0; id < KEYS; id++) {
            if (id % 3 != 0) {
                rows.put(id, id % 3 == 1 ? 2 : 1);
            }
            if (id % 5 == 0) {
                rows.put(id, 3);
            }
        }
    }

    private void put(Dataset dataset, long id, int write) {
        dataset.upsert(Map.of("id", id, "text", text(id, write), "place", new Point(id, write)));
        rows.put(id, write);
    }

    private static String text(long id, int write) {
        int words = WORDS.size();
        return WORDS.get((int) (id % words))
                + " "
                + WORDS.get((int) ((id / words + write) % words))
                + " n"
                + write;
    }

    private void check(Dataset dataset) {
        for (int write = 1; write <= 4; write++) {
            int put = write;
            check(
                    dataset,
                    "by_place",
                    Predicates.within("place", -1, put, 1e9, put),
                    (_, of) -> of == put);
            check(dataset, "by_word", Predicates.contains("text", "n" + put), (_, of) -> of == put);
            check(
                    dataset,
                    "by_whole",
                    Predicates.containsAll("text", Tokenizer.KEYWORD, text(7, put)),
                    (id, of) -> text(id, of).equals(text(7, put)));
        }
        check(
                dataset,
                "by_word",
                Predicates.containsPrefix("text", Tokenizer.WORD, "lat"),
                (id, of) -> text(id, of).contains("Late") || text(id, of).contains("later"));
        check(
                dataset,
                "by_word",
                Predicates.containsAny("text", Tokenizer.WORD, LONG + " fog"),
                (id, of) -> text(id, of).contains(LONG) || text(id, of).contains("fog"));
        check(
                dataset,
                "by_pair",
                Predicates.containsAll("text", Tokenizer.ngram(2), "\uD801\uDC28Y"),
                (id, of) -> text(id, of).contains("\uD801\uDC00y"));
        check(
                dataset,
                "by_pair",
                Predicates.editDistance("text", "lote fog n1", 1),
                (id, of) -> text(id, of).equals("Late fog n1"));
    }

    /** By the index and by the scan. */
    private void check(
            Dataset dataset, String index, Predicate predicate, BiPredicate<Long, Integer> holds) {
        long expected = rows.entrySet().stream()
                .filter(row -> holds.test(row.getKey(), row.getValue()))
                .count();
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
