package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.log.Durability;
import io.turbidite.core.type.Point;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.catalog.StoreCatalog;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Sql;
import io.turbidite.ops.sql.SqlException;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/** Statements are answered by an R-tree and by an inverted index, as they are without. */
class SqlIndexesTest {
    private static final List<String> WORDS =
            List.of("amber", "basalt", "chalk", "dolomite", "emery", "flint", "gneiss", "halite");

    @TempDir
    private Path directory = Path.of("");

    private @Nullable Store store;

    private Store store() {
        return Objects.requireNonNull(store);
    }

    /** T has indexes; Plain has the same records and none. */
    @BeforeEach
    void fill() {
        Store opened =
                Store.open(directory, StoreOptions.defaults().withDurability(Durability.BUFFERED));
        store = opened;
        Dataset indexed = opened.createDataset(spec("T")
                .index(IndexSpec.rtree("by_place", "place"))
                .index(IndexSpec.inverted("by_text", "text")));
        Dataset plain = opened.createDataset(spec("Plain"));
        SplittableRandom random = new SplittableRandom(17);
        for (int i = 0; i < 4_000; i++) {
            Map<String, @Nullable Object> record = new HashMap<>();
            record.put("id", (long) random.nextInt(3_000));
            record.put(
                    "place",
                    random.nextInt(20) == 0
                            ? null
                            : new Point(random.nextDouble() * 100 - 50, random.nextDouble() * 100));
            record.put("text", word(random) + " " + word(random) + " w" + random.nextInt(300));
            indexed.upsert(record);
            plain.upsert(record);
            if (i == 2_000) {
                indexed.flush();
            }
        }
    }

    @AfterEach
    void close() {
        store().close();
    }

    private static DatasetSpec spec(String name) {
        return DatasetSpec.named(name)
                .field("id", "int64")
                .field("place", "point?")
                .field("text", "string")
                .primaryKey("id")
                .partitions(2);
    }

    private static String word(SplittableRandom random) {
        return WORDS.get(random.nextInt(WORDS.size()));
    }

    private List<Map<String, @Nullable Object>> rows(String text) {
        try (QueryResult rows =
                Sql.on(StoreCatalog.of(store(), false)).statement(text).run()) {
            return rows.toList();
        }
    }

    private String explained(String text) {
        return Sql.on(StoreCatalog.of(store(), false))
                .statement("explain " + text)
                .explanation(RunOptions.defaults())
                .access();
    }

    private void assertBy(String index, String text) {
        assertThat(explained(text.formatted("T"))).as(text).contains(index);
        assertThat(explained(text.formatted("Plain"))).as(text).contains("primary");
        assertThat(rows(text.formatted("T")))
                .as(text)
                .isNotEmpty()
                .isEqualTo(rows(text.formatted("Plain")));
    }

    @Test
    void conditions_on_places_are_answered_by_an_rtree() {
        assertBy(
                "by_place",
                "select id, place from %s where st_within(place, st_makeenvelope(-10, 20, 3, 31))"
                        + " order by id");
        assertBy(
                "by_place",
                "select id from %s where st_distance(place, st_point(7, 50)) <= 6 order by id");
        assertBy(
                "by_place",
                "select count(*) as n, min(text) as least from %s"
                        + " where st_intersects(place, st_makeenvelope(0, 0, 9, 9)) and id > 100");
    }

    @Test
    void conditions_on_words_are_answered_by_an_inverted_index() {
        assertBy("by_text", "select id, text from %s where contains(text, 'w17') order by id");
        assertBy(
                "by_text",
                "select count(*) as n from %s where contains(text, 'w18') or contains(text, 'w19 ')");
        assertBy(
                "by_text",
                "select a.id, b.id as other from %1$s a join %1$s b on a.id = b.id + 1"
                        + " where contains(a.text, 'w20') order by 1, 2");
    }

    @Test
    void points_are_grouped_by_cells() {
        String grid = "select cell(place, 20, 12.5) as c, count(*) as n from T"
                + " where st_within(place, st_makeenvelope(-45, 0, 45, 99)) group by 1";
        Map<Point, Long> expected = new HashMap<>();
        for (Map<String, @Nullable Object> row : rows("select place from T")) {
            if (row.get("place") instanceof Point p && p.x() >= -45 && p.x() <= 45 && p.y() <= 99) {
                expected.merge(
                        new Point(
                                20 * Math.floor(p.x() / 20) + 0.0,
                                12.5 * Math.floor(p.y() / 12.5) + 0.0),
                        1L,
                        Long::sum);
            }
        }
        Map<Object, Object> found = new HashMap<>();
        for (Map<String, @Nullable Object> row : rows(grid)) {
            found.put(row.get("c"), row.get("n"));
        }
        assertThat(found).hasSizeGreaterThan(30).isEqualTo(expected);
        assertThat(rows("select cell(st_point(-0.5, 0), 1, 1) as c, cell(null, 1, 1) as z"))
                .singleElement()
                .satisfies(row -> assertThat(row)
                        .containsEntry("c", new Point(-1, 0))
                        .containsEntry("z", null));
        assertThatThrownBy(() -> rows("select cell(place, 0, 1) from T where place is not null"))
                .hasMessageContaining("finite and above 0");
        assertThatThrownBy(() -> rows("select cell(id, 1, 1) from T"))
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("CELL");
        assertThatThrownBy(() -> rows("select cell(st_point(1e300, 0), 1e-9, 1) from T"))
                .hasMessageContaining("too small to count");
    }
}
