package io.turbidite.bench.navigation;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The operation that JMH repeats gives what a scan gives, on little. */
class NavigationBenchmarkTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                NavigationSuite.NAIVE,
                NavigationSuite.BATCH,
                NavigationSuite.STATEFUL,
                NavigationSuite.PRUNED,
                NavigationSuite.CHOSEN
            })
    void tweets_of_users(String way) throws Exception {
        NavigationBenchmark one = new NavigationBenchmark();
        one.way = way;
        one.selectivity = 10;
        one.tweets = 1_000;
        one.components = 4;
        one.fill();
        try {
            assertThat(one.tweetsOf(20_000, 30_000)).isEqualTo(one.expectedOf(20_000, 30_000));
            assertThat(one.tweetsOfUsers()).isBetween(50L, 200L);
        } finally {
            one.close();
        }
    }
}
