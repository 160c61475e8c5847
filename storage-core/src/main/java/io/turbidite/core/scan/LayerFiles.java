package io.turbidite.core.scan;

import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Which components a search, scan or fetch read, and which it passed over unread, by the numbers of
 * their files: to show what a query spared. Memory has no file, and is in neither.
 * <em>Immutable.</em>
 */
public final class LayerFiles {
    /** None. */
    public static final LayerFiles NONE = new LayerFiles(new long[0], new long[0], true);

    /** Any may have been read: a fetch without a filter does not say. */
    public static final LayerFiles UNKNOWN = new LayerFiles(new long[0], new long[0], false);

    /** Ascending, each once; so the others. */
    private final long[] read;

    private final long[] passedOver;

    private final boolean isKnown;

    private LayerFiles(long[] read, long[] passedOver, boolean isKnown) {
        this.isKnown = isKnown;
        this.read = read;
        this.passedOver = passedOver;
    }

    /**
     * Numbers of files.
     *
     * @param read of components that were read
     * @param passedOver of those that were not: by a filter, by what their zones or tokens are
     */
    public static LayerFiles of(LongStream read, LongStream passedOver) {
        long[] sortedRead = distinct(read.toArray());
        long[] sortedPassedOver = distinct(passedOver.toArray());
        return sortedRead.length == 0 && sortedPassedOver.length == 0
                ? NONE
                : new LayerFiles(sortedRead, sortedPassedOver, true);
    }

    /** The same numbers ascending, each once. */
    private static long[] distinct(long[] files) {
        Arrays.sort(files);
        int count = 0;
        for (long file : files) {
            if (count == 0 || files[count - 1] != file) {
                files[count++] = file;
            }
        }
        return count == files.length ? files : Arrays.copyOf(files, count);
    }

    /**
     * Files of components that were passed over and never read, ascending.
     *
     * @param all what the whole query did, this included
     */
    public List<Long> unread(LayerFiles all) {
        if (!all.isKnown) {
            return List.of();
        }
        return LongStream.of(passedOver)
                .filter(file -> !has(all.read, file))
                .boxed()
                .toList();
    }

    /** False for {@link #UNKNOWN}, and what it is part of. */
    public boolean isKnown() {
        return isKnown;
    }

    /** Both together. */
    public LayerFiles plus(LayerFiles more) {
        if (!isKnown || !more.isKnown) {
            return UNKNOWN;
        }
        if (read.length == 0 && passedOver.length == 0) {
            return more;
        }
        if (hasAll(read, more.read) && hasAll(passedOver, more.passedOver)) {
            return this; // as searches of one index mostly are
        }
        return of(
                LongStream.concat(LongStream.of(read), LongStream.of(more.read)),
                LongStream.concat(LongStream.of(passedOver), LongStream.of(more.passedOver)));
    }

    private static boolean hasAll(long[] sorted, long[] others) {
        for (long other : others) {
            if (!has(sorted, other)) {
                return false;
            }
        }
        return true;
    }

    private static boolean has(long[] sorted, long file) {
        return Arrays.binarySearch(sorted, file) >= 0;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LayerFiles files
                && isKnown == files.isKnown
                && Arrays.equals(read, files.read)
                && Arrays.equals(passedOver, files.passedOver);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(read) + Arrays.hashCode(passedOver);
    }

    @Override
    public String toString() {
        return !isKnown
                ? "unknown"
                : "read " + Arrays.toString(read) + ", passed over " + Arrays.toString(passedOver);
    }
}
