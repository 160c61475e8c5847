package io.turbidite.ops.sort;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.scan.QueryMeans;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.ops.run.OperatorMemory;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;

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
}
