package io.turbidite.pm;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.index.RegionPlace;
import io.turbidite.core.memory.ByteSize;
import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.region.RegionMode;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.region.SegmentMemory;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a definition tells an index of kind pm. <em>Immutable.</em>
 *
 * @param mode what its regions survive; {@code auto} takes the best there is
 * @param path a directory for the regions, of a file system on persistent memory for example; empty
 *     for the store's own
 * @param bytesMax how far each region may grow; each partition has one
 * @param pageBytes of a page of primary keys: a multiple of 256
 */
record PmParameters(Mode mode, String path, long bytesMax, int pageBytes) {
    static final String MODE = "mode";
    static final String PATH = "path";
    static final String BYTES = "bytes";
    static final String PAGE_BYTES = "pageBytes";
    private static final Set<String> NAMES = Set.of(MODE, PATH, BYTES, PAGE_BYTES);

    private static final String BYTES_DEFAULT = "1GiB";

    /** A region of the largest size has so many extents; a file is written one at a time. */
    private static final int EXTENTS = 256;

    /** What a page has besides one entry. */
    private static final int PAGE_OVERHEAD_BYTES = 32;

    /** What regions survive, as definitions say it. */
    enum Mode {
        /** The best that the machine has. */
        AUTO,
        /** Persistent memory. */
        DAX,
        /** A mapped file. */
        FILE,
        /** Nothing. */
        VOLATILE;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }

        static Mode of(RegionMode mode) {
            return switch (mode) {
                case DAX -> DAX;
                case FILE -> FILE;
                case VOLATILE -> VOLATILE;
            };
        }

        private static Mode ofLabel(String use, String label) {
            for (Mode mode : values()) {
                if (mode.label().equals(label)) {
                    return mode;
                }
            }
            throw new InvalidRequestException(
                    "%s: unknown mode '%s'; there are auto, dax, file and volatile"
                            .formatted(use, label));
        }
    }

    /**
     * Checks what a user gave.
     *
     * @param use who it is for, in messages
     * @param primaryKeyBytesMax the longest primary key that a page must hold
     * @throws InvalidRequestException naming the parameter that is unknown or out of range
     */
    static PmParameters of(String use, Map<String, String> given, int primaryKeyBytesMax) {
        Set<String> unknown = new TreeSet<>(given.keySet());
        unknown.removeAll(NAMES);
        if (!unknown.isEmpty()) {
            throw new InvalidRequestException(
                    "%s: kind pm takes mode, path, bytes and pageBytes, not %s"
                            .formatted(use, unknown));
        }
        String path = given.getOrDefault(PATH, "");
        if (given.containsKey(PATH) && path.isBlank()) {
            throw new InvalidRequestException(
                    "%s: path is empty; leave it out to have the regions in the store"
                            .formatted(use));
        }
        if (!path.isEmpty() && !isAbsolute(use, path)) {
            throw new InvalidRequestException(
                    "%s: path is '%s' but must be absolute".formatted(use, path));
        }
        int pageBytesMin = pageBytesFor(primaryKeyBytesMax);
        PmParameters parameters = new PmParameters(
                Mode.ofLabel(use, given.getOrDefault(MODE, Mode.AUTO.label())),
                path,
                ByteSize.parse(use + ": bytes", given.getOrDefault(BYTES, BYTES_DEFAULT)),
                pageBytes(
                        use,
                        given.get(PAGE_BYTES) == null
                                ? Math.max(RegionSpec.PAGE_BYTES_DEFAULT, pageBytesMin)
                                : ByteSize.parse(use + ": pageBytes", given.get(PAGE_BYTES))));
        if (parameters.pageBytes < pageBytesMin) {
            throw new InvalidRequestException(
                    "%s: pageBytes is %d, but primary keys may have %d bytes: it must be %d at least"
                            .formatted(
                                    use, parameters.pageBytes, primaryKeyBytesMax, pageBytesMin));
        }
        try {
            var _ = new RegionSpec(0, 0, parameters.pageBytes, parameters.bytesMax);
        } catch (InvalidRequestException wrong) {
            throw new InvalidRequestException("%s: %s".formatted(use, wrong.getMessage()), wrong);
        }
        return parameters;
    }

    /** What {@link #toMap} gave, out of a manifest. */
    static PmParameters kept(Map<String, String> parameters) {
        return of("an index that is there", parameters, 0);
    }

    private static int pageBytes(String use, long bytes) {
        if (bytes > Integer.MAX_VALUE) {
            throw new InvalidRequestException("%s: pageBytes is %d".formatted(use, bytes));
        }
        return (int) bytes;
    }

    private static int pageBytesFor(int primaryKeyBytesMax) {
        int blocks = (primaryKeyBytesMax + PAGE_OVERHEAD_BYTES + RegionMemory.BLOCK_BYTES - 1)
                / RegionMemory.BLOCK_BYTES;
        return blocks * RegionMemory.BLOCK_BYTES;
    }

    /** What a manifest keeps: all of it. */
    Map<String, String> toMap() {
        Map<String, String> map = new TreeMap<>();
        map.put(MODE, mode.label());
        if (!path.isEmpty()) {
            map.put(PATH, path);
        }
        map.put(BYTES, String.valueOf(bytesMax));
        map.put(PAGE_BYTES, String.valueOf(pageBytes));
        return map;
    }

    /** Follows from the largest size, so that it is the same at each opening. */
    int extentBytes() {
        long wanted = Long.highestOneBit(Math.max(1, bytesMax / EXTENTS));
        return Math.clamp(wanted, SegmentMemory.EXTENT_BYTES_MIN, SegmentMemory.EXTENT_BYTES_MAX);
    }

    RegionSpec toSpec(RegionPlace place) {
        return new RegionSpec(
                place.storeId(), place.regionId(), pageBytes, bytesMax, place.sessions());
    }

    private static boolean isAbsolute(String use, String path) {
        try {
            return Path.of(path).isAbsolute();
        } catch (InvalidPathException no) {
            throw new InvalidRequestException(
                    "%s: path can't be a path: %s".formatted(use, no.getMessage()));
        }
    }
}
