package io.turbidite.ops.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.catalog.Moment;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.RecordType;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Statements that define, as a catalog gets them. */
class DefinitionsTest {
    private static final List<String> STATEMENTS = List.of(
            "create dataset T (id int64, name string?, at {x: double, \"y z\": [int32]?}?, primary key (id, at.x)) filter (name) partitions 4 with (maintenance = eager, retain = '30d')",
            "create dataset if not exists \"a b\" (\"primary\" bigint primary key, t varchar(3) not null)",
            "create unique index by_name on People (name, user.lang) using btree with (pageBytes = '8KiB')",
            "create index if not exists by_tag on People (tags[])",
            "drop dataset if exists T",
            "drop index by_name on People",
            "show datasets",
            "show indexes on People",
            "describe People",
            "create feed if not exists f with (dataset.name = 'T', parser.schemas.7 = 'a.avsc', source.\"client.id\" = x, workers = 2)",
            "start feed f",
            "show feeds",
            "describe feed f");

    private final People people = new People();
    private final List<Object> defined = new ArrayList<>();

    private final Catalog catalog = new Catalog() {
        @Override
        public List<? extends Source> datasets() {
            return List.of(people.cities, people.people);
        }

        @Override
        public Moment openMoment() {
            throw new AssertionError("no statement here reads");
        }

        @Override
        public DatasetDefinition describe(String dataset) {
            return new DatasetDefinition(
                    dataset,
                    people.people.type(),
                    people.people.primaryKey(),
                    List.of(),
                    1,
                    Map.of(),
                    List.of(new IndexDefinition(
                            "by_city",
                            IndexDescription.Kind.BTREE,
                            List.of("city"),
                            false,
                            Map.of(),
                            IndexDefinition.READY)));
        }

        @Override
        public void createDataset(DatasetDefinition definition) {
            defined.add(definition);
        }

        @Override
        public void dropDataset(String dataset) {
            defined.add(dataset);
        }

        @Override
        public void createIndex(String dataset, IndexDefinition index) {
            defined.add(index);
        }

        @Override
        public void dropIndex(String dataset, String index) {
            defined.add(dataset + "." + index);
        }

        @Override
        public ChangeBatch newBatch(Source dataset) {
            throw new AssertionError("no statement here changes");
        }
    };

    private void run(String text) {
        SqlStatement statement = Sql.on(catalog).statement(text);
        if (statement.givesRows()) {
            statement.run().close();
        } else if (!statement.explains()) {
            assertThat(statement.execute()).isZero();
        }
    }

    @Test
    void a_dataset_is_what_the_statement_says() {
        run(STATEMENTS.getFirst());
        assertThat(defined)
                .containsExactly(new DatasetDefinition(
                        "T",
                        RecordType.builder()
                                .field("id", "int64")
                                .field("name", "string?")
                                .field("at", "{x: double, \"y z\": [int32]?}?")
                                .build(),
                        List.of("id", "at.x"),
                        List.of("name"),
                        4,
                        Map.of("maintenance", "eager", "retain", "30d"),
                        List.of()));
    }

    @Test
    void an_index_is_what_the_statement_says() {
        run(STATEMENTS.get(2));
        run("CREATE INDEX w ON People (name) USING inverted WITH (tokenizer = 'ngram(3)');");
        run("drop index if exists by_city on People -- the one that is there");
        run("drop index if exists by_town on People");
        assertThat(defined)
                .containsExactly(
                        new IndexDefinition(
                                "by_name",
                                IndexDescription.Kind.BTREE,
                                List.of("name", "user.lang"),
                                true,
                                Map.of("pageBytes", "8KiB"),
                                IndexDefinition.READY),
                        new IndexDefinition(
                                "w",
                                IndexDescription.Kind.INVERTED,
                                List.of("name"),
                                false,
                                Map.of("tokenizer", "ngram(3)"),
                                IndexDefinition.READY),
                        "People.by_city");
    }

    /** Whatever is wrong, the answer is an error of the statement. */
    @Test
    void a_text_that_is_damaged_is_refused_or_means_something() {
        String test = "DefinitionsTest#a_text_that_is_damaged_is_refused_or_means_something";
        long first = Seeds.of(test);
        String bits = "()[]{},.;=?'\"-*/ \n0aEonif$\u00e4\ud83d\ude00";
        int refused = 0;
        int count = Seeds.isReplay() ? 1 : Tier.count(2_000, 5_000, 200_000);
        for (int i = 0; i < count; i++) {
            long seed = Seeds.isReplay() ? first : Seeds.mix(first, i);
            String text = damaged(new SplittableRandom(seed), bits);
            String told = text + "\n" + Seeds.replay(test, seed);
            // some become statements that Calcite reads: that is another test
            String word = Tokens.firstWord(text);
            if (!Definitions.FIRST_WORDS.contains(word) && !Listings.FIRST_WORDS.contains(word)) {
                continue;
            }
            try {
                run(text);
            } catch (InvalidRequestException e) {
                refused++;
                assertThat(e)
                        .as(told)
                        .isInstanceOf(SqlException.class)
                        .hasMessageNotContaining("can't be planned");
            } catch (RuntimeException e) {
                throw new AssertionError(told, e);
            }
        }
        assertThat(refused).isBetween(Seeds.isReplay() ? 0 : count / 4, count);
    }

    private static String damaged(SplittableRandom random, String bits) {
        StringBuilder text = new StringBuilder(STATEMENTS.get(random.nextInt(STATEMENTS.size())));
        for (int j = 0; j <= random.nextInt(3); j++) {
            int at = random.nextInt(text.length());
            char bit = bits.charAt(random.nextInt(bits.length()));
            switch (random.nextInt(4)) {
                case 0 -> text.insert(at, bit);
                case 1 -> text.delete(at, at + random.nextInt(text.length() - at) / 4 + 1);
                case 2 -> text.insert(at, text.substring(at));
                default -> text.setCharAt(at, bit);
            }
            if (text.isEmpty()) {
                text.append(' ');
            }
        }
        return text.toString();
    }
}
