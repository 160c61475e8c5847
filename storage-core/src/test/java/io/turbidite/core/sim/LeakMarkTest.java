package io.turbidite.core.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
            assertThat(before.opened()).containsExactly("worker forgotten/worker");
        }
        assertThat(before.opened()).isEmpty();
    }

    @Test
    void memory_of_an_arena_that_is_not_closed_is_named() {
        LeakMark before = LeakMark.take();
        try (Arena arena = NativeMemory.shared("forgotten")) {
            MemorySegment segment = arena.allocate(4_096);
            assertThat(before.opened())
                    .containsExactly("memory of forgotten: an arena of 4096 bytes");
            assertThat(segment.byteSize()).isEqualTo(4_096);
        }
        assertThat(before.opened()).isEmpty();
    }

    @Test
    void an_account_that_is_charged_is_named() {
        LeakMark before = LeakMark.take();
        MemoryBudget.Account account = MemoryBudget.of(100).account("forgotten");
        assertThat(account.reserve(10)).isTrue();
        assertThat(before.opened()).containsExactly("memory of forgotten: 10 of 100 bytes");
        account.release(10);
        assertThat(before.opened()).isEmpty();
    }
}
