package io.turbidite.lsm;

/** What a bulk load does with several records of one primary key. */
public enum DuplicateKeys {
    /** The last one given is loaded, as a series of upserts would leave it. */
    LAST_COUNTS,

    /** The load fails, and nothing of it is loaded. */
    REFUSED
}
