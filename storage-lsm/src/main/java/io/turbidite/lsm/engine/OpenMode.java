package io.turbidite.lsm.engine;

/** How a store is opened. */
public enum OpenMode {
    /** It is made if there is none. */
    CREATE,

    /** It must be there. */
    EXISTING,

    /**
     * It must be there, and no byte of it is changed but the lock file's name: the log is replayed
     * into memory and left as it is, nothing is put aside, cut or counted, and background work
     * rests.
     */
    READING
}
