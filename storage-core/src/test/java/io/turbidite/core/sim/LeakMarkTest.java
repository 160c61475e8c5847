package io.turbidite.core.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;

/** The leak check bites. */
class LeakMarkTest {
    @Test
    void a_simulated_file_that_is_not_closed_is_named() {
        LeakMark before = LeakMark.take();
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (DiskFile file = disk.create("forgotten")) {
            assertThat(file.size()).isZero();
            assertThat(before.opened()).singleElement().asString().contains("forgotten");
        }
        assertThat(before.opened()).isEmpty();
    }

    @Test
    void a_real_file_that_is_not_closed_is_named(@TempDir Path directory) {
        Assumptions.assumeTrue(System.getProperty("os.name").equals("Linux"));
        LeakMark before = LeakMark.take();
        try (DiskFile file = RealDisk.open(directory).create("forgotten")) {
            assertThat(file.size()).isZero();
            assertThat(before.opened()).singleElement().asString().contains("forgotten");
        }
        assertThat(before.opened()).isEmpty();
    }

    @Test
    void a_thread_that_goes_on_is_named() {
        LeakMark before = LeakMark.take();
        try (Tasks tasks = ThreadTasks.create("forgotten")) {
            var _ = tasks.start("worker", Long.MAX_VALUE, () -> false);
            assertThat(before.opened()).containsExactly("thread forgotten/worker");
        }
        assertThat(before.opened()).isEmpty();
    }

    @Test
    void memory_of_an_arena_that_is_not_closed_is_counted() {
        Assumptions.assumeTrue(ManagementFactory.getRuntimeMXBean()
                .getInputArguments()
                .contains("-XX:NativeMemoryTracking=summary"));
        LeakMark before = LeakMark.take();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment forgotten = arena.allocate(4 << 20);
            assertThat(before.grownBytes()).isGreaterThanOrEqualTo(forgotten.byteSize());
        }
        assertThat(before.grownBytes()).isZero();
    }
}
