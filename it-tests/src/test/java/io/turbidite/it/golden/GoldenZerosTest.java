package io.turbidite.it.golden;

import static io.turbidite.ops.Predicates.eq;
import static io.turbidite.ops.Predicates.range;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.feeds.Feed;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedProgress;
import io.turbidite.feeds.FeedReport;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;

/**
 * The two zeros of floating-point numbers are one value, in stores whose keys tell them apart,
 * which releases before manifest 11 wrote, and in those whose keys do not.
 * {@code -Dgolden.write=true} writes the archive of the running release; the older one stays.
 */
class GoldenZerosTest {
    private static final String SIGNED = "golden/zeros-v1.zip";
    private static final String ONE = "golden/zeros-v2.zip";
    private static final int RECORDS = 24;
    private static final String[] INDEXES = {"by_v", "by_wv", "by_p", "by_r", "by_dv"};

    @Test
    void a_store_whose_keys_have_two_zeros_answers_as_if_they_were_one(@TempDir Path directory)
            throws IOException {
        GoldenStoreTest.unzip(SIGNED, directory);
        check(directory, KeyForm.SIGNED_ZEROS);
    }

    @Test
    void a_store_whose_keys_have_one_zero_stays_readable(@TempDir Path directory)
            throws IOException {
        if (Boolean.getBoolean("golden.write")) {
            write(directory.resolve("new"));
            GoldenStoreTest.zip(
                    directory.resolve("new"), Path.of("src/test/resources").resolve(ONE));
        }
        GoldenStoreTest.unzip(ONE, directory.resolve("store"));
        check(directory.resolve("store"), KeyForm.ONE_ZERO);
    }

    /** A feed may put one of them, and goes on. */
    @ParameterizedTest
    @ValueSource(strings = {SIGNED, ONE})
    void an_insert_of_the_other_zero_is_a_dead_letter(String archive, @TempDir Path directory)
            throws IOException {
        GoldenStoreTest.unzip(archive, directory.resolve("store"));
        Files.writeString(directory.resolve("zeros.csv"), """
                d,text
                0.0,first
                -0.0,second
                1.0,taken
                2.0,third
                """);
        Files.writeString(directory.resolve("feed.yaml"), """
                feed: zeros
                dataset:
                  name: Twins
                  type: { d: double, text: string }
                  primaryKey: d
                source: { kind: file, path: zeros.csv }
                parser: { kind: csv }
                mode: insert
                """);
        FeedDefinition definition = FeedDefinition.load(directory.resolve("feed.yaml"));
        try (Store store = Store.openExisting(directory.resolve("store"), options())) {
            Dataset twins = store.dataset("Twins");
            twins.delete(0.0);
            try (Feed feed = Feed.open(definition, store)) {
                FeedReport report = feed.run(FeedProgress.none());
                assertThat(report.records()).isEqualTo(2);
                assertThat(report.rejected()).isEqualTo(2);
                assertThat(Files.readAllLines(
                                Path.of(Objects.requireNonNull(report.deadLetters()))))
                        .satisfiesExactly(
                                letter -> assertThat(letter).contains("\"-0.0,second\""),
                                letter -> assertThat(letter).contains("\"1.0,taken\""));
            }
            assertThat(Objects.requireNonNull(twins.get(-0.0)).get("text")).isEqualTo("first");
            assertThat(Objects.requireNonNull(twins.get(1.0)).get("text")).isEqualTo("1.0");
            assertThat(Objects.requireNonNull(twins.get(2.0)).get("text")).isEqualTo("third");
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    private static StoreOptions options() {
        LogOptions log = LogOptions.defaults().withSegmentBytes(256 << 10, 16, 256, 64 << 10);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(1 << 20)
                .withCacheBytes(1 << 20)
                .withLog(1 << 20, log);
    }

    static void write(Path directory) {
        try (Store store = Store.open(directory, options())) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Zeros")
                    .field("d", "double")
                    .field("n", "int64")
                    .field("v", "double?")
                    .field("w", "float?")
                    .field("p", "point?")
                    .field("r", "rectangle?")
                    .primaryKey("d", "n")
                    .filter("v")
                    .partitions(2)
                    .index(IndexSpec.btree("by_v", "v"))
                    .index(IndexSpec.btree("by_wv", "w", "v"))
                    .index(IndexSpec.btree("by_p", "p"))
                    .index(IndexSpec.btree("by_r", "r"))
                    .index(IndexSpec.btree("by_dv", "d", "v")));
            for (int n = 0; n < RECORDS; n++) {
                dataset.upsertJson(json(n));
                if (n == RECORDS / 2) {
                    dataset.flush();
                }
            }
            Dataset twins = store.createDataset(DatasetSpec.named("Twins")
                    .field("d", "double")
                    .field("text", "string")
                    .primaryKey("d"));
            for (String d : List.of("-0.0", "0.0", "1.0")) {
                twins.upsertJson("{\"d\":%s,\"text\":\"%s\"}".formatted(d, d));
            }
            twins.flush();
            dataset.flush();
            // in the log alone
            dataset.upsertJson(json(RECORDS));
        }
    }

    private static String json(int n) {
        return "{\"d\":%s,\"n\":%d,\"v\":%s,\"w\":%s,\"p\":[%s,%d],\"r\":[%s,0.0,1,%s],\"open\":-0.0}"
                .formatted(
                        text(d(n)),
                        n,
                        text(v(n)),
                        text(w(n)),
                        n % 2 == 0 ? "-0.0" : "0.0",
                        n % 3,
                        n % 3 == 0 ? "-0.0" : "0.0",
                        n % 5 == 0 ? "0.0" : "7");
    }

    private static String text(double number) {
        return Double.isNaN(number) ? "\"NaN\"" : String.format(Locale.ROOT, "%s", number);
    }

    private static double d(int n) {
        return new double[] {-0.0, 0.0, 1.5}[n % 3];
    }

    private static double v(int n) {
        return new double[] {-0.0, 0.0, -1.5, Double.NaN, 2}[n % 5];
    }

    private static double w(int n) {
        return n % 4 < 2 ? n % 4 == 0 ? -0.0 : 0.0 : 3;
    }

    private static void check(Path directory, KeyForm form) {
        try (Store store = Store.openExisting(directory, options())) {
            Dataset dataset = store.dataset("Zeros");
            assertThat(dataset.keyForm()).isEqualTo(form);
            assertThat(dataset.indexes()).allMatch(index -> index.keyForm() == form);
            answers(dataset, RECORDS + 1);
            GoldenStoreTest.upgrade(store, true);
            answers(dataset, RECORDS + 1);
            twins(store, form);
        }
        try (Store store = Store.openExisting(directory, options())) {
            Dataset dataset = store.dataset("Zeros");
            answers(dataset, RECORDS + 1);
            writes(dataset);
            dataset.flush();
            dataset.mergeAll();
            assertThat(store.verify().errors()).isEmpty();
            // what is built now has keys of the current form, on a primary of the older one
            dataset.createIndex(IndexSpec.btree("by_v_new", "v"));
            dataset.disableIndex("by_v");
            dataset.enableIndex("by_v");
            assertThat(dataset.keyForm()).isEqualTo(form);
            assertThat(dataset.indexes().stream()
                            .filter(index -> index.name().startsWith("by_v"))
                            .map(index -> index.keyForm()))
                    .containsOnly(KeyForm.CURRENT);
            for (String index : new String[] {"by_v", "by_v_new", ""}) {
                assertThat(count(dataset, index, query -> query.where(eq("v", 0.0))))
                        .as(index)
                        .isEqualTo(zeros(v -> v > 3));
            }
        }
        try (Store store = Store.openExisting(directory, options())) {
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    private static long zeros(IntPredicate and) {
        return matching(RECORDS + 1, n -> v(n) == 0 && and.test(n));
    }

    private static long matching(int records, IntPredicate predicate) {
        long count = 0;
        for (int n = 0; n < records; n++) {
            count += predicate.test(n) ? 1 : 0;
        }
        return count;
    }

    private static void answers(Dataset dataset, int records) {
        for (double zero : new double[] {0.0, -0.0}) {
            all(dataset, records, n -> v(n) == 0, query -> query.where(eq("v", zero)));
            all(dataset, records, n -> v(n) >= 0 && v(n) <= 1, q -> q.where(range("v", zero, 1.0)));
            all(
                    dataset,
                    records,
                    n -> v(n) <= 0 && v(n) >= -2,
                    q -> q.where(range("v", -2.0, zero)));
            all(dataset, records, n -> !(v(n) < 0), query -> query.where(range("v", zero, null)));
            all(dataset, records, n -> d(n) == 0, query -> query.where(eq("d", zero)));
            all(
                    dataset,
                    records,
                    n -> d(n) == 0 && v(n) == 0,
                    query -> query.where(eq("d", zero)).where(eq("v", zero)));
            all(
                    dataset,
                    records,
                    n -> w(n) == 0 && v(n) == 2,
                    query -> query.where(eq("w", (float) zero)).where(eq("v", 2.0)));
            all(
                    dataset,
                    records,
                    n -> n % 3 == 1,
                    query -> query.where(eq("p", new Point(zero, 1))));
            all(
                    dataset,
                    records,
                    n -> n % 5 == 0,
                    query -> query.where(eq("r", new Rectangle(zero, 0, 1, zero))));
            all(
                    dataset,
                    records,
                    n -> n == 3,
                    query -> query.where(eq("d", zero)).where(eq("n", 3L)));
            for (int n = 0; n < records; n++) {
                double key = d(n) == 0 ? zero : d(n);
                Map<String, ?> found = Objects.requireNonNull(dataset.get(key, (long) n), "" + n);
                assertThat(found.toString()).doesNotContain("-0.0");
            }
        }
        all(dataset, records, n -> Double.isNaN(v(n)), query -> query.where(eq("v", Double.NaN)));
        groups(dataset, records);
        order(dataset, records);
    }

    /** By a scan, by each index, with the records and from the entries alone. */
    private static void all(
            Dataset dataset, int records, IntPredicate wanted, UnaryOperator<Query> predicates) {
        long expected = matching(records, wanted);
        assertThat(expected).isPositive();
        assertThat(count(dataset, "", predicates)).as("by scan").isEqualTo(expected);
        assertThat(rows(predicates.apply(Query.on(dataset)))).hasSize((int) expected);
        for (String index : INDEXES) {
            try {
                assertThat(count(dataset, index, predicates)).as(index).isEqualTo(expected);
            } catch (io.turbidite.core.InvalidRequestException other) {
                assertThat(other).hasMessageContaining("no equality or range on its first field");
            }
        }
    }

    private static long count(Dataset dataset, String index, UnaryOperator<Query> predicates) {
        Query query = predicates.apply(Query.on(dataset)).count();
        try (QueryResult result =
                (index.isEmpty() ? query.usingScan() : query.usingIndex(index)).run()) {
            return result.count();
        }
    }

    private static List<Map<String, ?>> rows(Query query) {
        List<Map<String, ?>> rows = new ArrayList<>();
        try (QueryResult result = query.run()) {
            result.forEach(rows::add);
        }
        return rows;
    }

    private static void groups(Dataset dataset, int records) {
        Map<Object, Object> expected = new TreeMap<>();
        for (int n = 0; n < records; n++) {
            expected.merge(v(n) + 0.0, 1L, (a, b) -> (Long) a + (Long) b);
        }
        for (String index : new String[] {"", "by_v", "by_wv"}) {
            Query query = Query.on(dataset).groupBy("v");
            Map<Object, Object> found = new TreeMap<>();
            List<Map<String, ?>> rows =
                    rows(index.isEmpty() ? query.usingScan() : query.usingIndex(index));
            rows.forEach(row -> found.put(row.get("v"), row.get("count")));
            assertThat(found).as(index).isEqualTo(expected);
            assertThat(rows).hasSize(expected.size());
        }
    }

    private static void order(Dataset dataset, int records) {
        for (String by : new String[] {"d", "v"}) {
            List<Double> values = new ArrayList<>();
            List<Long> numbers = new ArrayList<>();
            for (Map<String, ?> row : rows(Query.on(dataset).orderBy(by).orderBy("n"))) {
                values.add((Double) row.get(by));
                numbers.add((Long) row.get("n"));
            }
            assertThat(values).hasSize(records).isSorted();
            for (int i = 1; i < records; i++) {
                if (values.get(i).equals(values.get(i - 1))) {
                    assertThat(numbers.get(i)).isGreaterThan(numbers.get(i - 1));
                }
            }
        }
    }

    /** Writes meet what is there, whichever zero it was put with. */
    private static void writes(Dataset dataset) {
        // put with -0.0
        dataset.upsert(Map.of("d", 0.0, "n", 0L, "v", 5.0));
        assertThat(count(dataset, "", query -> query.where(eq("n", 0L)))).isEqualTo(1);
        assertThat(count(dataset, "by_v", query -> query.where(eq("v", 5.0)))).isEqualTo(1);
        assertThat(Objects.requireNonNull(dataset.get(-0.0, 0L)).get("v")).isEqualTo(5.0);
        dataset.delete(0.0, 0L);
        assertThat(dataset.get(-0.0, 0L)).isNull();
        // put with 0.0
        assertThatThrownBy(() -> dataset.insert(Map.of("d", -0.0, "n", 1L)))
                .isInstanceOf(DuplicateKeyException.class);
        dataset.delete(-0.0, 1L);
        assertThat(count(dataset, "", query -> query.where(eq("n", 1L)))).isZero();
        assertThat(count(dataset, "by_v", query -> query.where(eq("v", 0.0))))
                .isEqualTo(zeros(n -> n > 1));
        // another version of a record with an entry of -0.0: the anti-matter meets it
        dataset.upsertJson("{\"d\":-0.0,\"n\":3,\"v\":9}");
        dataset.delete(1.5, 2L);
        for (String index : new String[] {"", "by_v"}) {
            assertThat(count(dataset, index, query -> query.where(eq("v", 0.0))))
                    .isEqualTo(zeros(n -> n > 1));
            assertThat(count(dataset, index, query -> query.where(eq("v", 9.0))))
                    .isEqualTo(1);
        }
    }

    /** Two records that an older release kept apart are told, not merged. */
    private static void twins(Store store, KeyForm form) {
        Dataset twins = store.dataset("Twins");
        boolean apart = form == KeyForm.SIGNED_ZEROS;
        assertThat(count(twins, "", query -> query)).isEqualTo(apart ? 3 : 2);
        assertThat(count(twins, "", query -> query.where(eq("d", 0.0)))).isEqualTo(apart ? 2 : 1);
        if (apart) {
            assertThat(store.verify().errors())
                    .singleElement()
                    .asString()
                    .contains("two records have one key by value, [-0.0] and [0.0]");
        }
        twins.delete(0.0);
        assertThat(count(twins, "", query -> query)).isEqualTo(1);
        assertThat(store.verify().errors()).isEmpty();
    }
}
