package io.turbidite.core.format;

/**
 * A file format and the versions of it that this release knows. <em>Immutable.</em>
 *
 * @param name as in the {@link FileHeader}
 * @param oldest the first version that is read
 * @param newest the last version that is read, which is written
 */
public record KnownFormat(String name, int oldest, int newest) {
    public KnownFormat {
        if (oldest < 1 || newest < oldest) {
            throw new IllegalArgumentException("%s %d to %d".formatted(name, oldest, newest));
        }
    }

    /** A format of which one version is read. */
    public KnownFormat(String name, int version) {
        this(name, version, version);
    }

    /**
     * Requires that a file is of this format, in a version that this release reads.
     *
     * @return the header
     * @throws io.turbidite.core.CorruptionException if it is of another format
     * @throws io.turbidite.core.FormatVersionException if it is of another version
     */
    public FileHeader check(String file, FileHeader header) {
        return header.check(file, name, oldest, newest);
    }

    @Override
    public String toString() {
        return oldest == newest
                ? name + " " + newest
                : "%s %d (reads %d and later)".formatted(name, newest, oldest);
    }
}
