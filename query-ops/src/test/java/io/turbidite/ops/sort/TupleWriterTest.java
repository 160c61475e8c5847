package io.turbidite.ops.sort;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** A collector gives the same, whether tuples come in frames or where they lie. */
class TupleWriterTest {
    private static final int LIMIT = 700;

    private static Slice slice(String text) {
        return Slice.of(text.getBytes(StandardCharsets.UTF_8));
    }

    private static List<String> rows(SortCollector collector) {
        List<String> rows = new ArrayList<>();
        FrameWriter reader = new FrameWriter() {
            @Override
            public void open() {
                rows.clear();
            }

            @Override
            public boolean frame(Frame frame) {
                for (int i = 0; i < frame.tupleCount(); i++) {
                    rows.add(frame.field(i, 0, new Slice()).toUtf8());
                }
                return true;
            }

            @Override
            public void fail() {
                rows.clear();
            }

            @Override
            public void close() {
                rows.add("end");
            }
        };
        SortedSource source = new SortedSource(
                List.of(collector), LIMIT, SortedSource.ALL, new OperatorMeter(), reader);
        source.open();
        while (source.step()) {
            assertThat(rows).hasSizeLessThanOrEqualTo(LIMIT);
        }
        source.close();
        return rows;
    }

    @Test
    void a_tuple_whose_key_is_dropped_needs_no_row() {
        SplittableRandom random = new SplittableRandom(11);
        TreeMap<String, String> all = new TreeMap<>();
        SortCollector one = new SortCollector(RunOptions.defaults(), 1 << 20, LIMIT);
        SortCollector other = new SortCollector(RunOptions.defaults(), 1 << 20, LIMIT);
        one.open();
        other.open();
        FrameEmitter frames = new FrameEmitter(other, 2, Long.MAX_VALUE);
        int droppedCount = 0;
        for (int i = 0; i < 20_000; i++) {
            String key = String.format(Locale.ROOT, "%06d-%05d", random.nextInt(1_000_000), i);
            String row = "row " + key;
            all.put(key, row);
            frames.emit(new Slice[] {slice(key), slice(row)});
            boolean dropped = one.drops(slice(key.substring(0, 6)));
            if (dropped) {
                droppedCount++;
                assertThat(one.drops(slice(key)))
                        .as("what begins so lies above")
                        .isTrue();
            }
            one.tuple(new Slice[] {slice(key), dropped ? slice("") : slice(row)});
        }
        frames.flush();
        one.close();
        other.close();
        assertThat(droppedCount).isBetween(10_000, 19_000);
        List<String> expected = all.values().stream().limit(LIMIT).toList();
        assertThat(rows(one)).isEqualTo(expected);
        assertThat(rows(other)).isEqualTo(expected);
    }

    @Test
    void a_collector_of_nothing_wants_nothing() {
        SortCollector none = new SortCollector(RunOptions.defaults(), 1 << 20, 0);
        none.open();
        assertThat(none.drops(slice("a"))).isTrue();
        assertThat(none.tuple(new Slice[] {slice("a"), slice("row")})).isFalse();
        none.close();
        assertThat(rows(none)).isEmpty();
    }
}
