package io.turbidite.bench.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.bench.report.Report;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The whole suite, small: each figure is there, and no wrong answer passes. */
@Timeout(120)
class YcsbSuiteTest {
    private static final List<Mix> MIXES = List.of(Mix.E, Mix.F);

    @TempDir
    private Path directory;

    @Test
    void each_figure_is_there() throws Exception {
        YcsbSuite.Setting setting = new YcsbSuite.Setting(MIXES, 2_000, 400, 200, 1, 1, 1);
        List<Report> reports = new YcsbSuite(setting, directory).run();
        assertThat(reports).hasSize(4);
        for (Report report : reports.subList(1, 4)) {
            for (Mix mix : MIXES) {
                for (Peer peer : Peer.values()) {
                    assertThat(report.figure(mix.title(), peer.title()))
                            .as("%s of %s: %s", mix, peer, report)
                            .isNotNegative()
                            .isFinite();
                }
            }
        }
        // their JVMs work for a second and have 200 operations
        assertThat(reports.get(2).figure(Mix.E.title(), "Turbidite")).isGreaterThan(10);
        assertThat(reports.getFirst().works()).contains("warm: " + Mix.E.title());
    }

    @Test
    void a_wrong_answer_ends_it() {
        YcsbSuite suite = suite(Misread::new);
        assertThatThrownBy(suite::run)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("workload A")
                .hasMessageContaining("answers");
    }

    @Test
    void a_value_that_is_lost_is_found_in_the_last_round() {
        YcsbSuite suite = suite(Forgetful::new);
        assertThatThrownBy(suite::run)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("workload")
                .hasMessageContaining("answers");
    }

    /** Small, without new processes; RocksDB's answers and writes go through {@code changed}. */
    private YcsbSuite suite(UnaryOperator<Records> changed) {
        return new YcsbSuite(
                new YcsbSuite.Setting(List.of(Mix.values()), 500, 300, 0, 0, 1, 0),
                directory,
                (peer, place, budget) -> {
                    Records records = peer.open(place, budget);
                    return peer == Peer.ROCKSDB ? changed.apply(records) : records;
                });
    }

    /** Another engine's, but for what a class changes. */
    private abstract static class Changed implements Records {
        final Records records;

        Changed(Records records) {
            this.records = records;
        }

        @Override
        public void insert(String key, Map<String, String> values) {
            records.insert(key, values);
        }

        @Override
        public long read(String key, Depth depth) {
            return records.read(key, depth);
        }

        @Override
        public long scan(String first, int rows, Depth depth) {
            return records.scan(first, rows, depth);
        }

        @Override
        public long update(String key, Map<String, String> values, Depth depth) {
            return records.update(key, values, depth);
        }

        @Override
        public void settle() {
            records.settle();
        }

        @Override
        public void close() {
            records.close();
        }
    }

    private static final class Misread extends Changed {
        Misread(Records records) {
            super(records);
        }

        @Override
        public long read(String key, Depth depth) {
            return records.read(key, depth) + 1;
        }
    }

    /** Writes an update only of the value that rounds look at. */
    private static final class Forgetful extends Changed {
        Forgetful(Records records) {
            super(records);
        }

        @Override
        public long update(String key, Map<String, String> values, Depth depth) {
            Map<String, String> looked = new HashMap<>(values);
            looked.keySet().retainAll(List.of(FIELDS.get(LOOKED_AT)));
            return records.update(key, looked, depth);
        }
    }
}
