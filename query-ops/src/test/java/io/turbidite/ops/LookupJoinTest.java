package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.Conditions;
import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.join.LookupJoin;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

class LookupJoinTest {
    private static final RecordType TYPE = RecordType.of(List.of(
            new Field("id", TypeKind.INT64, false), new Field("text", TypeKind.STRING, false)));
    private static final KeySpec KEY = KeySpec.of(TYPE, List.of("id"), "key");
    private static final long NO_KEY = -1;

    private final OperatorMeter meter = new OperatorMeter();

    /** Tuples of a key, or none, and their number as text. */
    private static final class Numbers implements FrameSource {
        private final List<Long> ids;
        private final FrameEmitter output;
        private int next;
        private boolean open;

        Numbers(List<Long> ids, FrameWriter target, int tuplesPerFrame) {
            this.ids = ids;
            this.output = new FrameEmitter(target, 2, tuplesPerFrame);
        }

        @Override
        public void open() {
            open = true;
        }

        @Override
        public boolean step() {
            assertThat(open).isTrue();
            while (next < ids.size()) {
                long id = ids.get(next);
                Slice key = id == NO_KEY ? new Slice() : Slice.of(KEY.encode(id));
                byte[] number = Integer.toString(next++).getBytes(StandardCharsets.UTF_8);
                if (output.emit(new Slice[] {key, Slice.of(number)})) {
                    return output.wanted();
                }
            }
            output.flush();
            return false;
        }

        @Override
        public void close() {
            open = false;
        }
    }

    /** What arrives, as {@code number=text}. */
    private static final class Rows implements FrameWriter {
        private final List<String> rows = new ArrayList<>();
        private int frames;

        @Override
        public void open() {
            rows.clear();
        }

        @Override
        public boolean frame(Frame frame) {
            frames++;
            Slice slice = new Slice();
            RecordView view = new RecordView(TYPE);
            for (int t = 0; t < frame.tupleCount(); t++) {
                String number = frame.field(t, 0, slice).toUtf8();
                boolean matched = frame.field(t, 1, slice).length() > 0;
                rows.add(number + "=" + (matched ? view.wrap(slice).get(1) : "none"));
            }
            return true;
        }

        @Override
        public void fail() {
            rows.clear();
        }

        @Override
        public void close() {
            assertThat(frames).isNotNegative();
        }
    }

    private static MemorySource source(int count, int textLength) {
        MemorySource source = new MemorySource(TYPE, List.of("id"), List.of(), List.of(), 3);
        for (long id = 0; id < count; id++) {
            source.upsert(Map.of("id", id, "text", id % 10 + "x".repeat(textLength)));
        }
        return source;
    }

    private Rows join(
            MemorySource source, Conditions conditions, List<Long> ids, boolean keeps, int bytes) {
        Rows rows = new Rows();
        try (ReadView view = source.openView()) {
            LookupJoin.Inner inner = new LookupJoin.Inner(view, conditions.compile(), keeps, bytes);
            LookupJoin join =
                    new LookupJoin(inner, target -> new Numbers(ids, target, 100), 2, rows, meter);
            rows.open();
            join.open();
            int before = -1;
            boolean more = true;
            while (more) {
                more = join.step();
                assertThat(rows.frames - before).isLessThanOrEqualTo(before < 0 ? 2 : 1);
                before = rows.frames;
            }
            join.close();
        }
        return rows;
    }

    @Test
    void each_tuple_meets_the_record_of_its_key_in_the_order_of_the_outer_source() {
        SplittableRandom random = new SplittableRandom(Seeds.of("LookupJoinTest"));
        MemorySource source = source(500, 300); // frames of records are more than those of keys
        Conditions evens = Conditions.of(TYPE, List.of(Predicates.parseRange("text=..5")));
        for (boolean keeps : new boolean[] {false, true}) {
            List<Long> ids = new ArrayList<>();
            List<String> expected = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                long id = random.nextInt(8) == 0 ? NO_KEY : random.nextInt(700);
                ids.add(id);
                if (id != NO_KEY && id < 500 && id % 10 < 5) {
                    expected.add(i + "=" + id % 10 + "x".repeat(300));
                } else if (keeps) {
                    expected.add(i + "=none");
                }
            }
            assertThat(join(source, evens, ids, keeps, 1 << 20).rows).isEqualTo(expected);
        }
    }

    @Test
    void an_outer_source_without_keys_reads_nothing() {
        MemorySource source = source(5, 1);
        Conditions all = Conditions.of(TYPE, List.of());
        assertThat(join(source, all, List.of(NO_KEY, NO_KEY), false, 1_024).rows)
                .isEmpty();
        assertThat(join(source, all, List.of(), true, 1_024).rows).isEmpty();
        assertThat(meter.rows()).isZero();
    }

    @Test
    void records_beyond_the_memory_are_refused() {
        MemorySource source = source(50, 300);
        Conditions all = Conditions.of(TYPE, List.of());
        List<Long> ids = new ArrayList<>();
        for (long id = 0; id < 50; id++) {
            ids.add(id);
        }
        assertThatThrownBy(() -> join(source, all, ids, false, 4_096))
                .isInstanceOf(InvalidRequestException.class);
    }
}
