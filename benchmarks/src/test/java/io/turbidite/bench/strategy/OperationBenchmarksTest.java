package io.turbidite.bench.strategy;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.bench.peer.Engine.Answer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Each operation that JMH repeats here does what it says, on little. */
class OperationBenchmarksTest {
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void inserts_find_out_which_keys_are_taken(boolean keyTree) throws Exception {
        InsertBenchmark one = new InsertBenchmark();
        one.keyTree = keyTree;
        one.duplicatesPercent = 50;
        one.tweets = 1_000;
        one.fill();
        try {
            for (int i = 0; i < 100; i++) {
                one.insert();
            }
            assertThat(one.count()).isEqualTo(one.expectedCount()).isLessThan(1_000);
        } finally {
            one.close();
        }
    }

    @Test
    void spans_of_time_have_the_same_tweets_under_each_strategy() throws Exception {
        for (String span : List.of("oldest", "newest")) {
            Set<Answer> answers = new HashSet<>();
            for (Recipe recipe : Recipe.all()) {
                FilterBenchmark one = new FilterBenchmark();
                one.strategy = recipe.name();
                one.updatesPercent = 50;
                one.span = span;
                one.tweets = 2_000;
                one.fill();
                try {
                    assertThat(one.tweetsOfSpan()).isPositive();
                    answers.add(one.answer());
                } finally {
                    one.close();
                }
            }
            assertThat(answers).as(span).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"keys", "records"})
    void a_repair_leaves_the_entries_that_are_valid(String by) throws Exception {
        RepairBenchmark one = new RepairBenchmark();
        one.by = by;
        one.tweets = 2_000;
        one.fill();
        try {
            one.repair();
            assertThat(one.indexed()).isEqualTo(one.expected());
        } finally {
            one.close();
        }
    }
}
