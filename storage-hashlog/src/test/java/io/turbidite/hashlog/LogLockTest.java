package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.ForwardingDisk;
import io.turbidite.core.file.ForwardingFile;
import io.turbidite.core.file.LockAnswer;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.hashlog.psf.PsfDefinition;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One process holds a log: whatever is decided is decided under its lock, and the lock is looked
 * after.
 */
class LogLockTest {
    private static final long SEED = 17;
    private static final String LOCK = "log/LOCK";
    private static final String REGISTRY = "log/HASHLOG";

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);

    /** Runs something just before the lock is taken: another process is faster. */
    private record Overtaken(Disk disk, Runnable other) implements ForwardingDisk {
        @Override
        public LockAnswer tryLock(String name) {
            other.run();
            return disk.tryLock(name);
        }
    }

    private static void append(IngestSession session, int count) {
        for (int i = 0; i < count; i++) {
            session.append(LogBench.segment("{\"id\":%04d}".formatted(i).repeat(100)), 0, 1_000);
        }
    }

    private static Map<String, ByteBuffer> contents(SimDisk of) {
        Map<String, ByteBuffer> contents = new HashMap<>();
        for (String name : of.files()) {
            if (!name.equals(LOCK)) {
                contents.put(name, ByteBuffer.wrap(of.content(name)));
            }
        }
        return contents;
    }

    @Test
    void a_lock_file_that_is_deleted_or_replaced_ends_writing_within_a_second() {
        for (boolean replaced : List.of(false, true)) {
            SimDisk each = new SimDisk(SEED, Profile.STRICT);
            Map<String, ByteBuffer> before;
            try (LogBench bench = LogBench.simulated(SEED, each, LogBench.options())) {
                IngestSession session = bench.log.openSession("s");
                append(session, 10);
                session.awaitDurable();
                each.delete(LOCK);
                if (replaced) {
                    each.put(LOCK, new byte[0]);
                }
                bench.run(1_000_000);
                before = contents(each);
                assertThatThrownBy(() -> append(session, 1))
                        .isInstanceOf(StoreFailedException.class)
                        .hasMessageContaining("LOCK");
                assertThatThrownBy(() -> bench.log.openSession("t"))
                        .isInstanceOf(StoreFailedException.class)
                        .hasMessageContaining("LOCK");
                assertThatThrownBy(() -> bench.log.truncate(bench.log.log().durable()))
                        .isInstanceOf(StoreFailedException.class);
            }
            assertThat(contents(each)).isEqualTo(before);
        }
    }

    /** A disk on which another process has files of some kind locked. */
    private record Elsewhere(Disk disk, String kind) implements ForwardingDisk {
        @Override
        public DiskFile open(String name) {
            DiskFile file = disk.open(name);
            return !name.contains(kind) ? file : new TakenFile(file);
        }
    }

    private record TakenFile(DiskFile file) implements ForwardingFile {
        @Override
        public boolean tryLock() {
            return false;
        }
    }

    @Test
    void who_comes_in_past_a_deleted_lock_file_is_refused_and_changes_nothing() {
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            append(session, 40);
        }
        for (String kind : List.of("TAIL", ".pages")) {
            SimDisk each = disk.copy();
            Map<String, ByteBuffer> before = contents(each);
            Disk elsewhere = new Elsewhere(each, kind);
            assertThatThrownBy(() -> LogBench.reopened(SEED, elsewhere, LogBench.options()))
                    .as(kind)
                    .isInstanceOf(StoreInUseException.class)
                    .hasMessageContaining(each.description() + "/log")
                    .hasMessageEndingWith("in use by another process");
            assertThat(contents(each)).as(kind).isEqualTo(before);
            assertThat(each.openHandles()).isEmpty();
        }
        LogBench.reopened(SEED, disk, LogBench.options()).close();
    }

    @Test
    void the_lock_file_is_looked_at_before_the_registry_is_changed() {
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            byte[] before = disk.content(REGISTRY);
            disk.delete(LOCK);
            assertThatThrownBy(() -> bench.register("id"))
                    .isInstanceOf(StoreFailedException.class)
                    .hasMessageContaining("LOCK");
            assertThat(disk.content(REGISTRY)).isEqualTo(before);
            assertThat(bench.log.psfs()).isEmpty();
        }
    }

    @Test
    void the_lock_file_is_looked_at_before_a_segment_is_made() {
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            disk.delete(LOCK);
            IngestSession session = bench.log.openSession("s");
            append(session, 1);
            assertThatThrownBy(session::awaitDurable)
                    .isInstanceOf(StoreFailedException.class)
                    .hasMessageContaining("LOCK");
            assertThat(disk.list("log")).noneMatch(name -> name.contains(".pages"));
        }
    }

    @Test
    void a_log_that_is_read_goes_on_without_its_lock_file() {
        LogBench.simulated(SEED, disk, LogBench.options()).close();
        try (LogBench bench = LogBench.reading(SEED, disk, LogBench.options())) {
            disk.delete(LOCK);
            bench.run(1_000_000);
            try (LogCursor cursor = bench.log.find(LogQuery.all())) {
                assertThat(cursor.next()).isFalse();
            }
        }
    }

    @Test
    void whether_there_is_a_log_is_decided_under_the_lock() {
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            try (IngestSession session = bench.log.openSession("s")) {
                append(session, 10);
            }
        }
        byte[] registry = disk.content(REGISTRY);
        disk.delete(REGISTRY);
        Disk overtaken = new Overtaken(disk, () -> disk.put(REGISTRY, registry));
        try (LogBench bench = LogBench.reopened(SEED, overtaken, LogBench.options())) {
            assertThat(bench.log.recoveredSessions()).containsExactly("s");
        }
    }

    @Test
    void a_directory_without_a_log_gets_no_lock_file() {
        disk.createDirectories("log");
        assertThatThrownBy(() -> LogBench.reading(SEED, disk, LogBench.options()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("no hash log");
        assertThat(disk.files()).isEmpty();
    }

    /** What is thrown when the registry's new name is made durable, once. */
    private static final class Uncertain implements ForwardingDisk {
        private final Disk disk;
        private @Nullable Error error;

        Uncertain(Disk disk) {
            this.disk = disk;
        }

        @Override
        public Disk disk() {
            return disk;
        }

        @Override
        public void syncDirectory(String directory) {
            Error now = error;
            error = null;
            if (now != null) {
                throw now;
            }
            disk.syncDirectory(directory);
        }
    }

    private interface Change {
        void on(HashLog log);
    }

    @Test
    void after_a_change_of_the_registry_with_an_unknown_outcome_nothing_is_taken() {
        PsfDefinition id = PsfDefinition.parse("field(id)");
        Map<String, Change> changes = Map.of(
                "register", log -> log.register("id", id),
                "registerAll", log -> log.registerAll(Map.of("a", id, "b", id), 1),
                "deregister", log -> log.deregister(0));
        changes.forEach((name, change) -> {
            for (Error error : List.of(new OutOfMemoryError("x"), new AssertionError("x"))) {
                SimDisk each = new SimDisk(SEED, Profile.STRICT);
                Uncertain uncertain = new Uncertain(each);
                try (LogBench bench = LogBench.simulated(SEED, uncertain, LogBench.options())) {
                    bench.register("type");
                    uncertain.error = error;
                    assertThatThrownBy(() -> change.on(bench.log))
                            .as(name)
                            .isInstanceOf(StoreFailedException.class)
                            .hasCause(error);
                    assertThatThrownBy(() -> bench.log.register("x", id))
                            .as(name)
                            .isInstanceOf(StoreFailedException.class)
                            .hasMessageContaining("reopen");
                    assertThatThrownBy(() -> bench.log.openSession("s"))
                            .as(name)
                            .isInstanceOf(StoreFailedException.class);
                }
                try (LogBench bench = LogBench.reopened(SEED, each, LogBench.options())) {
                    bench.register("x");
                }
            }
        });
    }

    @Test
    void a_segment_whose_name_may_not_be_durable_ends_writing() {
        Uncertain uncertain = new Uncertain(disk);
        try (LogBench bench = LogBench.simulated(SEED, uncertain, LogBench.options())) {
            IngestSession session = bench.log.openSession("s");
            append(session, 1);
            uncertain.error = new OutOfMemoryError("x");
            assertThatThrownBy(session::awaitDurable).isInstanceOf(StoreFailedException.class);
        }
    }
}
