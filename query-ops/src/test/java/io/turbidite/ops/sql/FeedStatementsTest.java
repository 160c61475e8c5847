package io.turbidite.ops.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.FeedCatalog;
import io.turbidite.core.catalog.FeedDescription;
import io.turbidite.core.catalog.FeedOption;
import io.turbidite.core.catalog.FeedRefusedException;
import io.turbidite.core.catalog.FeedRefusedException.Problem;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.catalog.Moment;
import io.turbidite.core.scan.Source;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Statements about feeds, as what runs the feeds gets them. */
class FeedStatementsTest {
    private final People people = new People();
    private final List<Object> done = new ArrayList<>();
    private @Nullable InvalidRequestException refusal;

    private final FeedCatalog feeds = new FeedCatalog() {
        @Override
        public List<FeedDescription> feeds() {
            return List.of(new FeedDescription(
                    "flights", "Flights", "running", Instant.EPOCH, 7, 1, 0, null));
        }

        @Override
        public boolean has(String feed) {
            return feed.equals("flights");
        }

        @Override
        public Map<String, String> definition(String feed) {
            Map<String, String> keys = new LinkedHashMap<>();
            keys.put("feed", feed);
            keys.put("source.kind", "file");
            return keys;
        }

        @Override
        public void create(String feed, List<FeedOption> options) {
            if (refusal != null) {
                throw refusal;
            }
            done.add(feed);
            done.addAll(options);
        }

        @Override
        public void drop(String feed) {
            done.add("drop " + feed);
        }

        @Override
        public void start(String feed) {
            done.add("start " + feed);
        }

        @Override
        public void stop(String feed) {
            done.add("stop " + feed);
        }
    };

    private final Catalog store = new Catalog() {
        @Override
        public List<? extends Source> datasets() {
            return List.of(people.people);
        }

        @Override
        public Moment openMoment() {
            throw new AssertionError("no statement here reads");
        }

        @Override
        public DatasetDefinition describe(String dataset) {
            throw new AssertionError("no statement here describes a dataset");
        }

        @Override
        public void createDataset(DatasetDefinition definition) {
            throw new AssertionError(definition);
        }

        @Override
        public void dropDataset(String dataset) {
            throw new AssertionError(dataset);
        }

        @Override
        public void createIndex(String dataset, IndexDefinition index) {
            throw new AssertionError(index);
        }

        @Override
        public void dropIndex(String dataset, String index) {
            throw new AssertionError(index);
        }

        @Override
        public ChangeBatch newBatch(Source dataset) {
            throw new AssertionError("no statement here changes");
        }
    };

    private void run(String text) {
        run(store.with(feeds), text);
    }

    private static void run(Catalog catalog, String text) {
        SqlStatement statement = Sql.on(catalog).statement(text);
        assertThat(statement.defines()).isTrue();
        assertThat(Sql.changes(text)).isTrue();
        assertThat(statement.execute()).isZero();
    }

    private String rows(String text) {
        ByteArrayOutputStream rows = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(rows, true, StandardCharsets.UTF_8);
        assertThat(Sql.changes(text)).isFalse();
        try (QueryResult result = Sql.on(store.with(feeds)).statement(text).run()) {
            var _ = result.forEachJson(out);
        }
        out.flush();
        return rows.toString(StandardCharsets.UTF_8);
    }

    private void fails(String text, int line, int column, String message) {
        assertThatThrownBy(() -> run(text))
                .as(text)
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("line %d, column %d".formatted(line, column))
                .hasMessageContaining(message);
        assertThat(done).isEmpty();
    }

    private static FeedOption option(String value, boolean isText, String... path) {
        return new FeedOption(List.of(path), value, isText);
    }

    @Test
    void a_feed_is_what_the_statement_says() {
        run("""
                create feed "new one" with (
                  dataset.name = 'T',
                  dataset.type = '{id: int64}',
                  workers = 2, source.kind = http,
                  parser.schemas.7 = 'o''s.avsc', source."client.id" = "x y");""");
        assertThat(done)
                .containsExactly(
                        "new one",
                        option("T", true, "dataset", "name"),
                        option("{id: int64}", true, "dataset", "type"),
                        option("2", false, "workers"),
                        option("http", false, "source", "kind"),
                        option("o's.avsc", true, "parser", "schemas", "7"),
                        option("x y", true, "source", "client.id"));
    }

    @Test
    void feeds_are_started_stopped_and_dropped() {
        run("start feed flights");
        run("Stop Feed flights;");
        run("drop feed flights");
        run("drop feed if exists flights");
        run("drop feed if exists flight");
        run("create feed if not exists flights with (workers = 1)");
        run("create feed if not exists other with (workers = 1)");
        assertThat(done)
                .containsExactly(
                        "start flights",
                        "stop flights",
                        "drop flights",
                        "drop flights",
                        "other",
                        option("1", false, "workers"));
    }

    @Test
    void feeds_are_listed_and_described() {
        assertThat(rows("show feeds"))
                .contains(
                        "\"feed\":\"flights\"",
                        "\"dataset\":\"Flights\"",
                        "\"state\":\"running\"",
                        "\"records\":7",
                        "\"rejected\":1");
        assertThat(rows("describe feed flights").lines())
                .containsExactly(
                        "{\"key\":\"feed\",\"value\":\"flights\"}",
                        "{\"key\":\"source.kind\",\"value\":\"file\"}");
        assertThatThrownBy(() -> rows("desc feed\n flight"))
                .hasMessageContaining("there is no feed 'flight'; is 'flights' meant?")
                .hasMessageContaining("line 2, column 2");
        assertThatThrownBy(() -> rows("describe feed"))
                .hasMessageContaining("there is no dataset 'feed'");
    }

    @Test
    void what_is_wrong_is_told_with_its_place() {
        fails("start feed\n  flight", 2, 3, "there is no feed 'flight'; is 'flights' meant?");
        fails("drop feed f", 1, 11, "there is no feed 'f'");
        fails("create feed f", 1, 14, "expected WITH");
        fails("create feed f with ()", 1, 21, "expected an option");
        fails("create feed f with (a = 1, a = 2)", 1, 28, "option 'a' is given twice");
        fails("create feed f with (a.b = 1, feed = g)", 1, 30, "stands before WITH");
        fails("create feed f with (a. = 1)", 1, 24, "expected an option");
        fails("create feed f with (a =)", 1, 24, "expected a value, a word");
        fails("start flights", 1, 7, "expected FEED");
        fails("stop feed flights now", 1, 19, "'now' can't stand here");
        fails("start feed if exists flights", 1, 15, "'exists' can't stand here");
        fails("drop it", 1, 6, "expected DATASET, FEED, INDEX");
        fails("create it", 1, 8, "expected DATASET, FEED, INDEX, UNIQUE");
    }

    @Test
    void a_definition_that_is_refused_is_told_at_its_option() {
        String text = "create feed f with (\n dataset.name = 'T',\n dataset.indexes = '[]',\n"
                + " source.kind = file)";
        refuse(new Problem("dataset.indexes[1].kind", "is missing"));
        fails(text, 3, 2, "dataset.indexes[1].kind is missing");
        refuse(new Problem("dataset.named", "is no key"));
        fails(text, 1, 13, "dataset.named is no key");
        refuse(new Problem("source.kind", "is wrong"), new Problem("policy", "is wrong too"));
        fails(text, 4, 2, "source.kind is wrong; policy is wrong too");
        refuse(new Problem("", "is no mapping"));
        fails(text, 1, 13, "is no mapping");
        refusal = new InvalidRequestException("there is a feed f");
        fails(text, 1, 13, "there is a feed f");
    }

    private void refuse(Problem... problems) {
        refusal = new FeedRefusedException(List.of(problems), new IllegalStateException("why"));
    }

    @Test
    void without_what_runs_feeds_the_error_names_it() {
        for (String text : List.of(
                "create feed f with (workers = 1)",
                "create feed if not exists f with (workers = 1)",
                "drop feed if exists f",
                "start feed f",
                "stop feed f")) {
            assertThatThrownBy(() -> run(store, text))
                    .as(text)
                    .isInstanceOf(SqlException.class)
                    .hasMessageContaining("./turbidite serve")
                    .hasMessageContaining("io.turbidite:turbidite-feeds")
                    .hasMessageContaining("line 1, column");
        }
        for (String text : List.of("show feeds", "describe feed f")) {
            assertThatThrownBy(() -> Sql.on(store).statement(text))
                    .as(text)
                    .isInstanceOf(SqlException.class)
                    .hasMessageContaining("io.turbidite:turbidite-feeds");
        }
        assertThatThrownBy(() -> Sql.on(people.people).statement("start feed f"))
                .hasMessageContaining("give its catalog");
    }
}
