package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** Sets of rows, distinct rows, values and offsets; also beyond the memory. */
class SetOperationTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("n", "int32?")
            .field("x", "double?")
            .field("tags", "[string]?")
            .field("pad", "string?")
            .build();

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final MemorySource source =
            new MemorySource(TYPE, List.of("id"), List.of(), List.of(), 2);

    @AfterEach
    void nothing_is_left() {
        assertThat(source.openCount).hasValue(0);
        assertThat(disk.files()).isEmpty();
        assertThat(disk.openHandles()).isEmpty();
    }

    private Query records() {
        return Query.on((Source) source);
    }

    private static Map<String, @Nullable Object> row(@Nullable Object... fields) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        for (int i = 0; i < fields.length; i += 2) {
            row.put(String.valueOf(fields[i]), fields[i + 1]);
        }
        return row;
    }

    private static List<String> rows(Relation relation) {
        try (QueryResult result = relation.run()) {
            List<String> rows = new ArrayList<>();
            result.forEach(row -> rows.add(row.toString()));
            return rows;
        }
    }

    private static List<String> sorted(Relation relation) {
        List<String> rows = rows(relation);
        rows.sort(null);
        return rows;
    }

    private static Values numbers(@Nullable Integer... numbers) {
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        for (Integer number : numbers) {
            rows.add(row("n", number));
        }
        return Values.of(RecordType.builder().field("n", "int32?").build(), rows);
    }

    @Test
    void sets_count_equal_rows_and_null_is_equal_to_itself() {
        Values a = numbers(1, 1, 1, 2, null, null, 3);
        Values b = numbers(1, 1, null, 4);
        assertThat(rows(SetOperation.unionAll(a, b))).hasSize(11).startsWith("{n=1}", "{n=1}");
        assertThat(rows(SetOperation.union(a, b)))
                .containsExactly("{n=1}", "{n=2}", "{n=null}", "{n=3}", "{n=4}");
        assertThat(sorted(SetOperation.intersect(a, b))).containsExactly("{n=1}", "{n=null}");
        assertThat(sorted(SetOperation.intersectAll(a, b)))
                .containsExactly("{n=1}", "{n=1}", "{n=null}");
        assertThat(sorted(SetOperation.except(a, b))).containsExactly("{n=2}", "{n=3}");
        assertThat(sorted(SetOperation.exceptAll(a, b)))
                .containsExactly("{n=1}", "{n=2}", "{n=3}", "{n=null}");
        assertThat(rows(SetOperation.except(numbers(), b))).isEmpty();
        assertThat(sorted(SetOperation.except(b, numbers()))).hasSize(3);
    }

    @Test
    void whole_numbers_go_together_and_names_are_those_of_the_first() {
        Values wide = Values.of(
                RecordType.builder().field("other", "int64").build(),
                List.of(row("other", 1L), row("other", 5_000_000_000L)));
        SetOperation all = SetOperation.unionAll(numbers(1, 7), wide);
        assertThat(all.type())
                .isEqualTo(RecordType.builder().field("n", "int64?").build());
        assertThat(rows(all)).containsExactly("{n=1}", "{n=7}", "{n=1}", "{n=5000000000}");
        assertThat(sorted(SetOperation.intersect(numbers(1, 7), wide))).containsExactly("{n=1}");
        assertThat(rows(SetOperation.union(numbers(1, 7), wide))).hasSize(3);
        assertThat(rows(Query.on(all).where("n > 1").orderBy("n", Order.DESC)))
                .containsExactly("{n=5000000000}", "{n=7}");
    }

    @Test
    void zeros_are_one_value_and_so_is_not_a_number() {
        Values values = Values.of(
                RecordType.builder().field("x", "double").build(),
                List.of(row("x", 0.0), row("x", -0.0), row("x", Double.NaN), row("x", Double.NaN)));
        assertThat(rows(SetOperation.union(values))).containsExactly("{x=0.0}", "{x=NaN}");
    }

    @Test
    void what_does_not_go_together_is_refused() {
        Map<Supplier<Relation>, String> wrong = Map.of(
                () -> SetOperation.union(records().select("id"), records().select("id", "n")),
                        "rows of 1 fields (id) and rows of 2 (id, n)",
                () -> SetOperation.except(records().select("x"), records().select("n")),
                        "'x' of type double? and 'n' of type int32?",
                () -> records().select("tags").distinct(), "'tags' is [string]?",
                () -> SetOperation.intersect(records(), records()), "'tags' is [string]?",
                () -> records().select("id").distinct().near("id", 1, 1), "near",
                () -> records().select("id").newestFirst().distinct(), "no version");
        wrong.forEach((relation, message) -> {
            assertThatThrownBy(() -> relation.get().type())
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining(message);
            assertThatThrownBy(() -> relation.get().run())
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining(message);
        });
        assertThatThrownBy(() -> records().offset(-1)).hasMessageContaining("below 0");
        assertThatThrownBy(() -> records().select("id").distinct().prepare())
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> Values.of(TYPE, List.of(row("id", "one"))))
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> rows(records().select("n").distinct().orderBy("id")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("id");
    }

    @Test
    void distinct_comes_before_order_limit_and_offset() {
        for (long i = 0; i < 40; i++) {
            source.upsert(row("id", i, "n", (int) (i % 4), "x", i % 2 == 0 ? 1.0 : null));
        }
        assertThat(rows(records()
                        .select("n", "x")
                        .distinct()
                        .orderBy("n", Order.DESC)
                        .limit(2)))
                .containsExactly("{n=3, x=null}", "{n=2, x=1.0}");
        assertThat(rows(records().select("n").distinct().orderBy("n").offset(1).limit(2)))
                .containsExactly("{n=1}", "{n=2}");
        assertThat(rows(records().select("n % 2 as odd").distinct())).hasSize(2);
        assertThat(rows(records()
                        .groupBy("n")
                        .aggregate(Aggregate.count())
                        .select()
                        .distinct()))
                .hasSize(4);
        assertThat(records().select("n").distinct().explain().toString()).contains("distinct");
    }

    @Test
    void the_first_distinct_rows_are_there_before_all_is_read() {
        many();
        int before = source.moveCount.get();
        try (QueryResult result = records().select("id").distinct().limit(3).run()) {
            assertThat(result.count()).isEqualTo(3);
        }
        assertThat(source.moveCount.get() - before).isLessThan(10);
    }

    @Test
    void an_offset_leaves_out_the_first_rows_of_any_query() {
        for (long i = 0; i < 20; i++) {
            source.upsert(row("id", i, "n", (int) (i % 4)));
        }
        assertThat(rows(records().orderBy("id").select("id").offset(17)))
                .containsExactly("{id=17}", "{id=18}", "{id=19}");
        assertThat(rows(records().orderBy("id").select("id").offset(3).limit(2)))
                .containsExactly("{id=3}", "{id=4}");
        assertThat(rows(records().orderBy("n").select("id").offset(20))).isEmpty();
        assertThat(rows(records().offset(Long.MAX_VALUE).limit(Long.MAX_VALUE))).isEmpty();
        assertThat(rows(records().offset(18))).hasSize(2);
        assertThat(rows(records().count().offset(1))).isEmpty();
        assertThat(rows(records().groupBy("n").offset(3))).containsExactly("{n=3, count=5}");
        assertThat(rows(records()
                        .where("id < 9")
                        .orderBy("id")
                        .select("id")
                        .offset(2)
                        .limit(0)))
                .isEmpty();
        try (QueryResult result = records()
                .where(Predicates.range("id", null, Predicates.parameter("top")))
                .orderBy("id")
                .offset(2)
                .limit(1)
                .prepare()
                .run(9L)) {
            assertThat(result.toList()).hasSize(1).first().extracting("id").isEqualTo(2L);
        }
        assertThat(records().offset(5).explain().toString()).contains("without the first 5");
    }

    @Test
    void an_aggregate_takes_the_records_of_its_condition() {
        for (long i = 0; i < 20; i++) {
            source.upsert(row("id", i, "n", (int) (i % 4), "x", (double) i));
        }
        assertThat(rows(records()
                        .aggregate(
                                Aggregate.count().where("n = 3").as("c"),
                                Aggregate.sum("id").where("n = 3 or id < 2").as("s"),
                                Aggregate.countDistinct("n")
                                        .where("n > 1 and x > 4")
                                        .as("d"),
                                Aggregate.avg("x").where("n = 9").as("a"),
                                Aggregate.max("id - 1").where("n = 0").as("m"),
                                Aggregate.count())))
                .containsExactly("{c=5, s=56, d=2, a=null, m=15, count=20}");
    }

    // ---- more than the memory -------------------------------------------------------------------

    private RunOptions small() {
        return RunOptions.defaults()
                .withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN)
                .withSpill(disk, "spill");
    }

    private void many() {
        for (long i = 0; i < 3_000; i++) {
            source.upsert(row("id", i, "n", (int) (i % 1_500), "pad", "p".repeat((int) i % 70)));
        }
    }

    private List<Relation> large() {
        Query all = records().select("id", "pad");
        Query half = records().where("id >= 1500").select("id", "pad");
        return List.of(
                records().select("n").distinct().with(small()),
                SetOperation.union(all, half, all).with(small()),
                SetOperation.intersect(SetOperation.unionAll(all, all), half).with(small()),
                SetOperation.exceptAll(SetOperation.unionAll(half, all), all).with(small()));
    }

    @Test
    void rows_of_many_times_the_memory_come_out_right() {
        many();
        List<Integer> counts = List.of(1_500, 3_000, 1_500, 1_500);
        for (int i = 0; i < counts.size(); i++) {
            long before = disk.stepCount();
            Map<Object, Integer> seen = new HashMap<>();
            try (QueryResult result = large().get(i).run()) {
                while (result.next()) {
                    seen.merge(String.valueOf(result.map()), 1, Integer::sum);
                }
            }
            assertThat(seen).hasSize(counts.get(i));
            assertThat(seen.values()).containsOnly(1);
            assertThat(disk.stepCount()).isGreaterThan(before);
            nothing_is_left();
        }
        assertThatThrownBy(() -> rows(SetOperation.union(records().select("id", "pad"))
                        .with(RunOptions.defaults()
                                .withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN))))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContainingAll("telling", "memoryBytesMax", "spill");
    }

    @Test
    void a_failure_a_stop_or_a_close_leaves_nothing() {
        many();
        for (Relation relation : large()) {
            for (int moves : List.of(0, 1, 1_400, 2_900)) {
                source.failAfterMoves = source.moveCount.get() + moves;
                assertThatThrownBy(() -> rows(relation)).isInstanceOf(CorruptionException.class);
                nothing_is_left();
            }
            source.failAfterMoves = Integer.MAX_VALUE;
            for (OperationKind kind :
                    List.of(OperationKind.CREATE, OperationKind.WRITE, OperationKind.READ)) {
                disk.fault(FaultScript.with(Fault.EIO).on(kind).call(2));
                assertThatThrownBy(() -> rows(relation))
                        .as("%s", kind)
                        .isInstanceOf(StorageIoException.class);
                disk.clearFaults();
                nothing_is_left();
            }
            for (int count : List.of(0, 1, 1_400)) {
                try (QueryResult result = relation.run()) {
                    for (int i = 0; i < count; i++) {
                        assertThat(result.next()).isTrue();
                    }
                }
                nothing_is_left();
            }
        }
        AtomicInteger left = new AtomicInteger(4);
        assertThatThrownBy(() -> rows(SetOperation.union(records().select("id"))
                        .with(small().withStop(() -> left.decrementAndGet() < 0))))
                .isInstanceOf(CancellationException.class);
    }
}
