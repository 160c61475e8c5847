package io.turbidite.core.sim;

/** What can be asked of a disk, for hooks, fault scripts and traces. */
public enum OperationKind {
    CREATE(true),
    OPEN(false),
    READ(false),
    WRITE(true),
    TRUNCATE(true),
    SYNC(true),
    DELETE(true),
    RENAME(true),
    LINK(true),
    SYNC_DIRECTORY(true),
    CREATE_DIRECTORY(true),
    LIST(false),
    LOCK(false);

    private final boolean changing;

    OperationKind(boolean changing) {
        this.changing = changing;
    }

    /**
     * Whether it may change what survives a power cut: a durable step, at which hooks are called.
     */
    public boolean isChanging() {
        return changing;
    }
}
