package io.turbidite.bench.recency;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The operations that JMH repeats give what a loop over all tweets gives, on little. */
class RecencyBenchmarkTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                RecencySuite.PREFIX,
                RecencySuite.CORRELATED,
                RecencySuite.NO_MERGE,
                RecencySuite.CONSTANT
            })
    void recent_tweets(String policy) throws Exception {
        for (boolean hasFilter : new boolean[] {true, false}) {
            RecencyBenchmark one = new RecencyBenchmark();
            one.policy = policy;
            one.hasFilter = hasFilter;
            one.recentPercent = 10;
            one.tweets = 3_000;
            one.fill();
            try {
                for (int user = 0; user < one.users(); user++) {
                    assertThat(one.recentOf(user)).isEqualTo(one.expectedOf(user));
                }
                assertThat(one.recentAt(100, 200)).isEqualTo(one.expectedAt(100, 200));
                long found = 0;
                for (int i = 0; i < 20; i++) {
                    found += one.recentOfUser() + one.recentInWindow();
                }
                assertThat(found).isPositive();
            } finally {
                one.close();
            }
        }
    }
}
