package io.turbidite.bench.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.bench.sql.RandomStatements.Asked;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * SQL answers as DuckDB does, over the same rows. {@code -Dduckdb.seed=N} asks other
 * statements.
 */
class DuckDbTest {
    private static final int STATEMENTS = Tier.count(50, 500, 5_000);
    private static final long SEED = Long.getLong("duckdb.seed", 17);

    private static final List<String> TABLES = List.of("""
            create table Planes as
            select 'N' || i as tailnum,
                case when i % 7 = 0 then null else 1990 + i % 25 end as made,
                50 + i % 300 as seats,
                case i % 4 when 0 then 'Boeing' when 1 then 'Airbus' when 2 then 'Embraer' end as maker
            from range(90) as r(i)""", """
            create table Flights as
            select i as id,
                case i % 5 when 0 then 'AA' when 1 then 'UA' when 2 then 'DL' else 'B6' end as carrier,
                case i % 3 when 0 then 'JFK' when 1 then 'LGA' else 'EWR' end as origin,
                case hash(i) % 4 when 0 then 'LAX' when 1 then 'SFO' when 2 then 'FLL' else 'ÖRÜ' end as dest,
                case when i % 11 = 0 then null else 'N' || hash(i * 3) % 120 end as tailnum,
                case when i % 13 = 0 then null else (hash(i * 5) % 200)::int - 30 end as delay,
                case when i % 17 = 0 then null else (hash(i * 7) % 400)::int end as air,
                (hash(i * 11) % 2500)::int as distance,
                date '2013-01-01' + (hash(i * 13) % 365)::int as day,
                case i % 4 when 0 then true when 1 then false when 2 then i % 8 = 2 end as late,
                case when i % 19 = 0 then null else (hash(i * 17) % 1000)::double / 8 end as ratio
            from range(2000) as r(i)""");

    private static final List<DatasetSpec> SPECS = List.of(
            DatasetSpec.named("Planes")
                    .field("tailnum", "string")
                    .field("made", "int32?")
                    .field("seats", "int32")
                    .field("maker", "string?")
                    .primaryKey("tailnum"),
            DatasetSpec.named("Flights")
                    .field("id", "int64")
                    .field("carrier", "string")
                    .field("origin", "string")
                    .field("dest", "string")
                    .field("tailnum", "string?")
                    .field("delay", "int32?")
                    .field("air", "int32?")
                    .field("distance", "int32")
                    .field("day", "date")
                    .field("late", "bool?")
                    .field("ratio", "double?")
                    .primaryKey("id")
                    .index(IndexSpec.btree("by_tail", "tailnum"))
                    .index(IndexSpec.btree("by_delay", "delay")));

    @Test
    void random_statements_have_the_same_answers(@TempDir Path directory) throws Exception {
        try (TwoDatabases both = TwoDatabases.of(directory.resolve("store"), TABLES, SPECS)) {
            assertSame(both, new RandomStatements(SEED)::next, STATEMENTS / 2);
        }
    }

    /** Tweets with nested fields, arrays, decimals, times; windows, subqueries, joins of three. */
    @Test
    void nested_records_and_windows_have_the_same_answers(@TempDir Path directory)
            throws Exception {
        try (TwoDatabases both = TwoDatabases.of(
                directory.resolve("store"), TweetTables.TABLES, TweetTables.SPECS)) {
            assertSame(both, new TweetStatements(SEED)::next, STATEMENTS / 2);
        }
    }

    private static void assertSame(TwoDatabases both, Supplier<Asked> statements, int count)
            throws SQLException {
        List<String> wrong = new ArrayList<>();
        int rows = 0;
        int kindsOfNothing = 0;
        for (int i = 0; i < count; i++) {
            Asked asked = statements.get();
            List<List<@Nullable Object>> theirs;
            try {
                theirs = both.theirs(asked.text());
            } catch (SQLException e) {
                throw new SQLException(asked.text(), e);
            }
            String difference;
            try {
                difference =
                        TwoDatabases.difference(both.ours(asked.text()), theirs, asked.isOrdered());
            } catch (SQLException e) {
                difference = e.toString();
            }
            if (difference != null) {
                wrong.add("%s%n  %s".formatted(asked.text(), difference));
            }
            rows += theirs.size();
            kindsOfNothing += theirs.isEmpty() ? 1 : 0;
        }
        assertThat(wrong).as("seed %d", SEED).isEmpty();
        // most statements find something, or the test would say little
        assertThat(rows).isGreaterThan(count * 10);
        assertThat(kindsOfNothing).isLessThan(count * 2 / 5);
    }

    @Test
    void a_difference_is_told() {
        List<List<@Nullable Object>> ours = List.of(List.of("a", 1.0), List.of("b", 2.0));
        assertThat(TwoDatabases.difference(ours, List.of(ours.get(1), ours.get(0)), false))
                .isNull();
        assertThat(TwoDatabases.difference(ours, List.of(ours.get(1), ours.get(0)), true))
                .contains("row 0 is [a, 1.0], [b, 2.0] in DuckDB");
        assertThat(TwoDatabases.difference(
                        ours, List.of(ours.get(0), List.of("b", 2.000_000_1)), false))
                .contains("row 1");
        assertThat(TwoDatabases.difference(
                        ours, List.of(ours.get(0), List.of("b", 2 + 1e-12)), false))
                .isNull();
        assertThat(TwoDatabases.difference(ours, List.of(ours.get(0)), false))
                .isEqualTo("2 rows, 1 in DuckDB");
    }
}
