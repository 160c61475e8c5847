package io.turbidite.core.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StorageIoException.Kind;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Files past the page cache hold what was written, byte for byte, whatever the callers' alignment.
 */
class DirectDiskTest {
    @TempDir
    private Path directory;

    private final MemoryBudget budget = MemoryBudget.of(64 << 20);
    private final MemoryBudget.Account account = budget.account("direct I/O");
    private final AtomicInteger refusals = new AtomicInteger();

    private DirectDisk over(Disk disk) {
        return new DirectDisk(disk, account, refusals::incrementAndGet);
    }

    /** Whether a test about real direct files can show anything here; says so if not. */
    private static boolean offersDirectIo(Disk disk) {
        disk.create("probe").close();
        DiskFile probe = disk.openDirect("probe");
        disk.delete("probe");
        if (probe == null) {
            System.out.println("SKIPPED: " + disk.description()
                    + " refuses direct I/O; nothing about a real direct file was shown");
            return false;
        }
        probe.close();
        return true;
    }

    @Test
    void what_is_appended_is_read_back_in_any_piece_on_the_simulated_disk() {
        long seed = Seeds.of("DirectDiskTest");
        SimDisk sim = new SimDisk(seed, Profile.STRICT);
        roundTrip(sim, seed);
        assertThat(sim.openHandles()).isEmpty();
        assertThat(refusals).hasValue(0);
    }

    @Test
    void what_is_appended_is_read_back_in_any_piece_on_a_real_disk() {
        RealDisk real = RealDisk.open(directory);
        if (offersDirectIo(real)) {
            roundTrip(real, Seeds.of("DirectDiskTest"));
            assertThat(real.openHandleCount()).isZero();
            assertThat(refusals).hasValue(0);
        }
    }

    private void roundTrip(Disk below, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        byte[] bytes = new byte[(3 << 20) + random.nextInt(10_000)];
        random.nextBytes(bytes);
        try (DirectDisk disk = over(below);
                Arena arena = Arena.ofConfined()) {
            try (DiskFile file = disk.create("f")) {
                assertThat(file.blockBytes()).isGreaterThan(1);
                for (int at = 0; at < bytes.length; ) {
                    int step = Math.min(
                            bytes.length - at,
                            random.nextInt(4) == 0 ? 1 << 20 : random.nextInt(20_000));
                    file.write(at, MemorySegment.ofArray(bytes), at, step);
                    at += step;
                    assertThat(file.size()).isEqualTo(at);
                    if (random.nextInt(20) == 0) {
                        file.sync();
                        assertContent(below, Arrays.copyOf(bytes, at));
                    }
                }
                file.sync();
            }
            assertContent(below, bytes);
            try (DiskFile file = disk.openReadOnly("f")) {
                assertThat(file.size()).isEqualTo(bytes.length);
                MemorySegment aligned = arena.allocate(1 << 20, file.blockBytes());
                assertRead(file, 4L * file.blockBytes(), aligned, 0, 1 << 20, bytes);
                assertRead(file, bytes.length & -file.blockBytes(), aligned, 0, 1 << 20, bytes);
                for (int i = 0; i < 200; i++) {
                    int offset = random.nextInt(bytes.length + 5_000);
                    int count = random.nextInt(random.nextInt(4) == 0 ? 600_000 : 40_000);
                    boolean heap = random.nextBoolean();
                    MemorySegment target =
                            heap ? MemorySegment.ofArray(new byte[count + 3]) : aligned;
                    assertRead(file, offset, target, heap ? 3 : random.nextInt(64), count, bytes);
                }
                assertThat(account.bytesUsed()).isPositive();
            }
        }
        assertThat(account.bytesUsed()).isZero();
    }

    private static void assertContent(Disk disk, byte[] bytes) {
        try (DiskFile file = disk.openReadOnly("f")) {
            assertThat(file.size()).isEqualTo(bytes.length);
            MemorySegment content = MemorySegment.ofArray(new byte[bytes.length]);
            assertThat(file.read(0, content, 0, bytes.length)).isEqualTo(bytes.length);
            assertThat(content.mismatch(MemorySegment.ofArray(bytes))).isEqualTo(-1);
        }
    }

    private static void assertRead(
            DiskFile file, long fileOffset, MemorySegment target, int at, int count, byte[] bytes) {
        int there = Math.clamp(bytes.length - fileOffset, 0, count);
        assertThat(file.read(fileOffset, target, at, count)).isEqualTo(there);
        if (there > 0) {
            assertThat(MemorySegment.mismatch(
                            target,
                            at,
                            at + there,
                            MemorySegment.ofArray(bytes),
                            fileOffset,
                            fileOffset + there))
                    .as("%d bytes at %d", there, fileOffset)
                    .isEqualTo(-1);
        }
    }

    @Test
    void aligned_reads_are_one_read_each_and_borrow_nothing() {
        SimDisk sim = new SimDisk(1, Profile.STRICT);
        sim.put("f", new byte[1 << 20]);
        FaultScript reads =
                sim.fault(FaultScript.with(Fault.EIO).on(OperationKind.READ).call(Long.MAX_VALUE));
        try (DirectDisk disk = over(sim);
                Arena arena = Arena.ofConfined();
                DiskFile file = disk.openReadOnly("f")) {
            MemorySegment target = arena.allocate(512 << 10, 4 << 10);
            file.read(8 << 10, target, 4 << 10, 400 << 10);
            assertThat(reads.matchCount()).isEqualTo(1);
            assertThat(account.bytesUsed()).isZero();
            file.read((8 << 10) + 1, target, 4 << 10, 32 << 10);
            assertThat(reads.matchCount()).isEqualTo(2);
        }
    }

    @Test
    void a_file_system_that_refuses_is_used_with_its_page_cache_and_says_so_once() {
        SimDisk sim = new SimDisk(1, Profile.STRICT);
        sim.refuseDirect();
        try (DirectDisk disk = over(sim)) {
            assertThat(disk.isDirect()).isTrue();
            try (DiskFile file = disk.create("f")) {
                assertThat(file.blockBytes()).isEqualTo(1);
                file.write(0, MemorySegment.ofArray(new byte[] {7}), 0, 1);
            }
            assertThat(disk.isDirect()).isFalse();
            try (DiskFile file = disk.openReadOnly("f")) {
                assertThat(file.size()).isEqualTo(1);
            }
        }
        assertThat(refusals).hasValue(1);
        assertThat(account.bytesUsed()).isZero();
    }

    @Test
    void a_failed_open_or_create_is_an_error_and_no_refusal() {
        for (Fault fault : List.of(Fault.EMFILE, Fault.EIO)) {
            SimDisk sim = new SimDisk(1, Profile.STRICT);
            sim.put("f", new byte[10_000]);
            try (DirectDisk disk = over(sim)) {
                Kind kind = fault == Fault.EMFILE ? Kind.TOO_MANY_FILES : Kind.IO;
                sim.fault(FaultScript.with(fault)
                        .on(OperationKind.OPEN, OperationKind.CREATE)
                        .forever());
                assertFails(kind, () -> disk.openReadOnly("f"));
                assertFails(kind, () -> disk.create("g"));
                sim.clearFaults();
                assertThat(disk.isDirect()).isTrue();
                assertThat(sim.files()).containsExactly("f");
            }
        }
        assertThat(refusals).hasValue(0);
    }

    @Test
    void a_failed_read_gives_its_buffer_back_and_a_failed_write_loses_nothing() {
        SimDisk sim = new SimDisk(1, Profile.STRICT);
        byte[] bytes = new byte[(1 << 20) + 77];
        new SplittableRandom(1).nextBytes(bytes);
        MemorySegment source = MemorySegment.ofArray(bytes);
        try (DirectDisk disk = over(sim)) {
            try (DiskFile file = disk.create("f")) {
                file.write(0, source, 0, 1 << 20);
                sim.fault(FaultScript.with(Fault.ENOSPC).on(OperationKind.WRITE));
                assertFails(Kind.NO_SPACE, () -> file.write(1 << 20, source, 1 << 20, 77));
                assertThat(file.size()).isEqualTo(1 << 20);
                file.write(1 << 20, source, 1 << 20, 77);
                sim.fault(FaultScript.with(Fault.EIO).on(OperationKind.TRUNCATE));
                assertFails(Kind.IO, file::sync);
                file.sync();
            }
            assertContent(sim, bytes);
            try (DiskFile file = disk.openReadOnly("f")) {
                MemorySegment target = MemorySegment.ofArray(new byte[100]);
                for (int i = 0; i < 100; i++) {
                    sim.fault(FaultScript.with(Fault.EIO).on(OperationKind.READ));
                    assertFails(Kind.IO, () -> file.read(5, target, 0, 100));
                }
                assertRead(file, 5, target, 0, 100, bytes);
                assertThat(account.bytesUsed()).isEqualTo(320 << 10);
            }
        }
    }

    @Test
    void without_budget_nothing_is_opened_and_nothing_stays() {
        SimDisk sim = new SimDisk(1, Profile.STRICT);
        sim.put("f", new byte[10_000]);
        MemoryBudget.Account small = MemoryBudget.of(1_000).account("direct I/O");
        try (DirectDisk disk = new DirectDisk(sim, small, refusals::incrementAndGet)) {
            assertThatThrownBy(() -> disk.create("g"))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("raise it");
            assertThat(sim.files()).containsExactly("f");
            try (DiskFile file = disk.openReadOnly("f")) {
                MemorySegment target = MemorySegment.ofArray(new byte[10]);
                assertThatThrownBy(() -> file.read(0, target, 0, 10))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("raise it");
            }
        }
        assertThat(sim.openHandles()).isEmpty();
    }

    @Test
    void files_are_appended_to_only() {
        SimDisk sim = new SimDisk(1, Profile.STRICT);
        try (DirectDisk disk = over(sim);
                DiskFile file = disk.create("f")) {
            MemorySegment some = MemorySegment.ofArray(new byte[100]);
            file.write(0, some, 0, 100);
            assertThatThrownBy(() -> file.write(50, some, 0, 100))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> file.read(0, some, 0, 100))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> file.truncate(0)).isInstanceOf(InvalidRequestException.class);
        }
        try (DirectDisk disk = over(sim);
                DiskFile file = disk.openReadOnly("f")) {
            assertThatThrownBy(file::sync).isInstanceOf(InvalidRequestException.class);
        }
    }

    @Test
    void many_readers_share_the_buffers_there_are() throws InterruptedException {
        SimDisk sim = new SimDisk(1, Profile.STRICT);
        byte[] bytes = new byte[1 << 20];
        new SplittableRandom(1).nextBytes(bytes);
        sim.put("f", bytes);
        // room for two buffers
        MemoryBudget.Account small = MemoryBudget.of(700 << 10).account("direct I/O");
        List<Throwable> failures = new ArrayList<>();
        try (DirectDisk disk = new DirectDisk(sim, small, refusals::incrementAndGet);
                DiskFile file = disk.openReadOnly("f")) {
            List<Thread> readers = new ArrayList<>();
            for (int t = 0; t < 6; t++) {
                SplittableRandom random = new SplittableRandom(t);
                readers.add(Thread.ofVirtual().unstarted(() -> {
                    MemorySegment target = MemorySegment.ofArray(new byte[9_000]);
                    try {
                        for (int i = 0; i < 300; i++) {
                            assertRead(file, random.nextInt(1 << 20), target, 0, 9_000, bytes);
                        }
                    } catch (Throwable failure) {
                        synchronized (failures) {
                            failures.add(failure);
                        }
                    }
                }));
            }
            readers.forEach(Thread::start);
            for (Thread reader : readers) {
                reader.join();
            }
        }
        assertThat(failures).isEmpty();
        assertThat(small.bytesUsed()).isZero();
    }

    @Test
    void an_interrupted_reader_goes_on_with_direct_reads() throws IOException {
        RealDisk real = RealDisk.open(directory);
        if (!offersDirectIo(real)) {
            return;
        }
        try (DirectDisk disk = over(real)) {
            byte[] bytes = new byte[50_000];
            new SplittableRandom(1).nextBytes(bytes);
            try (DiskFile file = disk.create("f")) {
                file.write(0, MemorySegment.ofArray(bytes), 0, bytes.length);
                file.sync();
            }
            try (RealFile file = (RealFile) Objects.requireNonNull(real.openDirect("f"));
                    Arena arena = Arena.ofConfined()) {
                file.breakChannel();
                MemorySegment target = arena.allocate(64 << 10, file.blockBytes());
                assertRead(file, 0, target, 0, 64 << 10, bytes);
                // still direct: the reopened channel refuses what is not aligned
                assertFails(Kind.IO, () -> file.read(1, target, 0, 100));
            }
        }
    }

    private static void assertFails(Kind kind, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        StorageIoException.class,
                        failure -> assertThat(failure.kind()).isEqualTo(kind));
    }
}
