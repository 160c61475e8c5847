package io.turbidite.ops.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.aggregate.BoundAggregates;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.RowSink;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

class GroupSpillTest {
    private static final int TUPLE_COUNT = 60_000;
    private static final int GROUP_COUNT = 7_000;

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final TreeMap<Long, Long> expected = new TreeMap<>();

    /** Counts numbers in two collectors and returns what their source makes of them. */
    private NavigableMap<Long, Long> groups(RunOptions options, int memoryBytes) {
        List<GroupCollector> collectors = List.of(
                new GroupCollector(options, memoryBytes), new GroupCollector(options, memoryBytes));
        collectors.forEach(GroupCollector::open);
        RowSink sink = new RowSink();
        OperatorMeter meter = new OperatorMeter();
        Field field = new Field("n", TypeKind.INT64, true);
        GroupRows rows = GroupRows.ofFields(List.of(field), List.of(), BoundAggregates.NONE);
        NavigableMap<Long, Long> groups = new TreeMap<>();
        expected.clear();
        try (GroupSource source = new GroupSource(collectors, rows, meter, sink, 1_000, () -> {})) {
            count(collectors);
            source.open();
            RecordView row =
                    new RecordView(GroupRows.rowType(List.of(field), BoundAggregates.NONE));
            Slice slice = new Slice();
            boolean more = true;
            while (more) {
                more = source.step();
                while (sink.next(slice)) {
                    row.wrap(slice);
                    assertThat(groups.isEmpty() || row.getLong(0) > groups.lastKey())
                            .isTrue();
                    groups.put(row.getLong(0), row.getLong(1));
                }
            }
        }
        assertThat(meter.rows()).isEqualTo(groups.size());
        return groups;
    }

    private void count(List<GroupCollector> collectors) {
        List<FrameEmitter> emitters = collectors.stream()
                .map(collector -> new FrameEmitter(collector, 1, Long.MAX_VALUE))
                .toList();
        SplittableRandom random = new SplittableRandom(3);
        ByteSink sink = new ByteSink(16, 16);
        Slice[] tuple = {new Slice()};
        for (int i = 0; i < TUPLE_COUNT; i++) {
            long number = random.nextLong(GROUP_COUNT) - GROUP_COUNT / 2;
            KeyCodec.appendLong(sink.clear(), number);
            sink.asSlice(tuple[0]);
            emitters.get(i & 1).emit(tuple);
            expected.merge(number, 1L, Long::sum);
        }
        emitters.forEach(FrameEmitter::flush);
        collectors.forEach(GroupCollector::close);
    }

    @Test
    void groups_in_memory_of_two_collectors_are_added_up() {
        assertThat(groups(RunOptions.defaults(), 4 << 20)).isEqualTo(expected);
    }

    @Test
    void groups_that_do_not_fit_are_counted_through_runs() {
        RunOptions options = RunOptions.defaults().withSpill(disk, "spill");
        assertThat(groups(options, 64 << 10)).isEqualTo(expected);
        assertThat(disk.stepCount()).isPositive();
        assertThat(disk.files()).isEmpty();
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void no_note_is_believed_behind_a_spill_however_many_there_were() {
        GroupCollector collector = new GroupCollector(RunOptions.defaults(), 1 << 20);
        Slice group = Slice.of(new byte[] {1});
        int noted = 0;
        for (int spill = 0; spill < 40_000; spill++) {
            collector.open(); // empties the table as a spill does
            long note = collector.add(group, Slice.of(new byte[0]));
            noted += note == 0 ? 0 : 1;
            collector.open();
            assertThat(collector.addNoted(note, group)).as("spill %d", spill).isFalse();
        }
        assertThat(noted).isGreaterThan(10_000);
        collector.fail();
        collector.close();
    }

    @Test
    void without_a_place_to_spill_it_says_what_to_do() {
        assertThatThrownBy(() -> groups(RunOptions.defaults(), 64 << 10))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContainingAll("groups", "memoryBytesMax", "spill");
    }
}
