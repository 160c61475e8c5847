package io.turbidite.core.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StorageIoException.Kind;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The real and the simulated disk keep the same contract; what differs is what a power cut leaves.
 */
class DiskContractTest {
    @TempDir
    private Path directory;

    private Disk disk(String kind) {
        return kind.equals("real")
                ? RealDisk.open(directory.resolve("root"))
                : new SimDisk(1, Profile.STRICT);
    }

    @ParameterizedTest
    @ValueSource(strings = {"real", "simulated"})
    void aStatusSaysWhatANameLeadsTo(String kind) {
        Disk disk = disk(kind);
        disk.createDirectories("d");
        try (DiskFile file = disk.create("d/f")) {
            write(file, 5, new byte[] {1, 2, 3});
        }
        assertThat(disk.status("").kind()).isEqualTo(FileStatus.Kind.DIRECTORY);
        assertThat(disk.status("d").kind()).isEqualTo(FileStatus.Kind.DIRECTORY);
        assertThat(disk.status("d/f").kind()).isEqualTo(FileStatus.Kind.FILE);
        assertThat(disk.status("d/f").byteCount()).isEqualTo(8);
        assertThatThrownBy(() -> disk.status("none"))
                .isInstanceOfSatisfying(
                        StorageIoException.class,
                        e -> assertThat(e.kind()).isEqualTo(Kind.NOT_FOUND));
    }

    @ParameterizedTest
    @ValueSource(strings = {"real", "simulated"})
    void filesAreWrittenAndReadByOffset(String kind) {
        Disk disk = disk(kind);
        try (DiskFile file = disk.create("f")) {
            write(file, 5, new byte[] {1, 2, 3});
            assertThat(file.name()).isEqualTo("f");
            assertThat(file.size()).isEqualTo(8);
            assertThat(read(file, 0, 100)).containsExactly(0, 0, 0, 0, 0, 1, 2, 3);
            assertThat(read(file, 6, 1)).containsExactly(2);
            assertThat(read(file, 8, 1)).isEmpty();
            assertThat(read(file, 1_000_000, 10)).isEmpty();
            file.truncate(6);
            file.truncate(8);
            assertThat(read(file, 0, 100)).containsExactly(0, 0, 0, 0, 0, 1, 0, 0);
            file.sync();
            write(file, 0, new byte[0]);
            assertThat(file.size()).isEqualTo(8);
        }
        try (DiskFile again = disk.open("f")) {
            write(again, 7, new byte[] {9});
        }
        try (DiskFile reader = disk.openReadOnly("f")) {
            assertThat(read(reader, 0, 9)).containsExactly(0, 0, 0, 0, 0, 1, 0, 9);
            assertThatThrownBy(() -> write(reader, 0, new byte[1]))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> reader.truncate(0))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(reader::sync).isInstanceOf(InvalidRequestException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"real", "simulated"})
    void segmentsOfAnyKindTravelWhole(String kind) {
        Disk disk = disk(kind);
        byte[] bytes = new byte[(2 << 20) + 123];
        new SplittableRandom(1).nextBytes(bytes);
        try (DiskFile file = disk.create("f");
                Arena shared = Arena.ofShared()) {
            write(file, 77, bytes);
            MemorySegment target = shared.allocate(bytes.length + 10);
            assertThat(file.read(77, target, 10, bytes.length)).isEqualTo(bytes.length);
            assertThat(target.asSlice(10).mismatch(MemorySegment.ofArray(bytes)))
                    .isEqualTo(-1);
            file.write(1, target, 10, bytes.length);
            assertThat(read(file, 1, bytes.length)).isEqualTo(bytes);
            assertThatThrownBy(() -> file.read(0, target, 11, bytes.length))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"real", "simulated"})
    void aClosedFileSaysSo(String kind) {
        DiskFile file = disk(kind).create("f");
        file.close();
        file.close();
        assertThatThrownBy(file::size).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> read(file, 0, 1)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> write(file, 0, new byte[1])).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> file.truncate(1)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(file::sync).isInstanceOf(ClosedException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"real", "simulated"})
    void namesAreMadeMovedAndRemoved(String kind) {
        Disk disk = disk(kind);
        disk.createDirectories("a/b");
        disk.createDirectories("a/b");
        disk.createDirectories("");
        disk.create("a/b/f").close();
        disk.create("g").close();
        assertThat(disk.list("")).containsExactly("a", "g");
        assertThat(disk.list("a/b")).containsExactly("f");
        assertThat(disk.exists("a/b")).isTrue();
        assertThat(disk.exists("a/c")).isFalse();
        assertThat(disk.exists("g/c")).isFalse();
        assertKind(Kind.ALREADY_EXISTS, () -> disk.create("g"));
        assertKind(Kind.NOT_FOUND, () -> disk.open("h"));
        assertKind(Kind.NOT_FOUND, () -> disk.openReadOnly("x/h"));
        assertKind(Kind.NOT_FOUND, () -> disk.create("x/h"));
        assertKind(Kind.NOT_FOUND, () -> disk.delete("h"));
        assertKind(Kind.NOT_FOUND, () -> disk.rename("h", "i"));
        assertKind(Kind.NOT_FOUND, () -> disk.list("h"));
        assertKind(Kind.IO, () -> disk.delete("a"));
        disk.rename("a/b/f", "g");
        assertThat(disk.list("a/b")).isEmpty();
        disk.syncDirectory("");
        disk.syncDirectory("a/b");
        disk.delete("a/b");
        disk.delete("g");
        assertThat(disk.list("")).containsExactly("a");
        assertThat(disk.usableBytes()).isPositive();
        assertThat(disk.description()).isNotBlank();
    }

    @ParameterizedTest
    @ValueSource(strings = {"real", "simulated"})
    void aLinkIsASecondNameOfOneContent(String kind) {
        Disk disk = disk(kind);
        disk.createDirectories("a");
        try (DiskFile file = disk.create("f")) {
            write(file, 0, new byte[] {1, 2});
            assertThat(disk.link("f", disk, "a/g")).isTrue();
            write(file, 1, new byte[] {3});
        }
        assertKind(Kind.ALREADY_EXISTS, () -> disk.link("f", disk, "a/g"));
        assertKind(Kind.NOT_FOUND, () -> disk.link("h", disk, "a/h"));
        assertKind(Kind.NOT_FOUND, () -> disk.link("f", disk, "b/g"));
        disk.delete("f");
        assertThat(disk.exists("f")).isFalse();
        try (DiskFile link = disk.openReadOnly("a/g")) {
            assertThat(read(link, 0, 9)).containsExactly(1, 3);
        }
        disk.delete("a/g");
        assertThat(disk.list("a")).isEmpty();
    }

    @Test
    void anotherKindOfDiskTakesNoLink() {
        Disk real = disk("real");
        Disk simulated = disk("simulated");
        real.create("f").close();
        simulated.create("f").close();
        assertThat(real.link("f", simulated, "g")).isFalse();
        assertThat(simulated.link("f", real, "g")).isFalse();
        assertThat(simulated.link("f", disk("simulated"), "g")).isFalse();
        assertThat(real.exists("g")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"real", "simulated"})
    void aDeletedOrReplacedFileLivesOnInItsHandles(String kind) {
        Disk disk = disk(kind);
        DiskFile first = disk.create("f");
        write(first, 0, new byte[] {1});
        DiskFile second = disk.create("g");
        write(second, 0, new byte[] {2});
        disk.rename("g", "f");
        assertThat(read(first, 0, 1)).containsExactly(1);
        assertThat(read(second, 0, 1)).containsExactly(2);
        disk.delete("f");
        assertThat(read(second, 0, 1)).containsExactly(2);
        first.close();
        second.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"real", "simulated"})
    void aLockIsHeldOnceUntilClosed(String kind) {
        Disk disk = disk(kind);
        try (Disk.Lock _ = disk.tryLock("LOCK").orRefuse("here")) {
            assertThat(disk.tryLock("LOCK")).isEqualTo(LockAnswer.heldHere());
            assertThatThrownBy(() -> disk.tryLock("LOCK").orRefuse("here"))
                    .isInstanceOf(StoreInUseException.class)
                    .hasMessage("the store in here is in use by this process,"
                            + " which opened it before and has not closed it");
        }
        for (int i = 0; i < 3; i++) {
            disk.tryLock("LOCK").orRefuse("here").close();
        }
        assertThat(disk.exists("LOCK")).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"real", "simulated"})
    void aLockTellsWhenItsFileIsGoneOrReplaced(String kind) {
        Disk disk = disk(kind);
        try (Disk.Lock held = disk.tryLock("LOCK").orRefuse("here")) {
            assertThat(held.isInPlace()).isTrue();
            disk.delete("LOCK");
            assertThat(held.isInPlace()).isFalse();
            disk.create("LOCK").close();
            assertThat(held.isInPlace()).isFalse();
            assertThat(disk.tryLock("LOCK")).isEqualTo(LockAnswer.heldHere());
        }
        try (Disk.Lock again = disk.tryLock("LOCK").orRefuse("here")) {
            assertThat(again.isInPlace()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"real", "simulated"})
    void aLockedFileIsNotOpenedASecondTime(String kind) {
        Disk disk = disk(kind);
        try (DiskFile file = disk.create("f")) {
            assertThat(file.tryLock()).isTrue();
            assertRefusedToOpen(disk, "f");
            assertThatThrownBy(file::tryLock).isInstanceOf(InvalidRequestException.class);
            disk.rename("f", "g");
            assertRefusedToOpen(disk, "g");
            assertThat(disk.tryLock("g")).isEqualTo(LockAnswer.heldHere());
        }
        disk.open("g").close();
        try (Disk.Lock _ = disk.tryLock("LOCK").orRefuse("here")) {
            assertRefusedToOpen(disk, "LOCK");
        }
        disk.open("LOCK").close();
    }

    private static void assertRefusedToOpen(Disk disk, String name) {
        assertThatThrownBy(() -> disk.open(name)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> disk.openReadOnly(name))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("locked");
        assertThatThrownBy(() -> disk.openDirect(name)).isInstanceOf(InvalidRequestException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a\\b", "a\0b", "c:d"})
    void aNameThatMayLeaveTheRootIsRefused(String name) {
        for (String kind : List.of("real", "simulated")) {
            Disk disk = disk(kind);
            assertThatThrownBy(() -> disk.create(name)).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> disk.rename("f", name))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> disk.exists(name)).isInstanceOf(InvalidRequestException.class);
        }
        assertThat(DiskName.check("..a/b..c/...")).isEqualTo("..a/b..c/...");
        assertThatThrownBy(() -> DiskName.check("x".repeat(256)))
                .isInstanceOf(InvalidRequestException.class);
    }

    /** The same random calls on both: the same answers, the same errors, the same bytes. */
    @Test
    void bothAnswerRandomCallsAlike() {
        long seed = Seeds.of("DiskContractTest");
        List<String> real = answers(disk("real"), seed);
        List<String> simulated = answers(disk("simulated"), seed);
        assertThat(simulated)
                .as(Seeds.replay("DiskContractTest", seed))
                .containsExactlyElementsOf(real);
        assertThat(real.stream().filter(a -> a.contains("NOT_FOUND")).count()).isPositive();
        assertThat(real.stream().filter(a -> a.startsWith("[")).count()).isGreaterThan(100);
    }

    private static List<String> answers(Disk disk, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        disk.createDirectories("d");
        List<String> answers = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            String name = (random.nextBoolean() ? "" : "d/") + "f" + random.nextInt(4);
            String to = (random.nextBoolean() ? "" : "d/") + "f" + random.nextInt(4);
            int kind = random.nextInt(10);
            long bytesSeed = random.nextLong();
            try {
                answers.add(answer(disk, kind, name, to, new SplittableRandom(bytesSeed)));
            } catch (StorageIoException e) {
                answers.add(kind + " " + name + " " + e.kind());
            }
        }
        return answers;
    }

    private static String answer(
            Disk disk, int kind, String name, String to, SplittableRandom random) {
        switch (kind) {
            case 0 -> disk.create(name).close();
            case 1 -> disk.delete(name);
            case 2 -> disk.rename(name, to);
            case 3 -> {
                disk.syncDirectory("d");
                return disk.list("") + " " + disk.list("d");
            }
            case 4 -> {
                try (DiskFile file = disk.open(name)) {
                    file.truncate(random.nextInt(20_000));
                }
            }
            case 5, 6 -> {
                try (DiskFile file = disk.openReadOnly(name)) {
                    byte[] bytes = read(file, random.nextInt(20_000), random.nextInt(20_000));
                    return "[" + file.size() + " " + Arrays.hashCode(bytes);
                }
            }
            default -> {
                try (DiskFile file = disk.open(name)) {
                    byte[] bytes = new byte[random.nextInt(9_000)];
                    random.nextBytes(bytes);
                    write(file, random.nextInt(10_000), bytes);
                    if (random.nextInt(20) == 0) {
                        file.sync();
                    }
                }
            }
        }
        return kind + " " + name;
    }

    private static void write(DiskFile file, long offset, byte[] bytes) {
        file.write(offset, MemorySegment.ofArray(bytes), 0, bytes.length);
    }

    private static byte[] read(DiskFile file, long offset, int byteCount) {
        MemorySegment target = MemorySegment.ofArray(new byte[byteCount]);
        int count = file.read(offset, target, 0, byteCount);
        return target.asSlice(0, count).toArray(ValueLayout.JAVA_BYTE);
    }

    private static void assertKind(Kind kind, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        StorageIoException.class, e -> assertThat(e.kind()).isEqualTo(kind));
    }
}
