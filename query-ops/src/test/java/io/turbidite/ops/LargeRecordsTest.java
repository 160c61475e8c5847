package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.type.RecordType;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;

/** A query of large records looks for a stop as often as one of small ones, by their bytes. */
class LargeRecordsTest {
    private static final int RECORDS = 100;
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("number", "int32")
            .field("text", "string")
            .build();

    @Test
    void a_sort_stops_behind_the_first_few() {
        MemorySource source = new MemorySource(TYPE, List.of("id"), List.of(), List.of(), 1);
        String text = "x".repeat(100_000);
        for (long id = 0; id < RECORDS; id++) {
            source.upsert(Map.of("id", id, "number", (int) -id, "text", text));
        }
        int[] moves = {0};
        source.onMove = () -> moves[0]++;
        RunOptions options = RunOptions.defaults().withStop(() -> moves[0] > 0);
        assertThatThrownBy(() -> {
                    try (QueryResult rows =
                            Query.on(source).orderBy("number").with(options).run()) {
                        rows.next();
                    }
                })
                .isInstanceOf(CancellationException.class);
        assertThat(moves[0]).isBetween(1, 3);
    }
}
