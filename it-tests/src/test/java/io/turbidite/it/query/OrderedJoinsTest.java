package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.ops.Explanation;
import io.turbidite.ops.Join;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.Relation;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Sql;
import io.turbidite.ops.sql.SqlStatement;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;

/** Joins of three and more datasets, in the order that the planner takes and in the written one. */
@SuppressWarnings("NullAway.Init") // JUnit sets the directory and calls fill() first
class OrderedJoinsTest {
    private static final int ORDERS = 6_000;
    private static final int CUSTOMERS = 600;
    private static final int CITIES = 40;
    private static final int ITEMS = 9_000;

    @TempDir
    Path directory;

    private Store store;
    private Dataset cities;
    private Dataset customers;
    private Dataset orders;
    private Dataset items;

    @BeforeEach
    void fill() {
        store = Store.open(directory, StoreOptions.defaults());
        cities = store.createDataset(DatasetSpec.named("Cities")
                .field("city", "int32")
                .field("region", "string?")
                .primaryKey("city"));
        customers = store.createDataset(DatasetSpec.named("Customers")
                .field("customer", "int32")
                .field("city", "int64?")
                .field("name", "string?")
                .primaryKey("customer"));
        orders = store.createDataset(DatasetSpec.named("Orders")
                .field("id", "int64")
                .field("customer", "int32?")
                .field("state", "string?")
                .field("price", "int32?")
                .primaryKey("id"));
        items = store.createDataset(DatasetSpec.named("Items")
                .field("item", "int64")
                .field("id", "int64?")
                .field("kind", "int32?")
                .field("note", "string")
                .primaryKey("item"));
        SplittableRandom random = new SplittableRandom(7);
        WriteBatch batch = store.newBatch();
        RecordWriter ofCities = cities.newRecordWriter();
        RecordWriter ofCustomers = customers.newRecordWriter();
        RecordWriter ofOrders = orders.newRecordWriter();
        RecordWriter ofItems = items.newRecordWriter();
        for (int i = 0; i < CITIES; i++) {
            batch.upsert(
                    cities,
                    ofCities.write(row("city", i, "region", i % 7 == 0 ? null : "r" + i % 5)));
        }
        for (int i = 0; i < CUSTOMERS; i++) {
            batch.upsert(
                    customers,
                    ofCustomers.write(row(
                            "customer",
                            i,
                            "city",
                            random.nextInt(20) == 0 ? null : (long) random.nextInt(CITIES + 5),
                            "name",
                            random.nextInt(20) == 0 ? null : "n" + random.nextInt(300))));
        }
        for (int i = 0; i < ORDERS; i++) {
            batch.upsert(
                    orders,
                    ofOrders.write(row(
                            "id",
                            (long) i,
                            "customer",
                            random.nextInt(20) == 0 ? null : random.nextInt(CUSTOMERS),
                            "state",
                            random.nextInt(50) == 0 ? "open" : "done",
                            "price",
                            random.nextInt(20) == 0 ? null : random.nextInt(1_000))));
        }
        for (int i = 0; i < ITEMS; i++) {
            batch.upsert(
                    items,
                    ofItems.write(row(
                            "item",
                            (long) i,
                            "id",
                            random.nextInt(20) == 0 ? null : (long) random.nextInt(ORDERS),
                            "kind",
                            random.nextInt(20) == 0 ? null : random.nextInt(40),
                            "note",
                            "x".repeat(random.nextInt(60)))));
        }
        store.write(batch);
        List.of(cities, customers, orders, items).forEach(Dataset::flush);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static Map<String, @Nullable Object> row(@Nullable Object... fields) {
        Map<String, @Nullable Object> row = new HashMap<>();
        for (int i = 0; i < fields.length; i += 2) {
            row.put(String.valueOf(fields[i]), fields[i + 1]);
        }
        return row;
    }

    private static List<String> rows(Relation relation) {
        List<String> rows = new ArrayList<>();
        try (QueryResult result = relation.run()) {
            result.forEach(row -> rows.add(row.toString()));
        }
        rows.sort(null);
        return rows;
    }

    private static boolean isReordered(Explanation explanation) {
        return explanation.considered().stream()
                .anyMatch(choice -> choice.access().startsWith("join order") && choice.chosen());
    }

    /** Joins whose options differ are not put into another order. */
    private static Join as(boolean isWritten, Join join, int number) {
        return isWritten
                ? join.with(RunOptions.builder()
                        .memoryBytesMax((64L << 20) + number)
                        .build())
                : join;
    }

    private Relation chain(boolean isWritten, String state, String region) {
        Join ofItems = as(
                isWritten,
                Join.inner(
                                Query.on(items).select("item", "id", "kind"),
                                Query.on(orders).where(state))
                        .on("id"),
                1);
        Join ofCustomers =
                as(isWritten, Join.inner(ofItems, Query.on(customers)).on("customer"), 2);
        return as(
                isWritten,
                Join.inner(ofCustomers, Query.on(cities).where(region)).on("city"),
                3);
    }

    @Test
    void an_order_is_explained_beside_the_written_one() {
        Relation chain = chain(false, "state = 'open'", "region = 'r1'");
        Explanation explanation = chain.explain();
        assertThat(explanation.considered().get(0).access())
                .startsWith("join order ")
                .contains("Items", "Orders", "Customers", "Cities");
        assertThat(explanation.considered().get(1).access())
                .isEqualTo("as written (((Items, Orders), Customers), Cities)");
        assertThat(explanation.considered().get(0).cost())
                .isLessThan(explanation.considered().get(1).cost() * 0.8);
        assertThat(isReordered(explanation)).isTrue();
        // the joins below have no order of their own
        assertThat(explanation.considered())
                .filteredOn(way -> way.access().startsWith("as written"))
                .hasSize(1);
        // the largest one passes by last, as the others leave few of it
        assertThat(explanation.operators().getFirst().detail())
                .isEqualTo("inner by Items.id = Orders.id");
        assertThat(rows(chain))
                .isNotEmpty()
                .isEqualTo(rows(chain(true, "state = 'open'", "region = 'r1'")));
        try (QueryResult result = chain.run()) {
            assertThat(result.rowType()).isEqualTo(chain.type());
        }
    }

    @Test
    void estimates_of_joins_by_fields_without_key_are_near() {
        Relation joined = chain(false, "id >= 0", "city >= 0");
        double expected =
                joined.explain().operators().getFirst().estimatedRows().orElseThrow();
        double there = rows(joined).size();
        assertThat(Math.max(expected / there, there / expected)).isLessThan(2.5);
    }

    @Test
    void statements_answer_the_same_with_a_hint_of_each_order() {
        long seed = Seeds.of("OrderedJoinsTest");
        SplittableRandom random = new SplittableRandom(seed);
        int reordered = 0;
        for (int round = 0; round < Tier.count(4, 10, 1_000); round++) {
            String as = Seeds.replay("OrderedJoinsTest", seed) + " round " + round;
            List<String> tables =
                    new ArrayList<>(List.of("Items i", "Orders o", "Customers c", "Cities t"));
            if (random.nextBoolean()) {
                tables.remove("Cities t");
            }
            List<String> on = new ArrayList<>(List.of("i.id = o.id", "o.customer = c.customer"));
            if (tables.size() == 4) {
                on.add("c.city = t.city");
                on.add(random.nextBoolean() ? "t.region = 'r2'" : "t.region is not null");
            }
            if (random.nextBoolean()) {
                on.add(one(
                        random,
                        "o.state = 'open'",
                        "i.kind < 4",
                        "c.name = 'n7'",
                        "o.price > 900"));
            }
            if (random.nextInt(3) == 0) {
                on.add(one(
                        random,
                        "i.kind * 10 < o.price",
                        "i.kind <> c.customer",
                        "o.price + i.kind > 500"));
            }
            String semi = random.nextInt(3) > 0
                    ? ""
                    : one(
                            random,
                            " and exists (select 1 from Items x where x.id = o.id and x.kind > 20)",
                            " and not exists (select 1 from Items x where x.id = o.id and x.kind > 20)",
                            " and c.customer in (select y.customer from Orders y where y.price < 100)");
            String columns = one(
                    random,
                    "i.item, o.price, c.name",
                    "count(*) as n, sum(o.price) as p, min(c.name) as a",
                    "c.customer, count(*) as n");
            String end = columns.startsWith("c.customer") ? " group by c.customer" : "";
            List<List<String>> answers = new ArrayList<>();
            for (int order = 0; order < 3; order++) {
                Collections.shuffle(tables, new Random(random.nextLong()));
                String text = "select " + columns + " from " + String.join(", ", tables) + " where "
                        + String.join(" and ", on) + semi + end;
                SqlStatement statement =
                        Sql.on(List.of(items, orders, customers, cities)).statement(text);
                reordered += isReordered(statement.relation().explain()) ? 1 : 0;
                answers.add(rows(statement.relation()));
                assertThat(answers.getLast()).as("%s: %s", as, text).isEqualTo(answers.getFirst());
            }
        }
        assertThat(reordered).isPositive();
    }

    @SafeVarargs
    private static <T> T one(SplittableRandom random, T... of) {
        return of[random.nextInt(of.length)];
    }
}
