package io.turbidite.bench.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The operation that JMH repeats finds all records of its subset, on little. */
class RetrievalBenchmarkTest {
    @ParameterizedTest
    @ValueSource(strings = {"index", "scan"})
    void subset(String by) {
        RetrievalBenchmark one = new RetrievalBenchmark();
        one.by = by;
        one.selectivity = 10;
        one.megabytes = 2;
        one.fill();
        try {
            assertThat(one.subset()).isEqualTo(one.expected()).isPositive();
        } finally {
            one.close();
        }
    }
}
