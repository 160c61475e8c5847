package io.turbidite.ops.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.MemoryCheck;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.ops.frame.Frame;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.CompletableFuture;

/** Frames are drawn of the share once, by whichever worker is first. */
class JobFramesTest {
    private static final long MEMORY_BYTES = QueryMemory.BYTES_MIN;

    /** Refuses the first draw, during which another worker asks for a frame. */
    private static final class Meanwhile implements MemoryCheck {
        private final JobFrames frames;
        private final CompletableFuture<Frame> other = new CompletableFuture<>();
        private boolean asked;

        Meanwhile(JobFrames frames) {
            this.frames = frames;
        }

        @Override
        public boolean reserves(String owner, long bytes) {
            if (asked || !owner.equals("queries") || bytes <= QueryMemory.LEAST_BYTES) {
                return true;
            }
            asked = true;
            Thread worker =
                    new Thread(() -> other.completeAsync(frames::take, Runnable::run), "other");
            worker.start();
            while (!other.isDone() && worker.getState() != Thread.State.BLOCKED) {
                Thread.onSpinWait();
            }
            return false;
        }

        @Override
        public void allocates(String owner, long bytes) {
            // there is some
        }
    }

    @Test
    @Timeout(60)
    void no_worker_takes_a_frame_while_another_one_draws_them() throws Exception {
        try (Tasks tasks = ThreadTasks.create("job-frames-test")) {
            QueryMemory memory = QueryMemory.of(
                    MemoryBudget.of(MEMORY_BYTES).account("queries"), tasks, Clock.system());
            JobFrames frames = new JobFrames(
                    MemoryBudget.of(MEMORY_BYTES).account("frames"),
                    JobFrames.FRAME_BYTES_MAX,
                    32,
                    1,
                    memory.share(MEMORY_BYTES, () -> false));
            Meanwhile meanwhile = new Meanwhile(frames);
            Frame own = ScopedValue.where(MemoryCheck.BOUND, meanwhile).call(frames::take);
            Frame other = meanwhile.other.get();
            assertThat(own.bytes()).isEqualTo(JobFrames.FRAME_BYTES_MAX / 2);
            assertThat(other.bytes()).isEqualTo(own.bytes());
            frames.give(own);
            frames.give(other);
            frames.close();
            assertThat(memory.bytesUsed()).isZero();
        }
    }
}
