package io.turbidite.lsm.version;

import io.turbidite.core.file.Disk;
import io.turbidite.core.file.FileStatus;

/** The names in a store's directory. */
public final class StoreFiles {
    /** Held by the process that has the store open. */
    public static final String LOCK = "LOCK";

    /** Replaced whole by rename; a directory with it is a store. */
    public static final String MANIFEST = "MANIFEST";

    /** The manifest being written. */
    public static final String MANIFEST_DRAFT = "MANIFEST.draft";

    /**
     * In a directory that is being filled by a backup, a restore or a shipment, until it is a
     * store.
     */
    public static final String INCOMPLETE = "INCOMPLETE";

    /** In what a backup, a restore or a shipment made, until it is opened to be changed. */
    public static final String UNOPENED = "UNOPENED";

    /** Beside {@link #INCOMPLETE}: which shipment the directory is being filled from. */
    public static final String SHIPMENT = "SHIPMENT";

    /** The former being written. */
    public static final String SHIPMENT_DRAFT = "SHIPMENT.draft";

    /** Component files. */
    public static final String DATA = "data";

    /** Log segments. */
    public static final String LOG = "log";

    /** What an opening found that no manifest names: see {@link Trash}. */
    public static final String TRASH = "trash";

    /** Runs of queries' sorts; what is there when a store is opened is a killed process's. */
    public static final String SPILL = "spill";

    /** Regions of indexes of kinds that the store was given. */
    public static final String REGIONS = "regions";

    /** Hash logs of feeds, a directory each; may be there before the store is. */
    public static final String HASH_LOGS = "logs";

    /** In the directory of a hash log, once it was made. */
    private static final String HASH_LOG_REGISTRY = "log/HASHLOG";

    private static final String COMPONENT_SUFFIX = ".component";
    private static final String BITMAP_SUFFIX = ".dead";
    private static final String SORT_RUN_SUFFIX = ".run";
    private static final String REGION_MARKER_SUFFIX = ".outside";

    private StoreFiles() {}

    /** Whether all that there is of a name in the root of a store to be is hash logs. */
    public static boolean isOfHashLogs(Disk disk, String plainName) {
        return plainName.equals(HASH_LOGS)
                && disk.status(HASH_LOGS).kind() == FileStatus.Kind.DIRECTORY
                && disk.list(HASH_LOGS).stream()
                        .allMatch(log -> disk.exists(
                                "%s/%s/%s".formatted(HASH_LOGS, log, HASH_LOG_REGISTRY)));
    }

    /** {@code data/00000000002a.component} for file 42. */
    public static String component(long fileId) {
        return "%s/%012x%s".formatted(DATA, fileId, COMPONENT_SUFFIX);
    }

    /** {@code data/00000000002a.dead} for file 42: invalid entries of a component. */
    public static String bitmap(long fileId) {
        return "%s/%012x%s".formatted(DATA, fileId, BITMAP_SUFFIX);
    }

    /** {@code data/00000000002a.run} for file 42: a run of an external sort. */
    public static String sortRun(long fileId) {
        return "%s/%012x%s".formatted(DATA, fileId, SORT_RUN_SUFFIX);
    }

    /**
     * Whether a plain name of the data directory is that of a sort's run, which no crash leaves in
     * use.
     */
    public static boolean isSortRun(String plainName) {
        return plainName.endsWith(SORT_RUN_SUFFIX);
    }

    /**
     * Whether a plain name of the directory of regions is of a region of this store, or of what was
     * made to try one out. Others may have theirs there.
     */
    public static boolean isRegion(String plainName) {
        return plainName.matches("[0-9a-f]{12,16}\\.region(\\.probe)?");
    }

    /** {@code regions/5f0a1c93d27b4e68.outside}: the marker of a region that lies elsewhere. */
    public static String regionMarker(long regionId) {
        return "%s/%012x%s".formatted(REGIONS, regionId, REGION_MARKER_SUFFIX);
    }

    /**
     * The region's number in a plain name of the directory of regions, or -1 if it is no marker's.
     */
    public static long markedRegion(String plainName) {
        if (!plainName.matches("[0-9a-f]{12,16}\\" + REGION_MARKER_SUFFIX)) {
            return -1;
        }
        return Long.parseUnsignedLong(plainName.substring(0, plainName.indexOf('.')), 16);
    }

    /** Whether a plain name of the directory of regions is of a marker that was never finished. */
    public static boolean isMarkerDraft(String plainName) {
        return plainName.matches("[0-9a-f]{12,16}\\" + REGION_MARKER_SUFFIX + "\\.new");
    }

    /** The file id in a plain name of the data directory, or -1 if it is no component's. */
    public static long componentFileId(String plainName) {
        return fileId(plainName, COMPONENT_SUFFIX);
    }

    /** The file id in a plain name of the data directory, or -1 if it is no bitmap's. */
    public static long bitmapFileId(String plainName) {
        return fileId(plainName, BITMAP_SUFFIX);
    }

    /** The file id in a plain name of the data directory or the trash, or -1 if it has none. */
    public static long fileIdOf(String plainName) {
        return Math.max(componentFileId(plainName), bitmapFileId(plainName));
    }

    private static long fileId(String plainName, String suffix) {
        if (!plainName.endsWith(suffix)) {
            return -1;
        }
        String digits = plainName.substring(0, plainName.length() - suffix.length());
        return digits.matches("[0-9a-f]{12}") ? Long.parseLong(digits, 16) : -1;
    }
}
