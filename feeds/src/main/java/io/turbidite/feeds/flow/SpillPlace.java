package io.turbidite.feeds.flow;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Xxh3;
import io.turbidite.core.file.Disk;

import java.nio.charset.StandardCharsets;

/**
 * Where a feed spills, and what its spill is for. <em>Immutable.</em>
 *
 * @param disk of the store
 * @param directory on it
 * @param prefix of the names of its files, which share the directory with others' if it is not
 *     empty
 * @param isAcknowledged whether what is spilled is made durable and then told to the source as
 *     durable; the next run delivers it first. If not, the next run throws it away
 * @param owner a number over the feed and what it feeds
 * @param bytesMax of all its files
 * @param segmentBytes of one of them, about: the batch that passes it is its last
 * @param reserveBytes that are left on the disk for the store
 */
public record SpillPlace(
        Disk disk,
        String directory,
        String prefix,
        boolean isAcknowledged,
        long owner,
        long bytesMax,
        int segmentBytes,
        long reserveBytes) {
    /** The least bound: a segment is written while another is read. */
    public static final long BYTES_MIN = 32 << 20;

    /** In the directory of the store: spills whose records were acknowledged. */
    public static final String DIRECTORY = "feed-spill";

    private static final int SEGMENT_BYTES = 16 << 20;

    /** The log and the flushes of a store go on while a spill has filled the disk. */
    private static final long RESERVE_BYTES = 256 << 20;

    public SpillPlace {
        if (bytesMax < 1 || segmentBytes < 1) {
            throw new InvalidRequestException(
                    "a spill of %d bytes in files of %d".formatted(bytesMax, segmentBytes));
        }
    }

    /**
     * The place of a feed whose source goes back: its files are swept with those of queries when
     * the store is opened.
     *
     * @param queries the directory for those
     */
    public static SpillPlace swept(Disk disk, String queries, String feed, long bytesMax) {
        return new SpillPlace(
                disk,
                queries,
                "feed-" + feed + "-",
                false,
                0,
                bytesMax,
                SEGMENT_BYTES,
                RESERVE_BYTES);
    }

    /**
     * The place of a feed whose source can't go back.
     *
     * @param owned what tells its records from others': the dataset and its type
     */
    public static SpillPlace kept(Disk disk, String feed, String owned, long bytesMax) {
        byte[] text = owned.getBytes(StandardCharsets.UTF_8);
        return new SpillPlace(
                disk,
                DIRECTORY + "/" + feed,
                "",
                true,
                Xxh3.hash(text, 0, text.length),
                bytesMax,
                SEGMENT_BYTES,
                RESERVE_BYTES);
    }

    /** Whether there may be something that a feed has left, or had. */
    public static boolean isLeft(Disk disk, String feed) {
        String directory = DIRECTORY + "/" + feed;
        return (disk.exists(directory) && !disk.list(directory).isEmpty())
                || disk.exists(directory + SpillFormat.BESIDE_SUFFIX);
    }

    /** Whether there are files of batches that a feed has spilled. */
    public static boolean hasBatches(Disk disk, String feed) {
        String directory = DIRECTORY + "/" + feed;
        return disk.exists(directory)
                && disk.list(directory).stream().anyMatch(name -> !name.equals(SpillFormat.MARK));
    }

    static String parentOf(String path) {
        return path.substring(0, Math.max(0, path.lastIndexOf('/')));
    }

    String fileName(long number, String suffix) {
        return "%s/%s%012x%s".formatted(directory, prefix, number, suffix);
    }
}
