package io.turbidite.core.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.StorageIoException.Kind;
import io.turbidite.core.bytes.Bytes;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** What only the operating system's disk has: interrupts, links, processes, error texts. */
class RealDiskTest {
    private static final int PAGE_BYTES = 8_192;
    private static final int PAGE_COUNT = 64;

    @TempDir
    private Path directory;

    @Test
    void anInterruptedThreadReadsWritesAndSyncsAndStaysInterrupted() {
        RealDisk disk = RealDisk.open(directory);
        try (DiskFile file = disk.create("f")) {
            MemorySegment bytes = MemorySegment.ofArray(new byte[] {1, 2, 3});
            Thread.currentThread().interrupt();
            file.write(0, bytes, 0, 3);
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            file.sync();
            assertThat(file.read(0, bytes, 0, 3)).isEqualTo(3);
            file.truncate(2);
            disk.syncDirectory("");
            disk.create("g").close();
            assertThat(file.size()).isEqualTo(2);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void aLockSaysWhichProcessHasIt() throws IOException {
        RealDisk disk = RealDisk.open(directory);
        try (Disk.Lock _ = disk.tryLock("LOCK").orRefuse("here")) {
            assertThat(LockProbe.answer(directory, "LOCK"))
                    .contains("in use by another process")
                    .doesNotContain("this process");
        }
        assertThat(LockProbe.answer(directory, "LOCK")).contains("granted");
    }

    @Test
    void aLockedFileStaysLockedForOtherProcessesWhenAnInterruptClosedIt() throws IOException {
        RealDisk disk = RealDisk.open(directory);
        try (DiskFile file = disk.create("f")) {
            assertThat(file.tryLock()).isTrue();
            assertThat(LockProbe.getsLock(directory, "f")).isFalse();
            ((RealFile) file).breakChannel();
            MemorySegment bytes = MemorySegment.ofArray(new byte[] {1, 2, 3});
            file.write(0, bytes, 0, 3);
            assertThat(LockProbe.getsLock(directory, "f")).isFalse();
            assertThatThrownBy(() -> disk.openReadOnly("f")).hasMessageContaining("locked");
            assertThat(LockProbe.getsLock(directory, "f")).isFalse();
        }
        assertThat(LockProbe.getsLock(directory, "f")).isTrue();
    }

    @Test
    void aRootThatCantBeMadeIsSaidToBeSo() throws IOException {
        Path link =
                Files.createSymbolicLink(directory.resolve("link"), directory.resolve("nothing"));
        assertThatThrownBy(() -> RealDisk.open(link))
                .isInstanceOf(StorageIoException.class)
                .hasMessage("making of %s failed: %s is a link to nothing".formatted(link, link));
        assumeTrue(Files.isDirectory(Path.of("/proc/self")));
        assertThatThrownBy(() -> RealDisk.open(Path.of("/proc/x/y")))
                .isInstanceOf(StorageIoException.class)
                .hasMessage(
                        "making of /proc/x/y failed: its file system takes no new directory there");
    }

    @Test
    void aRootThatCantBeListedIsNamed() throws IOException {
        Path root = directory.resolve("store");
        RealDisk disk = RealDisk.open(Files.createDirectory(root));
        Files.delete(root);
        assertThatThrownBy(() -> disk.list(""))
                .isInstanceOf(StorageIoException.class)
                .hasMessageContaining(root.toString());
    }

    /**
     * Readers are interrupted all the time; no read fails, for them or for others, and writes go
     * on.
     */
    @Test
    void interruptsInTheMiddleOfTransfersHarmNobody() throws InterruptedException {
        RealDisk disk = RealDisk.open(directory);
        try (DiskFile file = disk.create("f");
                Arena arena = Arena.ofShared()) {
            for (int page = 0; page < PAGE_COUNT; page++) {
                writePage(file, arena.allocate(PAGE_BYTES), page, page);
            }
            List<Throwable> errors = Collections.synchronizedList(new ArrayList<>());
            AtomicBoolean stop = new AtomicBoolean();
            List<Thread> readers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                MemorySegment target = arena.allocate(PAGE_BYTES);
                int first = i;
                Thread reader = Thread.ofPlatform()
                        .unstarted(() -> readAll(file, target, first, stop, errors));
                readers.add(reader);
                reader.start();
            }
            MemorySegment source = arena.allocate(PAGE_BYTES);
            for (int i = 0; i < 1_000; i++) {
                readers.get(i % 2).interrupt();
                writePage(file, source, i % PAGE_COUNT, i % PAGE_COUNT);
                if (i % 100 == 0) {
                    file.sync();
                }
            }
            stop.set(true);
            for (Thread reader : readers) {
                reader.join(10_000);
            }
            assertThat(errors).isEmpty();
        }
        assertThat(disk.openHandleCount()).isZero();
    }

    @Test
    void aFileThatWasRenamedIsFoundAgainAfterAnInterrupt() throws Exception {
        RealDisk disk = RealDisk.open(directory);
        try (DiskFile file = disk.create("f")) {
            file.write(0, MemorySegment.ofArray(new byte[] {7}), 0, 1);
            disk.rename("f", "g");
            disk.create("f").close();
            breakChannel(file);
            MemorySegment target = MemorySegment.ofArray(new byte[1]);
            assertThat(file.read(0, target, 0, 1)).isEqualTo(1);
            assertThat(target.get(Bytes.U8, 0)).isEqualTo((byte) 7);
        }
    }

    @Test
    void anotherFileOfTheSameNameIsNotTakenForTheFile() throws Exception {
        RealDisk disk = RealDisk.open(directory);
        try (DiskFile file = disk.create("f")) {
            // Behind the disk's back, while the old file still takes its place: another inode.
            Files.createFile(directory.resolve("other"));
            Files.move(directory.resolve("f"), directory.resolve("old"));
            Files.move(directory.resolve("other"), directory.resolve("f"));
            breakChannel(file);
            MemorySegment target = MemorySegment.ofArray(new byte[1]);
            assertThatThrownBy(() -> file.read(0, target, 0, 1))
                    .isInstanceOfSatisfying(
                            StorageIoException.class,
                            e -> assertThat(e.kind()).isEqualTo(Kind.NOT_FOUND));
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aStatusTellsTheTimeOfTheLastChangeAndLinksFromFiles() throws IOException {
        RealDisk disk = RealDisk.open(directory);
        Path file = Files.writeString(directory.resolve("f"), "text");
        Files.setLastModifiedTime(file, FileTime.from(1_234_567_890L, TimeUnit.MICROSECONDS));
        Files.createSymbolicLink(directory.resolve("l"), file);
        FileStatus status = disk.status("f");
        assertThat(status)
                .isEqualTo(
                        new FileStatus(FileStatus.Kind.FILE, 4, 1_234_567_890L, status.identity()));
        Files.writeString(directory.resolve("other"), "text");
        assertThat(disk.status("other").identity()).isNotEqualTo(status.identity());
        Files.move(file, directory.resolve("moved"));
        assertThat(disk.status("moved").identity()).isEqualTo(status.identity()).isNotEmpty();
        assertThat(disk.status("l").kind()).isEqualTo(FileStatus.Kind.OTHER);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aSymbolicLinkIsNotFollowedToAFile() throws IOException {
        RealDisk disk = RealDisk.open(directory.resolve("root"));
        Path outside = Files.createFile(directory.resolve("outside"));
        Files.createSymbolicLink(directory.resolve("root/f"), outside);
        assertThatThrownBy(() -> disk.open("f")).isInstanceOf(StorageIoException.class);
        assertThatThrownBy(() -> disk.openReadOnly("f")).isInstanceOf(StorageIoException.class);
        assertThatThrownBy(() -> disk.create("f")).isInstanceOf(StorageIoException.class);
        assertThatThrownBy(() -> disk.tryLock("f")).isInstanceOf(StorageIoException.class);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void anotherFileSystemTakesNoLink() {
        RealDisk disk = RealDisk.open(directory);
        disk.create("f").close();
        RealDisk shared = RealDisk.open(Path.of("/dev/shm"));
        String name = "turbidite-" + ProcessHandle.current().pid();
        if (disk.link("f", shared, name)) {
            shared.delete(name); // the temporary directory is there too
        } else {
            assertThat(shared.exists(name)).isFalse();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void whatLiesInTheDirectoryIsSeenThroughSymbolicLinks() throws IOException {
        RealDisk disk = RealDisk.open(directory.resolve("root"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), directory.resolve("root"));
        assertThat(disk.encloses(directory.resolve("root"))).isTrue();
        assertThat(disk.encloses(directory.resolve("root/a/b"))).isTrue();
        assertThat(disk.encloses(link.resolve("a/b"))).isTrue();
        assertThat(disk.encloses(link.resolve("../root/a"))).isTrue();
        assertThat(disk.encloses(directory)).isFalse();
        assertThat(disk.encloses(directory.resolve("rooted"))).isFalse();
        assertThat(disk.encloses(directory.resolve("root/../other"))).isFalse();
    }

    @Test
    void whatWasMadeInVainIsTakenAway() {
        Path fresh = directory.resolve("fresh");
        assertThatThrownBy(() -> RealDisk.filled(fresh, disk -> {
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");
        assertThat(fresh).doesNotExist();
        boolean filled = RealDisk.filled(fresh, disk -> {
            disk.create("f").close();
            return true;
        });
        assertThat(filled).isTrue();
        assertThat(fresh.resolve("f")).exists();
        assertThatThrownBy(() -> RealDisk.filled(fresh.resolve("f"), disk -> true))
                .isInstanceOf(io.turbidite.core.InvalidRequestException.class)
                .hasMessageContaining("no directory");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aFullDeviceIsNoSpace() {
        try (DiskFile full = RealDisk.open(Path.of("/dev")).open("full")) {
            assertThatThrownBy(() -> full.write(0, MemorySegment.ofArray(new byte[9]), 0, 9))
                    .isInstanceOfSatisfying(
                            StorageIoException.class,
                            e -> assertThat(e.kind()).isEqualTo(Kind.NO_SPACE))
                    .hasMessageContaining("write of full in");
        }
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC})
    void whatIsMadeIsItsOwnersAlone() throws IOException {
        Path root = directory.resolve("parent/root");
        RealDisk disk = RealDisk.open(root);
        disk.createDirectories("inner");
        disk.create("inner/file").close();
        try (Disk.Lock held = disk.tryLock("LOCK").orRefuse("here")) {
            assertThat(held.isInPlace()).isTrue();
        }
        assertThat(modeOf(root)).isEqualTo("rwx------");
        assertThat(modeOf(root.resolve("inner"))).isEqualTo("rwx------");
        assertThat(modeOf(root.resolve("inner/file"))).isEqualTo("rw-------");
        assertThat(modeOf(root.resolve("LOCK"))).isEqualTo("rw-------");
        assertThat(modeOf(directory.resolve("parent")))
                .as("as the user's mask says")
                .isEqualTo(modeOf(Files.createDirectory(directory.resolve("other"))));
    }

    private static String modeOf(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    @Test
    void aRootIsMadeWithItsParentsAndReopened() {
        Path root = directory.resolve("a/b/c");
        RealDisk.open(root).create("f").close();
        RealDisk again = RealDisk.open(directory.resolve("a/../a/b/c"));
        assertThat(again.list("")).containsExactly("f");
        try (Disk.Lock _ = again.tryLock("LOCK").orRefuse("again")) {
            assertThat(RealDisk.open(root).tryLock("LOCK")).isEqualTo(LockAnswer.heldHere());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "No space left on device, NO_SPACE",
        "Disk quota exceeded, NO_SPACE",
        "Too many open files, TOO_MANY_FILES",
        "Too many open files in system, TOO_MANY_FILES",
        "Read-only file system, ACCESS_DENIED",
        "Operation not permitted, ACCESS_DENIED",
        "Input/output error, IO"
    })
    void errorTextsAreTranslated(String text, Kind kind) {
        assertThat(IoErrors.kindOf(new IOException(text))).isEqualTo(kind);
        assertThat(IoErrors.kindOf(new FileSystemException("/a", null, text))).isEqualTo(kind);
    }

    @Test
    void errorTypesAreTranslatedAndAnUnknownTextOnAFullDiskIsNoSpace() {
        assertThat(IoErrors.kindOf(new NoSuchFileException("f"))).isEqualTo(Kind.NOT_FOUND);
        assertThat(IoErrors.kindOf(new FileAlreadyExistsException("f")))
                .isEqualTo(Kind.ALREADY_EXISTS);
        assertThat(IoErrors.kindOf(new AccessDeniedException("f"))).isEqualTo(Kind.ACCESS_DENIED);
        IOException german = new IOException("Auf dem Gerät ist kein Speicherplatz mehr verfügbar");
        assertThat(IoErrors.translate("write", "f", "d", german, 100, 99).kind())
                .isEqualTo(Kind.NO_SPACE);
        assertThat(IoErrors.translate("write", "f", "d", german, 100, 100).kind())
                .isEqualTo(Kind.IO);
        assertThat(IoErrors.translate("write", "f", "d", new IOException(), 1, 2))
                .hasMessageContaining("write of f in");
    }

    private static void readAll(
            DiskFile file,
            MemorySegment target,
            int first,
            AtomicBoolean stop,
            List<Throwable> errors) {
        try {
            for (int page = first; !stop.get(); page = (page + 1) % PAGE_COUNT) {
                int count = file.read((long) page * PAGE_BYTES, target, 0, PAGE_BYTES);
                if (count != PAGE_BYTES || target.get(Bytes.I32, 0) != page) {
                    errors.add(new AssertionError("page " + page + ", " + count + " bytes"));
                }
            }
        } catch (RuntimeException e) {
            errors.add(e);
        }
    }

    private static void writePage(DiskFile file, MemorySegment source, int page, int value) {
        for (int at = 0; at < PAGE_BYTES; at += 4) {
            source.set(Bytes.I32, at, value);
        }
        file.write((long) page * PAGE_BYTES, source, 0, PAGE_BYTES);
    }

    /** Closes the channel as an interrupt in the middle of a transfer does. */
    private static void breakChannel(DiskFile file) throws IOException {
        ((RealFile) file).breakChannel();
    }
}
