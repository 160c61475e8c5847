package io.turbidite.bench.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.turbidite.bench.ycsb.Operation.Kind;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** What is drawn is what the published workloads say. */
class DrawTest {
    private static final int RECORDS = 5_000;
    private static final int OPERATIONS = 20_000;

    @ParameterizedTest
    @CsvSource({
        "A, READ, 0.5, UPDATE, 0.5",
        "B, READ, 0.95, UPDATE, 0.05",
        "C, READ, 1.0, UPDATE, 0.0",
        "D, READ, 0.95, INSERT, 0.05",
        "E, SCAN, 0.95, INSERT, 0.05",
        "F, READ, 0.5, READ_MODIFY_WRITE, 0.5"
    })
    void shares_of_operations(Mix mix, Kind one, double ofOne, Kind other, double ofOther) {
        Draw draw = new Draw();
        Set<String> keys = loaded(draw);
        List<Operation> drawn = draw.operations(mix, OPERATIONS);
        Map<Kind, Long> counts = drawn.stream()
                .collect(Collectors.groupingBy(Operation::kind, Collectors.counting()));
        assertThat(share(counts, one)).isCloseTo(ofOne, within(0.02));
        assertThat(share(counts, other)).isCloseTo(ofOther, within(0.02));
        assertThat(drawn).hasSize(OPERATIONS);
        for (Operation operation : drawn) {
            assertThat(operation.rows()).isBetween(1, 100);
            switch (operation.kind()) {
                case INSERT -> assertThat(keys.add(operation.key())).isTrue();
                case READ, UPDATE, READ_MODIFY_WRITE, SCAN ->
                    assertThat(keys).contains(operation.key());
            }
            operation.values().values().forEach(value -> assertThat(value).hasSize(100));
        }
        assertThat(draw.recordCount()).isEqualTo(keys.size());
    }

    @Test
    void few_records_are_asked_for_often_and_in_d_the_newest() {
        Draw draw = new Draw();
        Set<String> old = loaded(draw);
        assertThat(mostOften(draw.operations(Mix.C, OPERATIONS))).isBetween(0.02, 0.2);
        List<Operation> latest = draw.operations(Mix.D, OPERATIONS);
        long ofNew = latest.stream()
                .filter(operation ->
                        operation.kind() == Kind.READ && !old.contains(operation.key()))
                .count();
        // a tenth of the records is new, and half of the reads are of those
        assertThat(ofNew / (double) OPERATIONS).isGreaterThan(0.3);
    }

    @Test
    void scans_are_of_any_length() {
        Draw draw = new Draw();
        Set<String> _ = loaded(draw);
        double rows = draw.operations(Mix.E, OPERATIONS).stream()
                .filter(operation -> operation.kind() == Kind.SCAN)
                .mapToInt(Operation::rows)
                .average()
                .orElseThrow();
        assertThat(rows).isCloseTo(50.5, within(1.5));
    }

    @Test
    void a_file_has_what_was_written(@TempDir Path directory) throws Exception {
        Draw draw = new Draw();
        Set<String> _ = loaded(draw);
        List<Operation> all = new ArrayList<>();
        for (Mix mix : Mix.values()) {
            all.addAll(draw.operations(mix, 100));
        }
        Path file = directory.resolve("operations");
        OperationFile.write(file, all);
        assertThat(OperationFile.read(file)).isEqualTo(all);
    }

    private static Set<String> loaded(Draw draw) {
        Set<String> keys = new HashSet<>();
        while (draw.recordCount() < RECORDS) {
            for (Operation insert : draw.load(RECORDS)) {
                assertThat(insert.values()).hasSize(10);
                keys.add(insert.key());
            }
        }
        assertThat(keys).hasSize(RECORDS);
        return keys;
    }

    private static double share(Map<Kind, Long> counts, Kind kind) {
        return counts.getOrDefault(kind, 0L) / (double) OPERATIONS;
    }

    private static double mostOften(List<Operation> drawn) {
        return drawn.stream()
                        .collect(Collectors.groupingBy(Operation::key, Collectors.counting()))
                        .values()
                        .stream()
                        .mapToLong(Long::longValue)
                        .max()
                        .orElseThrow()
                / (double) drawn.size();
    }
}
