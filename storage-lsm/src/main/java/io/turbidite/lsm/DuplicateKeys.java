package io.turbidite.lsm;

/** What a bulk load does with several records of the same primary key. */
public enum DuplicateKeys {
    /** Loads the last of them, like a series of upserts. */
    LAST_COUNTS,

    /** The load fails and loads nothing. */
    REFUSED
}
