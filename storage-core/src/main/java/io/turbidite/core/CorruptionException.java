package io.turbidite.core;

/** Bytes on disk are not what was written. Names the file, the offset in it, and what was found. */
public sealed class CorruptionException extends StorageException
        permits DamagedSourceException, QuarantinedException {
    private static final long serialVersionUID = 1L;

    private final String file;
    private final long offset;

    /**
     * @param file the file's name in its store
     * @param offset bytes from the start of the file
     * @param what the thing that was read, for example {@code "leaf page 12"}
     * @param expected what a sound file has there
     * @param found what is there
     */
    public CorruptionException(
            String file, long offset, String what, String expected, String found) {
        super(
                "%s at offset %d is damaged: %s should be %s but is %s"
                        .formatted(file, offset, what, expected, found),
                null);
        this.file = file;
        this.offset = offset;
    }

    private CorruptionException(String use, CorruptionException cause) {
        super("%s: %s".formatted(use, cause.getMessage()), cause);
        this.file = cause.file;
        this.offset = cause.offset;
    }

    /** Of a file as a whole. */
    CorruptionException(String file, String message) {
        super(message, null);
        this.file = file;
        this.offset = 0;
    }

    /**
     * Of a file that is gone.
     *
     * @param file the file's name in its store
     * @param more how one knows that it was there, and what to do
     */
    public static CorruptionException missing(String file, String more) {
        return new CorruptionException(file, "%s is missing: %s".formatted(file, more));
    }

    /**
     * The same, of a caller that knows more than the place in a file.
     *
     * @param use what failed, in a few words
     */
    public CorruptionException in(String use) {
        return new CorruptionException(use, this);
    }

    /** The file's name in its store. */
    public String file() {
        return file;
    }

    /** Bytes from the start of the file. */
    public long offset() {
        return offset;
    }
}
