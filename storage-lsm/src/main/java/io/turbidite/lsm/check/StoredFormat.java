package io.turbidite.lsm.check;

/**
 * A file and the version of its format. <em>Immutable.</em>
 *
 * @param file its name in the store's directory
 * @param format for example {@code component}
 * @param version of the format
 * @param oldest the first version that this release reads
 * @param newest the version that this release writes, the last one that it reads
 * @param bytes size of the file
 */
public record StoredFormat(
        String file, String format, int version, int oldest, int newest, long bytes) {
    /** Whether an upgrade writes it anew. */
    public boolean isOutdated() {
        return version < newest;
    }

    /** Whether this release reads it. */
    public boolean isReadable() {
        return version >= oldest && version <= newest;
    }
}
