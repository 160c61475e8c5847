package io.turbidite.core.file;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Objects;

/** Files that are mapped, where the system lets them be. */
class MappedFileTest {
    private static final int BYTES = 1 << 16;

    @TempDir
    Path directory;

    private RealDisk disk;
    private DiskFile file;

    @BeforeEach
    void writeAhead() {
        disk = RealDisk.open(directory);
        assumeTrue(disk.mapsFiles(), "a file system that is not mapped");
        file = disk.create("mapped");
        file.write(0, MemorySegment.ofArray(new byte[BYTES]), 0, BYTES);
    }

    private MappedFile map() {
        return Objects.requireNonNull(file.map(BYTES));
    }

    private static byte[] pattern(int byteCount) {
        byte[] bytes = new byte[byteCount];
        Arrays.fill(bytes, (byte) 7);
        return bytes;
    }

    /** Of any length and place, without a sync and without a close. */
    @Test
    void whatIsStoredIsInTheFile() throws IOException {
        byte[] expected = new byte[BYTES];
        try (MappedFile mapped = map()) {
            int at = 1;
            for (int length = 1; at + length <= BYTES; length = length * 3 + 1) {
                mapped.write(at, MemorySegment.ofArray(pattern(length)), 0, length);
                Arrays.fill(expected, at, at + length, (byte) 7);
                assertArrayEquals(expected, Files.readAllBytes(directory.resolve("mapped")));
                at += length + 5;
            }
            file.sync();
        }
        byte[] read = new byte[BYTES];
        assertEquals(BYTES, file.read(0, MemorySegment.ofArray(read), 0, BYTES));
        assertArrayEquals(expected, read);
        file.close();
    }

    @Test
    void aMappingOutlivesItsFile() throws IOException {
        MappedFile mapped = map();
        file.close();
        mapped.write(5, MemorySegment.ofArray(pattern(9)), 0, 9);
        mapped.close();
        assertEquals(7, Files.readAllBytes(directory.resolve("mapped"))[13]);
        mapped.close(); // once more does nothing
    }

    /** Another process may do that. The JVM lives on, and says which file it was. */
    @Test
    void aStoreToAFileThatWasCutIsAnError() throws IOException {
        try (MappedFile mapped = map()) {
            try (FileChannel other =
                    FileChannel.open(directory.resolve("mapped"), StandardOpenOption.WRITE)) {
                assertNotNull(other.truncate(0));
            }
            MemorySegment source = MemorySegment.ofArray(pattern(4 << 10));
            StorageIoException error = assertThrows(
                    StorageIoException.class, () -> mapped.write(8 << 10, source, 0, 4 << 10));
            assertEquals(StorageIoException.Kind.IO, error.kind());
        }
        file.close();
    }

    @Test
    void onlyWhatIsOpenForWritingIsMapped() {
        file.close();
        try (DiskFile reader = disk.openReadOnly("mapped")) {
            assertThrows(InvalidRequestException.class, () -> reader.map(BYTES));
        }
    }

    /** Whoever stands in front of a file sees all that is written to it. */
    @Test
    void aForwardedFileIsNotMapped() {
        ForwardingFile front = () -> file;
        assertEquals(null, front.map(BYTES));
        file.close();
    }
}
