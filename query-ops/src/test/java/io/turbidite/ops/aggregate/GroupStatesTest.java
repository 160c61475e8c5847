package io.turbidite.ops.aggregate;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.TupleMaker;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/** The two halves of aggregates by themselves: rows to states, and states to results. */
class GroupStatesTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("n", "int64?")
            .field("x", "double?")
            .field("d", "decimal?")
            .field("s", "string?")
            .build();
    private static final List<Aggregate> ALL = List.of(
            Aggregate.count(),
            Aggregate.count("s"),
            Aggregate.sum("n"),
            Aggregate.avg("n"),
            Aggregate.sum("x"),
            Aggregate.variance("x"),
            Aggregate.sum("d"),
            Aggregate.avg("d"),
            Aggregate.min("s"),
            Aggregate.max("s"),
            Aggregate.min("x"),
            Aggregate.max("n"));

    private final BoundAggregates bound = BoundAggregates.of(
            TYPE, ALL, name -> BoundAggregates.Argument.ofField(TYPE, TYPE.indexOf(name)));

    /** Arguments of a row, as they leave a record. */
    private List<Slice> arguments(List<Map<String, @Nullable Object>> records) {
        TupleMaker maker = bound.maker(new TupleMaker() {
            @Override
            public int fieldCount() {
                return 1;
            }

            @Override
            public Slice[] make(RecordStream at, RecordView view) {
                return new Slice[] {new Slice()};
            }
        });
        RecordWriter writer = new RecordWriter(TYPE);
        RecordView view = new RecordView(TYPE);
        List<Slice> all = new ArrayList<>();
        for (Map<String, @Nullable Object> record : records) {
            view.wrap(Slice.of(writer.write(record).toByteArray()));
            all.add(Slice.of(maker.make(new NoStream(), view)[1].toByteArray()));
        }
        return all;
    }

    /** The tuples are made of the record alone: a question to its stream fails the test. */
    private static final class NoStream implements RecordStream {
        @Override
        public boolean next() {
            throw new AssertionError("nobody asks where the record comes from");
        }

        @Override
        public Slice key() {
            throw new AssertionError("nobody asks where the record comes from");
        }

        @Override
        public long timestamp() {
            throw new AssertionError("nobody asks where the record comes from");
        }

        @Override
        public Slice record() {
            throw new AssertionError("nobody asks where the record comes from");
        }

        @Override
        public long visitedCount() {
            throw new AssertionError("nobody asks where the record comes from");
        }

        @Override
        public void close() {
            throw new AssertionError("nobody asks where the record comes from");
        }
    }

    /** Partial half: what the states of some rows are, as many as they need. */
    private List<Slice> partial(List<Slice> rows) {
        GroupStates states = bound.states();
        List<Slice> made = new ArrayList<>();
        for (Slice row : rows) {
            if (made.isEmpty()) {
                made.add(Slice.of(states.first(row).toByteArray()));
            } else if (!states.takes(made.getLast(), row)) {
                made.add(Slice.of(states.larger(made.getLast(), row).toByteArray()));
            }
            assertThat(states.takes(made.getLast(), row)).isTrue();
            states.add(made.getLast(), row);
        }
        return made;
    }

    /** Final half: the results of some states. */
    private Map<String, @Nullable Object> results(List<Slice> partials) {
        GroupStates states = bound.states();
        states.begin();
        partials.forEach(states::merge);
        states.finish();
        RecordType rowType = RecordType.of(bound.resultFields());
        RecordWriter row = new RecordWriter(rowType);
        row.begin();
        for (int i = 0; i < bound.count(); i++) {
            states.write(i, row, i);
            states.appendKey(i, new ByteSink(16, 1 << 20));
        }
        return new RecordView(rowType).wrap(row.finish()).toMap();
    }

    @Test
    void the_states_of_any_parts_in_any_order_give_one_result() {
        SplittableRandom random = new SplittableRandom(Seeds.of("GroupStatesTest#parts"));
        for (int run = 0; run < 200; run++) {
            List<Map<String, @Nullable Object>> records = new ArrayList<>();
            for (int i = random.nextInt(40); i > 0; i--) {
                records.add(record(random));
            }
            List<Slice> rows = arguments(records);
            Map<String, @Nullable Object> whole = results(partial(rows));
            List<Slice> partials = new ArrayList<>();
            int from = 0;
            while (from < rows.size()) {
                int to = Math.min(rows.size(), from + 1 + random.nextInt(9));
                partials.addAll(
                        random.nextInt(partials.size() + 1), partial(rows.subList(from, to)));
                from = to;
            }
            Map<String, @Nullable Object> parts = results(partials);
            assertThat(parts.keySet()).isEqualTo(whole.keySet());
            whole.forEach((name, value) -> {
                if (value instanceof Double real) {
                    double other = (Double) Objects.requireNonNull(parts.get(name));
                    assertThat(Math.abs(other - real)).as(name).isLessThan(1e-9);
                } else {
                    assertThat(parts.get(name)).as(name).isEqualTo(value);
                }
            });
            long count =
                    records.stream().filter(record -> record.get("s") != null).count();
            assertThat(whole).containsEntry("count_s", count);
        }
    }

    private static Map<String, @Nullable Object> record(SplittableRandom random) {
        Map<String, @Nullable Object> record = new LinkedHashMap<>();
        record.put("n", random.nextLong() >> random.nextInt(10, 60));
        record.put("x", random.nextInt(-99, 99) / 4.0);
        record.put("d", BigDecimal.valueOf(random.nextInt(), random.nextInt(8)));
        record.put("s", "s".repeat(random.nextInt(1 << random.nextInt(8))));
        record.values().removeIf(_ -> random.nextInt(4) == 0);
        return record;
    }

    @Test
    void zeros_are_the_state_of_no_row() {
        Map<String, @Nullable Object> none = results(List.of());
        assertThat(none).containsEntry("count", 0L).containsEntry("count_s", 0L);
        none.forEach((name, value) -> {
            if (!name.startsWith("count")) {
                assertThat(value).as(name).isNull();
            }
        });
    }

    @Test
    void counts_are_required_fields_and_the_rest_are_optional() {
        assertThat(bound.resultFields().stream().filter(field -> !field.optional()))
                .extracting(Field::name)
                .containsExactly("count", "count_s");
    }
}
