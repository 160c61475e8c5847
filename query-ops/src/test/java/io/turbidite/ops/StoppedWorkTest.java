package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.window.WindowFunction;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Map;

/**
 * A query looks for a stop while it writes what does not fit memory, merges it, counts it, and adds
 * up rows around a row: the looks are counted that it makes while no record is read.
 */
class StoppedWorkTest {
    private static final int RECORDS = 20_000;
    private static final RecordType TYPE =
            RecordType.builder().field("id", "int64").field("number", "int32").build();

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final MemorySource source =
            new MemorySource(TYPE, List.of("id"), List.of(), List.of(), 1);
    private int moves;
    private int sinceMove;

    /** Most looks between two records. */
    private int together;

    /** Looks when all records were read. */
    private int behindLast;

    @BeforeEach
    void fill() {
        for (long id = 0; id < RECORDS; id++) {
            source.upsert(Map.of("id", id, "number", (int) -id));
        }
        source.onMove = () -> {
            moves++;
            sinceMove = 0;
        };
    }

    @AfterEach
    void nothing_is_left() {
        assertThat(source.openCount).hasValue(0);
        assertThat(disk.files()).isEmpty();
    }

    private boolean look() {
        sinceMove++;
        together = Math.max(together, sinceMove);
        behindLast += moves >= RECORDS ? 1 : 0;
        return false;
    }

    private RunOptions options(long memoryBytes) {
        return RunOptions.defaults()
                .withMemoryBytesMax(memoryBytes)
                .withSpill(disk, "spill")
                .withStop(this::look);
    }

    private Query query() {
        return Query.on(source);
    }

    private static void readFirst(QueryResult result) {
        try (result) {
            assertThat(result.next()).isTrue();
        }
    }

    @Test
    void a_run_is_written() {
        readFirst(query().orderBy("number").with(options(512 << 10)).run());
        assertThat(together).isGreaterThanOrEqualTo(4);
    }

    @Test
    void runs_are_merged_before_the_first_row() {
        readFirst(query().orderBy("number").with(options(128 << 10)).run());
        assertThat(behindLast).isGreaterThanOrEqualTo(RECORDS / 1_024);
    }

    @Test
    void a_sort_is_cut_to_the_rows_that_are_wanted() {
        // in this order each record is among the first
        readFirst(query().orderBy("number")
                .limit(4_000)
                .with(RunOptions.defaults().withStop(this::look))
                .run());
        assertThat(together).isGreaterThanOrEqualTo(3);
    }

    @Test
    void different_values_of_one_group_are_counted() {
        try (QueryResult result = query().aggregate(Aggregate.countDistinct("number"))
                .with(RunOptions.defaults().withStop(this::look))
                .run()) {
            assertThat(result.next()).isTrue();
            assertThat(result.row().getLong(0)).isEqualTo(RECORDS);
        }
        assertThat(behindLast).isGreaterThanOrEqualTo(RECORDS / 1_024);
    }

    /** Looks between the last record and the first row. */
    private int looksFor(WindowFunction function) {
        moves = 0;
        behindLast = 0;
        readFirst(Window.of(query())
                .orderBy("id", Order.ASC)
                .add(function)
                .with(RunOptions.defaults().withStop(this::look))
                .run());
        return behindLast;
    }

    @ParameterizedTest
    @ValueSource(longs = {-100_000, WindowFunction.Frame.UNBOUNDED_FROM})
    void many_rows_around_a_row_are_added_up(long from) {
        // the same rows are read ahead for it, and none is added
        int forRows = looksFor(WindowFunction.lead("number", 100_000));
        assertThat(looksFor(WindowFunction.sum("number").rows(from, 100_000)))
                .isGreaterThanOrEqualTo(forRows + RECORDS / 1_024 - 1);
    }
}
