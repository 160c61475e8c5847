package io.turbidite.feeds.store;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads the committed lines of a feed's dead-letter file. A feed may append to it meanwhile.
 * Static, without state.
 */
public final class LetterLines {
    /** Longer than any line: raw text is cut, and at worst each of its bytes takes six. */
    private static final int CHUNK_BYTES = 1 << 20;

    private LetterLines() {}

    /**
     * A line without its end.
     *
     * @param offset where it begins in the file
     * @param next where the one behind it begins
     */
    public record Line(long offset, long next, String text) {}

    /** The name of the partition that a feed's letters are when they are fed again. */
    public static String partition(String feed) {
        return Positions.ofLetters(feed);
    }

    /** Where the committed lines of a feed's file end. */
    public static long end(Store store, String feed) {
        Disk disk = store.environment().disk();
        String name = Positions.ofLetters(feed);
        if (store.findDataset(Positions.DATASET) == null || !disk.exists(name)) {
            return 0;
        }
        try (DiskFile file = disk.openReadOnly(name)) {
            return Math.min(file.size(), Positions.open(store, feed).letterBytes());
        }
    }

    /** What was taken of the letters that were fed again, or null if that is nothing. */
    public static @Nullable PartitionState taken(Store store, String feed) {
        if (store.findDataset(Positions.DATASET) == null) {
            return null;
        }
        Positions.Row row = Positions.open(store, feed).row(partition(feed));
        return row == null ? null : row.state();
    }

    /**
     * The {@code byteCount} bytes before {@code offset}, or fewer where the file is shorter; by
     * them a file is known again that may have been emptied meanwhile.
     */
    public static byte[] before(Store store, String feed, long offset, int byteCount) {
        if (offset == 0 || offset > end(store, feed)) {
            return new byte[0];
        }
        try (DiskFile file = store.environment().disk().openReadOnly(Positions.ofLetters(feed))) {
            int length = (int) Math.min(offset, byteCount);
            return read(file, offset - length, length);
        }
    }

    /**
     * Lines of a feed's file.
     *
     * @param from where the first begins
     * @param limit how many at most
     * @throws InvalidRequestException if no line begins there
     */
    public static List<Line> read(Store store, String feed, long from, int limit) {
        List<Line> lines = new ArrayList<>();
        Disk disk = store.environment().disk();
        String name = Positions.ofLetters(feed);
        if (store.findDataset(Positions.DATASET) == null || !disk.exists(name)) {
            return lines;
        }
        long committed = Positions.open(store, feed).letterBytes();
        try (DiskFile file = disk.openReadOnly(name)) {
            long end = Math.min(file.size(), committed);
            checkBegins(file, feed, from, end);
            long at = from;
            while (at < end && lines.size() < limit) {
                byte[] chunk = read(file, at, (int) Math.min(end - at, CHUNK_BYTES));
                int used = 0;
                for (int i = 0; i < chunk.length && lines.size() < limit; i++) {
                    if (chunk[i] == '\n') {
                        String text = new String(
                                Arrays.copyOfRange(chunk, used, i), StandardCharsets.UTF_8);
                        lines.add(new Line(at + used, at + i + 1, text));
                        used = i + 1;
                    }
                }
                if (used == 0) {
                    break; // cut by somebody
                }
                at += used;
            }
        }
        return lines;
    }

    private static void checkBegins(DiskFile file, String feed, long from, long end) {
        if (from < 0 || (from > 0 && from <= end && read(file, from - 1, 1)[0] != '\n')) {
            throw new InvalidRequestException(
                    "no dead letter of feed %s begins at %d".formatted(feed, from));
        }
    }

    private static byte[] read(DiskFile file, long offset, int byteCount) {
        byte[] bytes = new byte[byteCount];
        MemorySegment buffer = MemorySegment.ofArray(new byte[byteCount]);
        int done = 0;
        while (done < byteCount) {
            int read = file.read(offset + done, buffer, done, byteCount - done);
            if (read <= 0) {
                return Arrays.copyOf(bytes, done);
            }
            MemorySegment.copy(buffer, Bytes.U8, done, bytes, done, read);
            done += read;
        }
        return bytes;
    }
}
