package io.turbidite.core;

import org.jspecify.annotations.Nullable;

/** The operating system refused or failed an operation on a file. */
public final class StorageIoException extends StorageException {
    private static final long serialVersionUID = 1L;

    /** What kind of failure it was, as far as a caller can act on it. */
    public enum Kind {
        /** EIO and everything not named below. */
        IO,
        /**
         * ENOSPC or a quota: background work pauses, the store resumes when there is space (D6).
         */
        NO_SPACE,
        /** EMFILE, ENFILE. */
        TOO_MANY_FILES,
        /** EACCES, EROFS, EPERM. */
        ACCESS_DENIED,
        /** ENOENT. */
        NOT_FOUND,
        /** EEXIST. */
        ALREADY_EXISTS,
        /**
         * Somebody has ended the wait, by an interrupt or because the process is to end; nothing
         * was done.
         */
        INTERRUPTED
    }

    private final Kind kind;
    private final @Nullable String file;
    private final boolean ofReading;

    /** With the kind of failure, what was tried with which file, and what the system said. */
    public StorageIoException(
            Kind kind, String operation, String file, String reason, @Nullable Throwable cause) {
        this(kind, file, "%s of %s failed: %s".formatted(operation, file, reason), cause, false);
    }

    /** As the other, of a file that is known by its name in a directory; the message has both. */
    public StorageIoException(
            Kind kind,
            String operation,
            String file,
            String directory,
            String reason,
            @Nullable Throwable cause) {
        this(
                kind,
                file,
                "%s of %s in %s failed: %s".formatted(operation, file, directory, reason),
                cause,
                false);
    }

    private StorageIoException(
            Kind kind,
            @Nullable String file,
            String message,
            @Nullable Throwable cause,
            boolean ofReading) {
        super(message, cause);
        this.kind = kind;
        this.file = file;
        this.ofReading = ofReading;
    }

    /**
     * Somebody has ended a wait; nothing was done.
     *
     * @param what was waited for
     */
    public static StorageIoException ofEndedWait(String what, String reason) {
        return new StorageIoException(
                Kind.INTERRUPTED,
                null,
                "the wait for %s was ended: %s".formatted(what, reason),
                null,
                false);
    }

    /** The same of an operation that changes nothing: see {@link #isOfReading}. */
    public StorageIoException asOfReading() {
        return new StorageIoException(kind, file, String.valueOf(getMessage()), getCause(), true);
    }

    /**
     * The same, of a caller that knows more than the name of a file.
     *
     * @param use what failed, in a few words
     */
    public StorageIoException in(String use) {
        return new StorageIoException(
                kind, file, "%s: %s".formatted(use, getMessage()), this, ofReading);
    }

    /**
     * Whether a file was only opened or read: whatever is on disk is there as before, and another
     * try may succeed. Of what was written or synced that can't be said.
     */
    public boolean isOfReading() {
        return ofReading;
    }

    /** What kind of failure it is: a full disk can be waited for, others not. */
    public Kind kind() {
        return kind;
    }

    /**
     * The name of the file or directory, in its store if the store asked for it; null if it has to
     * do with none.
     */
    public @Nullable String file() {
        return file;
    }
}
