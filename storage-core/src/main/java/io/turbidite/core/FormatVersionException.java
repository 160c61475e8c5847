package io.turbidite.core;

/** A file is of a format version that this release does not read. */
public final class FormatVersionException extends StorageException {
    private static final long serialVersionUID = 1L;

    /**
     * Names the file, its format, the version that it has, and the newest that this release reads.
     */
    public FormatVersionException(String file, String format, int found, int readable) {
        super(
                "%s is %s version %d; this release reads version %d: open it with %s release"
                        .formatted(
                                file,
                                format,
                                found,
                                readable,
                                found > readable ? "a newer" : "the older"),
                null);
    }
}
