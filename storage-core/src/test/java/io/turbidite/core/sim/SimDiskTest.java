package io.turbidite.core.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StorageIoException.Kind;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.LockAnswer;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Function;

/** The crash model has teeth: what is not synced is lost in some image, what is synced in none. */
@LeaksOnPurpose("files are open when the power is cut")
class SimDiskTest {
    private static final int IMAGE_COUNT = 200;

    private final long seed = Seeds.of("SimDiskTest");

    @ParameterizedTest
    @EnumSource(Profile.class)
    void whatIsSyncedSurvivesEveryCut(Profile profile) {
        SimDisk disk = new SimDisk(seed, profile);
        disk.createDirectories("a/b");
        disk.syncDirectory("");
        disk.syncDirectory("a");
        DiskFile file = disk.create("a/b/f");
        byte[] bytes = randomBytes(20_000, 1);
        write(file, 0, bytes);
        file.sync();
        disk.syncDirectory("a/b");
        for (int i = 0; i < IMAGE_COUNT; i++) {
            SimDisk image = disk.crashImage(i);
            assertThat(image.files()).containsExactly("a/b/f");
            assertThat(image.content("a/b/f")).isEqualTo(bytes);
        }
    }

    /** Two operators spill at once, say; a real disk asks nobody to take turns. */
    @Test
    void aDirectoryThatAnotherMakesMeanwhileIsThere() {
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        boolean[] isMade = {false};
        disk.onOperation(operation -> {
            if (!isMade[0]) {
                isMade[0] = true;
                disk.createDirectories("spill/a");
            }
        });
        disk.createDirectories("spill/a");
        assertThat(disk.exists("spill/a")).isTrue();
        assertThat(isMade[0]).isTrue();
    }

    @Test
    void strictLosesAllThatIsNotSynced() {
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        DiskFile file = durableFile(disk, "f", new byte[1_000]);
        write(file, 500, randomBytes(9_000, 2));
        DiskFile other = disk.create("g");
        other.sync();
        disk.rename("f", "h");
        SimDisk image = disk.crashImage(1);
        assertThat(image.files()).containsExactly("f");
        assertThat(image.content("f")).isEqualTo(new byte[1_000]);
    }

    @Test
    void strictLosesADirectoryWhoseOwnNameWasNotSynced() {
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        disk.createDirectories("a");
        DiskFile file = disk.create("a/f");
        file.sync();
        disk.syncDirectory("a");
        assertThat(disk.crashImage(1).files()).isEmpty();
        disk.syncDirectory("");
        assertThat(disk.crashImage(1).files()).containsExactly("a/f");
    }

    @ParameterizedTest
    @EnumSource(Profile.class)
    void anUnsyncedRenameIsLostInSomeImageAndNeverLosesTheFile(Profile profile) {
        SimDisk disk = new SimDisk(seed, profile);
        DiskFile old = durableFile(disk, "CURRENT", new byte[] {1});
        DiskFile fresh = durableFile(disk, "CURRENT.tmp", new byte[] {2});
        disk.rename("CURRENT.tmp", "CURRENT");
        Set<Byte> found = new TreeSet<>();
        for (int i = 0; i < IMAGE_COUNT; i++) {
            SimDisk image = disk.crashImage(i);
            byte current = image.content("CURRENT")[0];
            found.add(current);
            assertThat(image.exists("CURRENT.tmp")).isEqualTo(current == 1);
        }
        assertThat(found).contains((byte) 1);
        assertThat(found.contains((byte) 2)).isEqualTo(profile != Profile.STRICT);
        disk.syncDirectory("");
        for (int i = 0; i < IMAGE_COUNT; i++) {
            assertThat(disk.crashImage(i).content("CURRENT")).containsExactly(2);
        }
        old.close();
        fresh.close();
    }

    @ParameterizedTest
    @EnumSource(Profile.class)
    void anUnsyncedLinkIsLostInSomeImageAndNeverLosesTheFile(Profile profile) {
        SimDisk disk = new SimDisk(seed, profile);
        disk.createDirectories("a");
        disk.syncDirectory("");
        durableFile(disk, "f", new byte[] {1}).close();
        assertThat(disk.link("f", disk, "a/g")).isTrue();
        Set<String> states = states(disk, image -> image.files() + "");
        assertThat(states).contains("[f]");
        assertThat(states.contains("[a/g, f]")).isEqualTo(profile != Profile.STRICT);
        disk.syncDirectory("a");
        disk.delete("f");
        for (int i = 0; i < IMAGE_COUNT; i++) {
            assertThat(disk.crashImage(i).content("a/g")).containsExactly(1);
        }
        disk.syncDirectory("");
        assertThat(disk.usedBytes()).isPositive();
        SimDisk image = disk.crashImage(1);
        assertThat(image.files()).containsExactly("a/g");
        image.delete("a/g");
        assertThat(image.usedBytes()).isZero();
    }

    @Test
    void anUnsyncedDeletionMayOvertakeAnEarlierRename() {
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        durableFile(disk, "data.1", new byte[] {1}).close();
        durableFile(disk, "MANIFEST", new byte[] {1}).close();
        durableFile(disk, "tmp", new byte[] {2}).close();
        disk.rename("tmp", "MANIFEST");
        disk.delete("data.1");
        Set<String> states = states(disk, image -> image.files() + "");
        assertThat(states).contains("[MANIFEST, tmp]"); // deleted, while the rename is lost
        assertThat(states).hasSize(4);
        Set<String> ordered = new HashSet<>();
        for (int i = 0; i < IMAGE_COUNT; i++) {
            ordered.add(disk.crashImage(i, Profile.EXT4_LIKE).files() + "");
        }
        assertThat(ordered).doesNotContain("[MANIFEST, tmp]").hasSize(3);
    }

    @Test
    void aWriteIsTornAtSectors() {
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        DiskFile file = durableFile(disk, "f", filled(4 * 512, 1));
        write(file, 0, filled(4 * 512, 2));
        Set<String> states = states(disk, image -> sectors(image.content("f")));
        assertThat(states).contains("1111", "2222").hasSizeGreaterThan(8);
        assertThat(states).allMatch(s -> s.matches("[12]{4}"));
        file.sync();
        assertThat(states(disk, image -> sectors(image.content("f")))).containsExactly("2222");
    }

    @Test
    void ext4KeepsPagesWholeAndGrowsWithoutHoles() {
        SimDisk disk = new SimDisk(seed, Profile.EXT4_LIKE);
        DiskFile file = durableFile(disk, "f", filled(8_192, 1));
        write(file, 0, filled(6 * 4_096, 2));
        Set<String> states = states(disk, image -> {
            String s = sectors(image.content("f"));
            assertThat(s.length() % 8).isZero();
            return s.replaceAll("(.)\\1{7}", "$1");
        });
        assertThat(states).allMatch(s -> s.matches("[12]{2}2{0,4}"));
        assertThat(states).contains("11", "222222").hasSizeGreaterThan(8);
    }

    @Test
    void ext4KeepsAnOverwrittenLastPageOrLosesIt() {
        SimDisk disk = new SimDisk(seed, Profile.EXT4_LIKE);
        DiskFile file = durableFile(disk, "f", filled(1_000, 1));
        write(file, 0, filled(1_000, 2));
        assertThat(states(disk, image -> sectors(image.content("f"))))
                .containsExactlyInAnyOrder("11", "22");
    }

    @Test
    void anAppendMayLeaveAHoleAZeroTailOrStaleBytes() {
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        DiskFile gone = durableFile(disk, "gone", filled(64 * 1024, 7));
        gone.close();
        disk.delete("gone");
        disk.syncDirectory("");
        DiskFile file = durableFile(disk, "f", filled(512, 1));
        write(file, 512, filled(5 * 512, 2));
        Set<String> states = states(disk, image -> sectors(image.content("f")));
        assertThat(states).anyMatch(s -> s.matches("1.*0.*2.*")); // a hole before data
        assertThat(states).anyMatch(s -> s.matches("1[02]*0")); // size grown, data missing
        assertThat(states).anyMatch(s -> s.contains("7")); // another file's bytes
        assertThat(states).anyMatch(s -> s.equals("1")).anyMatch(s -> s.equals("122222"));
        assertThat(states).anyMatch(s -> s.length() > 1 && s.length() < 6);
    }

    @Test
    void ofSeveralUnsyncedWritesAnEarlierOneMaySurvive() {
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        DiskFile file = durableFile(disk, "f", filled(32 * 512, 1));
        for (int value = 2; value <= 5; value++) {
            write(file, 0, filled(32 * 512, value));
        }
        assertThat(states(disk, image -> sectors(image.content("f"))))
                .anyMatch(s -> s.contains("1") && s.contains("5") && s.matches(".*[234].*"));
    }

    @ParameterizedTest
    @EnumSource(Profile.class)
    void aTruncationIsVolatileUntilSynced(Profile profile) {
        SimDisk disk = new SimDisk(seed, profile);
        DiskFile file = durableFile(disk, "f", filled(4_096, 1));
        file.truncate(1_024);
        write(file, 1_024, filled(512, 2));
        Set<String> states = states(disk, image -> sectors(image.content("f")));
        assertThat(states).contains("11111111");
        if (profile != Profile.STRICT) {
            assertThat(states).contains("112");
        }
        file.sync();
        assertThat(states(disk, image -> sectors(image.content("f")))).containsExactly("112");
    }

    @Test
    void aFailedSyncLosesDataThatNoLaterSyncBringsBack() {
        int lostCount = 0;
        for (int i = 0; i < 20; i++) {
            SimDisk disk = new SimDisk(seed + i, Profile.ADVERSARIAL);
            DiskFile file = durableFile(disk, "f", filled(8 * 512, 1));
            FaultScript script = disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.SYNC));
            write(file, 0, filled(8 * 512, 2));
            assertThatThrownBy(file::sync).isInstanceOf(StorageIoException.class);
            file.sync(); // lies
            assertThat(script.hitCount()).isOne();
            Set<String> states = states(disk, image -> sectors(image.content("f")));
            assertThat(states).hasSize(1);
            lostCount += states.contains("22222222") ? 0 : 1;
            write(file, 0, filled(8 * 512, 3));
            file.sync();
            assertThat(sectors(disk.crashImage(1).content("f"))).isEqualTo("33333333");
        }
        assertThat(lostCount).isGreaterThan(15);
    }

    @Test
    void aFailedDirectorySyncLosesNamesThatNoLaterSyncBringsBack() {
        int lostCount = 0;
        for (int i = 0; i < 20; i++) {
            SimDisk disk = new SimDisk(seed + i, Profile.ADVERSARIAL);
            disk.create("f").close();
            disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.SYNC_DIRECTORY));
            assertThatThrownBy(() -> disk.syncDirectory("")).hasMessageContaining("injected");
            disk.syncDirectory("");
            assertThat(disk.exists("f")).isTrue();
            lostCount += disk.crashImage(1).exists("f") ? 0 : 1;
        }
        assertThat(lostCount).isBetween(3, 17);
    }

    @Test
    void anImageAndItsDiskGoOnByThemselves() {
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        DiskFile file = durableFile(disk, "f", filled(3 * 4_096, 1));
        SimDisk image = disk.crashImage(1);
        write(file, 0, filled(4_096, 2));
        DiskFile imaged = image.open("f");
        write(imaged, 4_096, filled(4_096, 3));
        image.flipBit("f", 2 * 4_096, 1);
        image.delete("f");
        assertThat(pages(disk.content("f"))).isEqualTo("211");
        SimDisk second = disk.crashImage(1, Profile.STRICT);
        assertThat(pages(second.content("f"))).isEqualTo("111");
        file.sync();
        assertThat(pages(second.content("f"))).isEqualTo("111");
        assertThat(pages(disk.crashImage(5).content("f"))).isEqualTo("211");
    }

    @Test
    void theSameSeedGivesTheSameTraceAndTheSameImages() {
        for (int i = 0; i < 20; i++) {
            SimDisk first = randomRun(seed + i);
            SimDisk second = randomRun(seed + i);
            assertThat(first.traceHash()).isEqualTo(second.traceHash());
            for (Profile profile : Profile.values()) {
                SimDisk image = first.crashImage(9, profile);
                SimDisk again = second.crashImage(9, profile);
                assertThat(image.files()).isEqualTo(again.files());
                for (String name : image.files()) {
                    assertThat(image.content(name)).isEqualTo(again.content(name));
                }
            }
            assertThat(randomRun(seed + i + 1).traceHash()).isNotEqualTo(first.traceHash());
        }
    }

    @Test
    void readersSeeWhatAPlainArrayWould() {
        SplittableRandom random = new SplittableRandom(seed);
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        DiskFile file = disk.create("f");
        byte[] expected = new byte[0];
        for (int i = 0; i < 2_000; i++) {
            switch (random.nextInt(6)) {
                case 0 -> file.sync();
                case 1 -> {
                    int size = random.nextInt(30_000);
                    file.truncate(size);
                    expected = Arrays.copyOf(expected, size);
                }
                case 2 -> assertThat(disk.crashImage(i).files().size()).isLessThan(2);
                default -> {
                    int at = random.nextInt(20_000);
                    byte[] bytes = randomBytes(random.nextInt(9_000), i);
                    if (random.nextInt(4) == 0) {
                        Arrays.fill(bytes, (byte) 0);
                    }
                    write(file, at, bytes);
                    if (bytes.length > 0) {
                        expected = Arrays.copyOf(
                                expected, Math.max(expected.length, at + bytes.length));
                    }
                    System.arraycopy(bytes, 0, expected, at, bytes.length);
                }
            }
            if (i % 50 == 0) {
                assertThat(disk.content("f")).isEqualTo(expected);
                file.sync();
                disk.syncDirectory("");
                assertThat(disk.crashImage(i).content("f")).isEqualTo(expected);
            }
        }
    }

    @Test
    void everyCallOfATraceCanFailByNumber() {
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        disk.fault(FaultScript.with(Fault.EMFILE).on(OperationKind.CREATE).call(2));
        disk.fault(
                FaultScript.with(Fault.ENOSPC).on(OperationKind.WRITE).call(3).forever());
        DiskFile file = disk.create("f");
        assertKind(Kind.TOO_MANY_FILES, () -> disk.create("g"));
        disk.create("g").close();
        write(file, 0, new byte[10]);
        write(file, 0, new byte[10]);
        assertKind(Kind.NO_SPACE, () -> write(file, 0, new byte[10]));
        assertKind(Kind.NO_SPACE, () -> write(file, 0, new byte[10]));
        disk.clearFaults();
        write(file, 0, new byte[10]);
        disk.fault(FaultScript.with(Fault.SHORT_WRITE).on(OperationKind.WRITE).named("f"::equals));
        assertKind(Kind.IO, () -> write(file, 10, filled(10_000, 1)));
        assertThat(file.size()).isBetween(10L, 10_010L);
    }

    @Test
    void aFullDiskTakesWhatFitsAndGivesBackWhatIsDeleted() {
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        disk.capacity(3 * 4_096);
        DiskFile file = disk.create("f");
        assertKind(Kind.NO_SPACE, () -> write(file, 0, filled(5 * 4_096, 1)));
        assertThat(file.size()).isEqualTo(3 * 4_096);
        assertThat(disk.usableBytes()).isZero();
        write(file, 0, filled(4_096, 2)); // in place
        disk.delete("f");
        assertThat(disk.usableBytes()).isZero(); // still open
        file.close();
        assertThat(disk.usableBytes()).isEqualTo(3 * 4_096);
    }

    @Test
    void hooksSeeEachDurableStepBeforeItIsTaken() {
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        StringBuilder steps = new StringBuilder();
        disk.onOperation(step -> steps.append(step.index()).append(step.kind()).append(' '));
        DiskFile file = disk.create("f");
        write(file, 0, new byte[1]);
        assertThat(read(file, 0, 1)).isEqualTo(1);
        file.sync();
        disk.rename("f", "g");
        disk.syncDirectory("");
        disk.delete("g");
        assertThat(steps.toString())
                .isEqualTo("0CREATE 1WRITE 2SYNC 3RENAME 4SYNC_DIRECTORY 5DELETE ");
        disk.onOperation(step -> {
            throw new IllegalStateException("cut");
        });
        assertThatThrownBy(() -> disk.create("x")).hasMessage("cut");
        assertThat(disk.exists("x")).isFalse();
    }

    @Test
    void namesErrorsAndHandlesAreThoseOfAFileSystem() {
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        assertKind(Kind.NOT_FOUND, () -> disk.open("f"));
        assertKind(Kind.NOT_FOUND, () -> disk.create("d/f"));
        disk.createDirectories("d/e");
        DiskFile file = disk.create("d/f");
        assertKind(Kind.ALREADY_EXISTS, () -> disk.create("d/f"));
        assertKind(Kind.IO, () -> disk.delete("d"));
        assertThat(disk.list("d")).containsExactly("e", "f");
        assertThatThrownBy(() -> disk.create("../f")).isInstanceOf(InvalidRequestException.class);
        assertThat(disk.openHandles()).containsExactly("d/f");
        file.close();
        assertThatThrownBy(file::size).isInstanceOf(ClosedException.class);
        assertThat(disk.openHandleCount()).isZero();
        try (DiskFile reader = disk.openReadOnly("d/f")) {
            assertThatThrownBy(() -> write(reader, 0, new byte[1]))
                    .isInstanceOf(InvalidRequestException.class);
            disk.delete("d/f");
            assertThat(reader.size()).isZero();
        }
        try (Disk.Lock _ = disk.tryLock("LOCK").orRefuse("here")) {
            assertThat(disk.tryLock("LOCK")).isEqualTo(LockAnswer.heldHere());
        }
        disk.tryLock("LOCK").orRefuse("here").close();
        disk.lockElsewhere("LOCK");
        assertThat(disk.tryLock("LOCK")).isEqualTo(LockAnswer.heldElsewhere());
    }

    // ---- helpers ----

    private SimDisk randomRun(long runSeed) {
        SplittableRandom random = new SplittableRandom(runSeed);
        SimDisk disk = new SimDisk(runSeed, Profile.ADVERSARIAL);
        for (int i = 0; i < 200; i++) {
            String name = "f" + random.nextInt(5);
            switch (random.nextInt(8)) {
                case 0 -> disk.syncDirectory("");
                case 1 -> {
                    if (disk.exists(name)) {
                        disk.delete(name);
                    }
                }
                case 2 -> {
                    if (disk.exists(name)) {
                        disk.rename(name, "f" + random.nextInt(5));
                    }
                }
                default -> {
                    try (DiskFile file = disk.exists(name) ? disk.open(name) : disk.create(name)) {
                        write(file, random.nextInt(9_000), randomBytes(3_000, i));
                        if (random.nextBoolean()) {
                            file.sync();
                        }
                    }
                }
            }
        }
        return disk;
    }

    private static Set<String> states(SimDisk disk, Function<SimDisk, String> view) {
        Set<String> states = new TreeSet<>();
        for (int i = 0; i < IMAGE_COUNT; i++) {
            states.add(view.apply(disk.crashImage(i)));
        }
        return states;
    }

    private static DiskFile durableFile(SimDisk disk, String name, byte[] bytes) {
        DiskFile file = disk.create(name);
        write(file, 0, bytes);
        file.sync();
        disk.syncDirectory("");
        return file;
    }

    private static void write(DiskFile file, long offset, byte[] bytes) {
        file.write(offset, MemorySegment.ofArray(bytes), 0, bytes.length);
    }

    private static int read(DiskFile file, long offset, int byteCount) {
        return file.read(offset, MemorySegment.ofArray(new byte[byteCount]), 0, byteCount);
    }

    private static byte[] filled(int byteCount, int value) {
        byte[] bytes = new byte[byteCount];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }

    private static byte[] randomBytes(int byteCount, long seed) {
        byte[] bytes = new byte[byteCount];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }

    /** The first byte of each sector as a digit. */
    private static String sectors(byte[] bytes) {
        return digits(bytes, 512);
    }

    private static String pages(byte[] bytes) {
        return digits(bytes, 4_096);
    }

    private static String digits(byte[] bytes, int step) {
        StringBuilder digits = new StringBuilder();
        for (int i = 0; i < bytes.length; i += step) {
            digits.append(bytes[i]);
        }
        return digits.toString();
    }

    private static void assertKind(Kind kind, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        StorageIoException.class, e -> assertThat(e.kind()).isEqualTo(kind));
    }
}
