package io.turbidite.bench.part;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each operation that JMH repeats does what it says: run once, on little, by its own answer. */
class PartBenchmarksTest {
    @Test
    void codecs() throws Exception {
        CodecBenchmark codecs = new CodecBenchmark();
        codecs.textChars = 20;
        codecs.make();
        assertThat(codecs.keyEncode()).isBetween("a name".length() + 1, 20);
        assertThat(codecs.recordWrite()).isBetween(50, 100);
        assertThat(codecs.recordRead()).isEqualTo(8.5);
        assertThat(codecs.checksum()).isEqualTo(codecs.checksum()).isNotZero();
        int found = 0;
        for (int i = 0; i < 10_000; i++) {
            found += codecs.bloomAbsent() ? 1 : 0;
        }
        assertThat(found).as("of 10,000 that are absent").isBetween(20, 300);
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory", "component"})
    void operationsOfAStore(String place) throws Exception {
        StoreBenchmark operations = new StoreBenchmark();
        operations.place = place;
        operations.records = 2_000;
        operations.fill();
        try {
            operations.put();
            assertThat(operations.get()).isNotNull();
            assertThat(operations.getAbsent()).isNull();
            assertThat(operations.countByIndex()).isEqualTo(20);
            assertThat(operations.filteredScan()).isEqualTo(2);
            assertThat(operations.groups()).isEqualTo(100);
            assertThat(operations.sortedHead()).isEqualTo(10);
            assertThat(operations.headByIndex()).isEqualTo(10);
        } finally {
            operations.close();
        }
    }

    @Test
    void aFlushAndAMerge() throws Exception {
        StepBenchmark steps = new StepBenchmark();
        steps.records = 500;
        steps.components = 2;
        steps.fill();
        try {
            long flushed = steps.counted("flush.bytes");
            steps.flush();
            assertThat(steps.counted("flush.bytes")).isGreaterThan(flushed);
            assertThat(steps.counted("merge.bytes.read")).isZero();
            steps.merge();
            assertThat(steps.counted("merge.bytes.read")).isEqualTo(flushed);
            assertThat(steps.counted("merge.bytes.written")).isPositive();
        } finally {
            steps.close();
        }
    }

    @Test
    void recordsOfAHashLog() {
        LogBenchmark log = new LogBenchmark();
        log.psfs = 4;
        log.open();
        try {
            assertThat(log.parse()).isEqualTo(4);
            assertThat(log.ingest()).as("taken").isEqualTo(1);
        } finally {
            log.close();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Maintenance.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"AUTO"})
    void strategies(Maintenance strategy) throws Exception {
        StrategyBenchmark one = new StrategyBenchmark();
        one.strategy = strategy;
        one.updatesPercent = 50;
        one.matches = 20;
        one.records = 1_000;
        one.fill();
        try {
            for (int user = 0; user < one.users(); user++) {
                assertThat(one.recordsOf(user)).isEqualTo(one.expectedOf(user));
                assertThat(one.countOf(user)).isEqualTo(one.expectedOf(user));
            }
            for (int i = 0; i < 100; i++) {
                one.upsert();
            }
            assertThat(one.recordsOfUser()).isPositive();
            assertThat(one.countOfUser()).isPositive();
        } finally {
            one.close();
        }
    }
}
