package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.index.TokenKeys;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.Source;
import io.turbidite.core.text.Tokenizer;

import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** What the planner thinks that indexes have in common, and what it makes of a limit. */
class PlanEstimateTest {
    private static final int RECORDS = 3_000;

    private static IndexDescription btree(String name, String... fields) {
        return new IndexDescription(name, IndexDescription.Kind.BTREE, List.of(fields), true);
    }

    private static IndexDescription inverted(String name, Tokenizer tokenizer) {
        return new IndexDescription(
                name,
                IndexDescription.Kind.INVERTED,
                List.of("name"),
                true,
                KeyForm.CURRENT,
                true,
                TokenKeys.of(
                                Flights.TYPE,
                                List.of("name"),
                                "index",
                                Map.of("tokenizer", tokenizer.label()))
                        .parameters());
    }

    /** One of a hundred has each tail, with a name and a delay of its own. */
    private static MemorySource source(List<String> filter, IndexDescription... indexes) {
        MemorySource flights =
                new MemorySource(Flights.TYPE, List.of("id"), filter, List.of(indexes), 1);
        for (int i = 0; i < RECORDS; i++) {
            int tail = i % 100;
            flights.upsert(Flights.flight(
                    i, "tail", "N" + tail, "name", "n" + tail + " flight", "delay", (double) tail));
        }
        return flights;
    }

    private static OptionalLong estimated(Explanation explanation, String operator) {
        return explanation.operators().stream()
                .filter(step -> step.name().equals(operator))
                .findFirst()
                .orElseThrow()
                .estimatedRows();
    }

    @Test
    void a_second_index_on_the_same_field_leaves_no_fewer() {
        MemorySource flights = source(List.of(), btree("by_tail", "tail"), btree("again", "tail"));
        Query query = Query.on((Source) flights).where(Predicates.eq("tail", "N7"));
        assertThat(query.explain().access()).isEqualTo("index by_tail, then fetch");
        Explanation both = query.usingIndexes("by_tail", "again").explain();
        assertThat(estimated(both, "intersect")).hasValue(RECORDS / 100);
    }

    @Test
    void an_index_whose_fields_others_have_said_all_of_leaves_no_fewer() {
        MemorySource flights =
                source(List.of(), btree("by_tail", "tail"), btree("by_both", "tail", "delay"));
        Query query = Query.on((Source) flights)
                .where(Predicates.eq("tail", "N7"))
                .where(Predicates.range("delay", 0.0, 50.0));
        assertThat(query.explain().access()).matches("index by_(tail|both), then fetch");
    }

    @Test
    void two_indexes_on_one_text_leave_no_fewer_by_the_same_question() {
        MemorySource flights = source(
                List.of(), inverted("words", Tokenizer.WORD), inverted("again", Tokenizer.WORD));
        Query query = Query.on((Source) flights).where(Predicates.contains("name", "n7"));
        assertThat(query.explain().access()).isEqualTo("index words, then fetch");
    }

    @Test
    void indexes_on_other_fields_are_not_taken_for_independent() {
        MemorySource flights = source(
                List.of(),
                btree("by_tail", "tail"),
                btree("by_delay", "delay"),
                inverted("words", Tokenizer.WORD));
        Query query = Query.on((Source) flights)
                .where(Predicates.eq("tail", "N7"))
                .where(Predicates.eq("delay", 7.0))
                .where(Predicates.contains("name", "n7"));
        Explanation two = query.usingIndexes("by_tail", "by_delay").explain();
        // 1 % of 3,000, a tenth of that and not a hundredth
        assertThat(estimated(two, "intersect")).hasValue(3);
        Explanation three = query.usingIndexes("by_tail", "by_delay", "words").explain();
        assertThat(estimated(three, "intersect")).hasValue(1);
    }

    @Test
    void a_limit_that_may_not_be_reached_does_not_make_a_scan_cheap() {
        MemorySource flights = source(
                List.of(), btree("by_carrier", "carrier"), inverted("grams", Tokenizer.ngram(3)));
        // every name has the grams of " flight", and none is like this one
        Query query = Query.on((Source) flights)
                .where(Predicates.editDistance("name", "n7 flyght flight", 4))
                .limit(1);
        Explanation explanation = query.explain();
        assertThat(explanation.considered())
                .filteredOn(choice -> choice.access().equals("primary scan"))
                .allSatisfy(choice -> assertThat(choice.cost()).isGreaterThan(RECORDS / 40.0));
    }

    @Test
    void what_is_like_a_text_is_less_than_what_shares_grams_with_it() {
        MemorySource flights = source(List.of(), inverted("grams", Tokenizer.ngram(3)));
        Explanation explanation = Query.on((Source) flights)
                .where(Predicates.jaccard("name", Tokenizer.ngram(3), "n7 flight", 0.9))
                .usingIndex("grams")
                .explain();
        assertThat(estimated(explanation, "re-check").orElseThrow())
                .isLessThan(estimated(explanation, "search").orElseThrow() / 5);
    }

    @Test
    void entries_behind_a_filter_are_fetched_which_costs() {
        MemorySource flights = source(List.of("departure"), btree("by_tail", "tail", "departure"));
        Query query = Query.on((Source) flights)
                .where(Predicates.range(
                        "departure", Instant.ofEpochSecond(0), Instant.ofEpochSecond(99 * 3_600)))
                .count();
        assertThat(query.explain().access()).isEqualTo("primary scan with filter");
    }

    /** All flights are of one carrier, which a guess takes for one in twenty. */
    @Test
    void a_sample_says_that_a_limit_is_reached_soon_where_a_guess_would_not() {
        int records = 24_000;
        MemorySource flights = new MemorySource(
                Flights.TYPE,
                List.of("id"),
                List.of(),
                List.of(btree("by_tail", "tail", "delay")),
                2);
        for (int i = 0; i < records; i++) {
            flights.upsert(Flights.flight(
                    i, "tail", "N" + i % 50, "name", i % 2_000 == 557 ? "rare" : "common"));
        }
        Query often = Query.on((Source) flights)
                .where(Predicates.eq("tail", "N7"))
                .where(Predicates.eq("carrier", "UA"))
                .orderBy("id")
                .limit(5);
        Explanation plan = often.explain();
        assertThat(plan.access()).isEqualTo("primary scan in key order");
        assertThat(estimated(plan, "limit")).hasValue(5);
        assertThat(estimated(plan, "select").orElseThrow())
                .isBetween(records / 50L / 3, records / 50L * 3);
        try (QueryResult rows = often.run()) {
            while (rows.next()) {
                // counted
            }
            assertThat(rows.explain().operators().stream()
                            .filter(step -> step.name().equals("scan"))
                            .findFirst()
                            .orElseThrow()
                            .actualRows()
                            .orElseThrow())
                    .isLessThan(records / 50);
        }
        Explanation seldom = Query.on((Source) flights)
                .where(Predicates.eq("tail", "N7"))
                .where(Predicates.eq("name", "rare"))
                .orderBy("id")
                .limit(20)
                .explain();
        assertThat(seldom.access()).isEqualTo("index by_tail, then fetch");
    }
}
