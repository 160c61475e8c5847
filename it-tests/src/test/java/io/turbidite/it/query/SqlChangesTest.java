package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.type.Point;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.catalog.StoreCatalog;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Sql;
import io.turbidite.ops.sql.SqlStatement;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CancellationException;

/** Statements that change: their values, and how they end before their end. */
@Timeout(120)
class SqlChangesTest {
    private static final long SEED = Seeds.of("SqlChangesTest");
    private static final RunOptions OPTIONS = RunOptions.defaults();

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final SimTasks tasks = new SimTasks(SEED, new SimClock());
    private final Store store = Store.open(
            disk,
            tasks,
            new SimClock(),
            StoreOptions.defaults()
                    .withWriteMemoryBytes(4 << 20)
                    .withCacheBytes(4 << 20)
                    .withDurability(Durability.SYNC));

    @AfterEach
    void close() {
        store.close();
    }

    private Sql sql() {
        return Sql.on(StoreCatalog.of(store, false));
    }

    private long execute(String statement, @Nullable Object... values) {
        return sql().statement(statement).execute(OPTIONS, values);
    }

    private static long count(Dataset dataset, String condition) {
        try (var rows = Sql.on(dataset)
                .statement("select count(*) as n from %s where %s"
                        .formatted(dataset.name(), condition))
                .run()) {
            return (Long) Objects.requireNonNull(rows.toList().getFirst().get("n"));
        }
    }

    @Test
    void decimals_of_parameters_keep_all_their_digits() {
        execute("create dataset Prices (id int64, price decimal?, primary key (id))");
        List<BigDecimal> prices = List.of(
                new BigDecimal("1.50"),
                new BigDecimal("0.12345678901234567890123"),
                new BigDecimal("12345678901234567890123"),
                new BigDecimal("1E-25"));
        Dataset dataset = store.dataset("Prices");
        for (BigDecimal price : prices) {
            long id = prices.indexOf(price);
            execute("insert into Prices values (?, ?)", id, price);
            assertThat(dataset.get(id)).containsEntry("price", price);
            execute("update Prices set price = null where id = ?", id);
            execute("update Prices set price = ? where price is null", price);
            assertThat(dataset.get(id)).containsEntry("price", price);
        }
        for (BigDecimal price : prices) {
            for (String condition : List.of("price = ?", "coalesce(price, 1.5) = ?")) {
                try (var rows = Sql.on(dataset)
                        .statement("select id from Prices where " + condition)
                        .run(OPTIONS, price)) {
                    assertThat(rows.toList())
                            .containsExactly(Map.of("id", (long) prices.indexOf(price)));
                }
            }
        }
    }

    @Test
    void a_field_that_is_set_may_have_its_table_in_front() {
        execute("create dataset T (id int64, n int32?, u {lang: string?}?, primary key (id))");
        execute("insert into T (id, n) values (1, 2)");
        assertThat(execute("update T as t set t.u.lang = 'en', t.n = t.n + 1 where t.id = 1"))
                .isEqualTo(1);
        assertThat(execute("update T set T.u.lang = upper(T.u.lang)")).isEqualTo(1);
        assertThat(store.dataset("T").get(1L))
                .containsEntry("u", Map.of("lang", "EN"))
                .containsEntry("n", 3);
        assertThatThrownBy(() -> execute("update T as t set x.u.lang = 'en'"))
                .hasMessageContaining("there is no column 'x.u.lang'");
        assertThatThrownBy(() -> execute("update T as t set t.id = 2"))
                .hasMessageContaining("primary key");
    }

    @Test
    void values_of_parameters_are_those_of_the_fields() {
        execute("""
                create dataset Kinds (id int64, b bool?, i8 int8?, i16 int16?, i32 int32?, f float?,
                  d double?, m decimal?, s string?, u uuid?, day date?, at time?, seen datetime?,
                  took duration?, p point?, bytes bytes?, tags [string]?, user {lang: string?}?,
                  primary key (id))""");
        UUID uuid = UUID.fromString("123e4567-e89b-12d3-a456-426614174000");
        SqlStatement insert = sql().statement(
                        "insert into Kinds values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        assertThat(insert.parameters()).hasSize(18).startsWith("BIGINT", "BOOLEAN", "BIGINT");
        insert.execute(
                OPTIONS,
                1L,
                true,
                -128,
                300,
                70_000,
                0.1,
                0.25,
                new BigDecimal("12.50"),
                "text",
                uuid,
                LocalDate.of(2020, 2, 29),
                LocalTime.of(10, 15, 30),
                Instant.parse("2020-01-01T10:00:00Z"),
                "PT1H30M",
                "[1, 2]",
                "AQI=",
                "[\"a\", \"b\"]",
                "{\"lang\": \"en\", \"more\": 1}");
        Dataset kinds = store.dataset("Kinds");
        Map<String, @Nullable Object> found = kinds.get(1L);
        assertThat(found)
                .containsEntry("b", true)
                .containsEntry("i8", (byte) -128)
                .containsEntry("i16", (short) 300)
                .containsEntry("i32", 70_000)
                .containsEntry("f", 0.1f)
                .containsEntry("d", 0.25)
                .containsEntry("s", "text")
                .containsEntry("u", uuid)
                .containsEntry("day", LocalDate.of(2020, 2, 29))
                .containsEntry("at", LocalTime.of(10, 15, 30))
                .containsEntry("seen", Instant.parse("2020-01-01T10:00:00Z"))
                .containsEntry("p", new Point(1, 2))
                .containsEntry("tags", List.of("a", "b"))
                .containsEntry("user", Map.of("lang", "en", "more", 1L));
        assertThat((BigDecimal) Objects.requireNonNull(found).get("m"))
                .isEqualByComparingTo("12.50");
        // all of them null
        @Nullable Object[] nulls = new @Nullable Object[18];
        nulls[0] = 2L;
        insert.execute(OPTIONS, nulls);
        assertThat(kinds.get(2L)).containsEntry("id", 2L).containsEntry("tags", null);
        assertThat(execute(
                        "update Kinds set i8 = ?, tags = ?, s = ? where id = ?", 5, null, "x", 1L))
                .isEqualTo(1);
        assertThat(kinds.get(1L))
                .containsEntry("i8", (byte) 5)
                .containsEntry("tags", null)
                .containsEntry("s", "x")
                .containsEntry("user", Map.of("lang", "en", "more", 1L));
        assertThatThrownBy(() -> execute("update Kinds set i8 = ?", 500))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("500 is out of range for type int8");
        // whole records from one dataset into another
        execute(
                "create dataset More (id int64, tags [string]?, user {lang: string?}?, p point?, primary key (id))");
        assertThat(execute("insert into More select id, tags, \"user\", p from Kinds"))
                .isEqualTo(2);
        assertThat(store.dataset("More").get(2L)).containsEntry("id", 2L);
    }

    private Dataset numbers(int records) {
        execute("create dataset N (id int64, a int64, text string, primary key (id))");
        Dataset numbers = store.dataset("N");
        for (long id = 0; id < records; id++) {
            numbers.upsert(Map.of("id", id, "a", 0L, "text", "x".repeat(100)));
        }
        return numbers;
    }

    @Test
    void a_statement_that_fails_tells_how_much_it_has_done() {
        Dataset numbers = numbers(2_500);
        execute("create dataset Copy (id int64, a int64, primary key (id))");
        execute("insert into Copy values (2200, 7)");
        SqlStatement insert = sql().statement("insert into Copy select id, a from N order by id");
        assertThatThrownBy(insert::execute)
                .isInstanceOf(DuplicateKeyException.class)
                .hasMessageContaining("[2200]");
        assertThat(insert.changedCount()).isEqualTo(2_048);
        assertThat(count(store.dataset("Copy"), "a = 0")).isEqualTo(2_048);
        execute("update N set a = 9223372036854775807 where id = 1500");
        SqlStatement add = sql().statement("update N set a = a + 1");
        assertThatThrownBy(add::execute).isInstanceOf(InvalidRequestException.class);
        assertThat(add.changedCount()).isEqualTo(1_024);
        assertThat(count(numbers, "a = 1")).isEqualTo(1_024);
        assertThat(add.changedCount()).isEqualTo(1_024);
    }

    @Test
    void a_statement_that_is_stopped_keeps_its_batches() {
        Dataset numbers = numbers(20_000);
        SqlStatement delete = sql().statement("delete from N where a = 0");
        assertThatThrownBy(
                        () -> delete.execute(OPTIONS.withStop(() -> delete.changedCount() > 2_000)))
                .isInstanceOf(CancellationException.class);
        assertThat(delete.changedCount()).isBetween(1L, 19_999L);
        assertThat(count(numbers, "a = 0")).isEqualTo(20_000 - delete.changedCount());
    }

    @Test
    void a_disk_that_fails_ends_the_statement_and_batches_stay() {
        Dataset numbers = numbers(3_000);
        SqlStatement update = sql().statement("update N set text = upper(text), a = 1");
        disk.fault(FaultScript.with(Fault.ENOSPC)
                .on(OperationKind.WRITE, OperationKind.SYNC)
                .call(5)
                .forever());
        assertThatThrownBy(update::execute).isInstanceOf(StorageException.class);
        assertThat(update.changedCount()).isEqualTo(2_048);
        assertThat(count(numbers, "a = 1")).isGreaterThanOrEqualTo(2_048);
        assertThatThrownBy(() -> execute("delete from N")).isInstanceOf(StorageException.class);
    }

    @Test
    void explain_changes_nothing() {
        Dataset numbers = numbers(10);
        SqlStatement explain = sql().statement("explain analyze delete from N where id < 5");
        assertThat(explain.explains()).isTrue();
        assertThat(explain.explanation(OPTIONS).toString()).contains("N");
        assertThat(count(numbers, "a = 0")).isEqualTo(10);
        assertThatThrownBy(explain::execute).isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void what_is_prepared_survives_its_index_and_not_its_dataset() {
        Dataset numbers = numbers(10);
        SqlStatement indexes = sql().statement("show indexes on N");
        assertThat(indexes.run().toList()).isEmpty();
        execute("create index by_a on N (a)");
        assertThat(indexes.run().toList()).hasSize(1);
        SqlStatement update = sql().statement("update N set a = a + 1 where a = ?");
        assertThat(update.execute(OPTIONS, 0L)).isEqualTo(10);
        execute("drop index by_a on N");
        assertThat(update.execute(OPTIONS, 1L)).isEqualTo(10);
        assertThat(numbers.get(3L)).containsEntry("a", 2L);
        execute("drop dataset N");
        assertThatThrownBy(() -> update.execute(OPTIONS, 1L))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("dropped");
        assertThatThrownBy(() -> update.run(OPTIONS, 1L))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("gives no rows");
    }

    @Test
    void a_store_that_is_read_refuses_changes() {
        numbers(1);
        store.close();
        try (Store reading = Store.openForReading(
                disk,
                new SimTasks(SEED, new SimClock()),
                new SimClock(),
                StoreOptions.defaults().withCacheBytes(4 << 20))) {
            Sql sql = Sql.on(StoreCatalog.of(reading, true));
            for (String statement : List.of(
                    "insert into N values (2, 1, 'x')",
                    "update N set a = 1",
                    "delete from N",
                    "create dataset M (id int64, primary key (id))",
                    "drop dataset N",
                    "create index by_a on N (a)")) {
                assertThatThrownBy(() -> sql.statement(statement).execute())
                        .as(statement)
                        .isInstanceOfAny(InvalidRequestException.class, StorageException.class)
                        .hasMessageContaining("read");
            }
            assertThat(sql.statement("show datasets").run().toList()).hasSize(1);
        }
    }
}
