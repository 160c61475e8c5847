package io.turbidite.bench.pm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The operations that JMH repeats give what a model gives, on little. */
class RegionBenchmarkTest {
    @ParameterizedTest
    @ValueSource(strings = {"INSERT", "UNIFORM", "SKEWED_PRI", "SKEWED_SEC"})
    void questions_and_inserts(String load) {
        for (String index : Contender.NAMES) {
            RegionBenchmark one = new RegionBenchmark();
            one.index = index;
            one.load = load;
            one.records = 2_000;
            one.fill();
            try {
                for (int key = 0; key < one.keys(); key++) {
                    assertThat(one.newestOf(key)).isEqualTo(one.expectedOf(key));
                }
                assertThat(one.newest()).isNotZero();
                for (int i = 0; i < 5_000; i++) {
                    one.insert();
                }
                assertThat(one.insertedCount()).isPositive();
            } finally {
                one.close();
            }
        }
    }
}
