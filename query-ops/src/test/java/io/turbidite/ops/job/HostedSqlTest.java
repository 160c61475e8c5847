package io.turbidite.ops.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Sql;
import io.turbidite.ops.sql.SqlException;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Statements whose records are on the nodes of a cluster say what they say over one store. */
@LeaksOnPurpose("the cluster of the class is there from its first test to its last")
class HostedSqlTest {
    private static final int FLIGHTS = 500;
    private static HostedCluster cluster;

    /** Graphs that were sent to the nodes, as text. */
    private static final List<String> SENT = new ArrayList<>();

    private static final List<Source> ALL =
            List.of(JobFixture.flights(FLIGHTS), JobFixture.airports());

    /** The same without a record: what is read of them comes from the nodes. */
    private static final List<Source> EMPTY =
            List.of(JobFixture.flights(0), JobFixture.airports(3, _ -> false));

    /** Nothing is asked of it. */
    private static final Catalog CATALOG = (Catalog) Proxy.newProxyInstance(
            Catalog.class.getClassLoader(), new Class<?>[] {Catalog.class}, (_, method, _) -> {
                throw new IllegalStateException(method.getName());
            });

    @BeforeAll
    static void start(@TempDir Path directory) throws IOException {
        cluster = new HostedCluster(directory, 2, FLIGHTS, RunOptions.defaults());
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    private static Sql hosted() {
        return Sql.on(EMPTY)
                .hostedBy(
                        (graph, options) -> {
                            SENT.add(graph.toJson());
                            return cluster.controller.run(graph, options);
                        },
                        3);
    }

    private static List<String> rows(Sql sql, String text) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try (QueryResult rows = sql.statement(text).run()) {
            rows.forEachJson(all);
        }
        List<String> lines =
                new ArrayList<>(all.toString(StandardCharsets.UTF_8).lines().toList());
        if (!text.contains("order by")) {
            lines.sort(Comparator.naturalOrder());
        }
        return lines;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "select count(*) from Flights",
                "select count(*) from Flights where delay > 1000",
                "select count(*) as n, count(tail) as t, sum(delay) as s, min(tail) as a, max(delay) as b"
                        + " from Flights where delay > 0",
                "select dest, count(*) as n from Flights group by dest order by n desc, dest limit 5",
                "select dest, avg(delay) as mean, count(*) as d from Flights where tail is not null"
                        + " group by dest order by dest",
                "select avg(delay) as mean from Flights",
                "select dest, count(*) as n, avg(delay) as m from Flights group by dest"
                        + " order by n desc, m limit 4",
                "select dest, tail, sum(id) as s from Flights group by dest, tail having count(*) > 2"
                        + " order by dest, tail",
                "select count(distinct tail) as n from Flights",
                "select dest, count(distinct tail) as n from Flights group by dest order by dest",
                "select id, dest, delay + 1 as later from Flights where id between 10 and 20 or dest = 'D3'"
                        + " order by id desc limit 7 offset 2",
                "select upper(dest) as d, count(*) as n from Flights group by upper(dest) order by d",
                "select f.id, a.city from Flights f join Airports a on a.code = f.dest where f.delay > 70"
                        + " order by f.id",
                "select a.city, count(*) as n, max(f.delay) as worst from Flights f left join Airports a"
                        + " on a.code = f.dest group by a.city order by a.city",
                "select dest from Flights where dest not in (select code from Airports) group by dest",
                "select dest, id, row_number() over (partition by dest order by id) as r from Flights"
                        + " where id < 40 order by dest, r",
                "with late as (select dest, delay from Flights where delay > 50)"
                        + " select dest, count(*) as n from late group by dest order by dest",
                "select city as c from Airports union select dest as c from Flights",
                "select 1 as one",
            })
    void says_what_one_store_says(String text) {
        assertThat(rows(hosted(), text)).isEqualTo(rows(Sql.on(ALL), text));
    }

    @Test
    void groups_and_conditions_go_to_the_nodes() {
        SENT.clear();
        assertThat(rows(
                        hosted(),
                        "select dest, count(*) as n from Flights where delay > 9 group by dest"))
                .hasSize(13);
        assertThat(SENT).hasSize(1);
        assertThat(SENT.getFirst()).contains("\"where\"", "delay", "\"partial\"", "count");
        SENT.clear();
        assertThat(rows(hosted(), "select dest, avg(delay) as m from Flights group by dest"))
                .hasSize(13);
        assertThat(SENT.getFirst()).contains("\"hash\"", "avg(delay)").doesNotContain("partial");
    }

    @Test
    void of_more_conditions_than_a_job_may_have_the_rest_is_tested_here() {
        String many = " and (" + "delay <> -1 or ".repeat(100) + "delay <> -2)";
        String text = "select id from Flights where id < 30" + many.repeat(4) + " order by id";
        SENT.clear();
        assertThat(rows(hosted(), text)).isEqualTo(rows(Sql.on(ALL), text)).isNotEmpty();
        assertThat(SENT.getFirst()).contains("\"where\"", "delay");
    }

    @Test
    void a_store_here_is_not_changed_for_the_hosts() {
        assertThatThrownBy(() -> hosted().changing(CATALOG))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("host");
        Sql before = Sql.on(EMPTY)
                .changing(CATALOG)
                .hostedBy(
                        (graph, options) -> {
                            throw new IllegalStateException("nothing is asked");
                        },
                        3);
        assertThatThrownBy(() -> before.statement("delete from Flights"))
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("catalog");
    }

    @Test
    void what_the_host_has_is_changed_by_its_own_catalog() {
        Sql sql = Sql.on(EMPTY)
                .hostedBy(
                        (_, _) -> {
                            throw new IllegalStateException("nothing is asked");
                        },
                        3,
                        CATALOG);
        assertThatThrownBy(() -> sql.statement("drop dataset Flights").execute())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("dropDataset");
    }

    @Test
    void what_is_wrong_is_told_with_its_place() {
        Sql sql = hosted();
        assertThatThrownBy(() -> sql.statement("select dst from Flights"))
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("dst");
        assertThatThrownBy(() -> sql.statement("insert into Flights (id) values (1)"))
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("catalog");
    }
}
