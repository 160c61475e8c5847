package io.turbidite.ops.sort;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.scan.QueryMeans;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.core.sort.SortedMerge;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.OperatorMemory;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;

import java.util.Arrays;

class SpilledRunsTest {
    private static final long MIB = 1 << 20;

    @Test
    void the_share_is_kept_while_there_are_runs() {
        try (Tasks tasks = ThreadTasks.create("spilled-runs-test")) {
            QueryMemory memory = QueryMemory.of(
                    MemoryBudget.of(8 * MIB).account("queries"), tasks, Clock.system());
            RunOptions options = RunOptions.defaults()
                    .of(new QueryMeans(memory, new SimDisk(1, Profile.STRICT), "spill", tasks));
            OperatorMemory buffers = OperatorMemory.of(options, options.memoryBytesMax());
            assertThat(buffers.take(100)).isNotNull();
            assertThat(memory.bytesUsed()).isEqualTo(MIB);
            try (SpilledRuns runs = new SpilledRuns(options, MIB)) {
                buffers.close();
                assertThat(memory.bytesUsed()).isEqualTo(MIB);
                assertThat(runs.inputs()).isEmpty();
            }
            assertThat(memory.bytesUsed()).isZero();
        }
    }

    /** Each run that is read has a buffer of its longest row, which counts. */
    @Test
    void runs_of_long_rows_are_read_within_the_memory_there_is() {
        long memoryBytes = 2 * MIB;
        OperatorMeter meter = new OperatorMeter();
        RunOptions options =
                RunOptions.defaults().withSpill(new SimDisk(1, Profile.STRICT), "spill");
        try (SortBuffer buffer =
                        new SortBuffer(OperatorMemory.of(RunOptions.defaults(), memoryBytes));
                SpilledRuns runs = new SpilledRuns(options, memoryBytes, meter)) {
            for (int i = 0; i < 40; i++) {
                byte[] payload = new byte[200_000 + i * 1_500];
                Arrays.fill(payload, (byte) i);
                byte[] key = {(byte) (i * 7 % 40)};
                assertThat(buffer.add(Slice.of(key), i, Slice.of(payload))).isNotNegative();
                runs.add(buffer, Long.MAX_VALUE);
            }
            SortedInput rows = SortedMerge.of(runs.inputs());
            for (int i = 0; i < 40; i++) {
                assertThat(rows.next()).isTrue();
                assertThat(rows.key().byteAt(0)).isEqualTo((byte) i);
                int number = (int) rows.number();
                assertThat(number * 7 % 40).isEqualTo(i);
                assertThat(rows.payload().length()).isEqualTo(200_000 + number * 1_500);
            }
            assertThat(rows.next()).isFalse();
        }
        // one more block is the writer's, and a piece may be longer than the row that it serves
        long slack = (64 << 10) + 260_000;
        assertThat(meter.work().memoryBytesMax()).isLessThanOrEqualTo(memoryBytes + slack);
    }
}
