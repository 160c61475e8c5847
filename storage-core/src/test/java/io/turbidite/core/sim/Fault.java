package io.turbidite.core.sim;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.StorageIoException.Kind;

/** What goes wrong with an operation. */
public enum Fault {
    /**
     * The device fails. Nothing is written; a sync leaves some of the data written and loses the
     * rest.
     */
    EIO(Kind.IO, "Input/output error (injected)"),

    /** No space. Nothing is written; of a sync (delayed allocation) as for {@link #EIO}. */
    ENOSPC(Kind.NO_SPACE, "No space left on device (injected)"),

    /** A write stops in the middle; anything else fails as with {@link #EIO}. */
    SHORT_WRITE(Kind.IO, "short write (injected)"),

    /** Too many open files. */
    EMFILE(Kind.TOO_MANY_FILES, "Too many open files (injected)");

    private final Kind kind;
    private final String reason;

    Fault(Kind kind, String reason) {
        this.kind = kind;
        this.reason = reason;
    }

    /** The exception that the operation ends in. */
    StorageIoException exception(OperationKind operation, String name) {
        return FileTree.failure(kind, operation, name, reason);
    }
}
