package io.turbidite.bench.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.bench.ycsb.Records.Depth;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Each engine answers as a sorted map does, also after it was closed and opened again. */
class RecordsTest {
    private static final int RECORDS = 1_500;
    private static final int OPERATIONS = 400;

    @ParameterizedTest
    @EnumSource(Peer.class)
    void answers_are_those_of_a_sorted_map(Peer peer, @TempDir Path directory) throws Exception {
        Files.createDirectories(peer.place(directory));
        Budget budget = Budget.of(RECORDS);
        Draw draw = new Draw();
        Records model = new ModelRecords();
        try (Records records = peer.open(directory, budget)) {
            while (draw.recordCount() < RECORDS) {
                List<Operation> some = draw.load(RECORDS);
                assertThat(records.ask(some, Depth.ALL_VALUES))
                        .isEqualTo(model.ask(some, Depth.ALL_VALUES));
            }
            records.settle();
            same(draw, records, model);
        }
        try (Records records = peer.open(directory, budget)) {
            same(draw, records, model);
            assertThatThrownBy(() -> records.read("user", Depth.ONE_VALUE))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("user");
        }
    }

    private static void same(Draw draw, Records records, Records model) {
        for (Mix mix : Mix.values()) {
            for (Depth depth : Depth.values()) {
                for (Operation operation : draw.operations(mix, OPERATIONS)) {
                    assertThat(records.ask(List.of(operation), depth))
                            .as("%s of %s", operation, mix)
                            .isEqualTo(model.ask(List.of(operation), depth));
                }
            }
        }
    }
}
