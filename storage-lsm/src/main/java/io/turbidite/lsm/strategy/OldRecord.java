package io.turbidite.lsm.strategy;

/**
 * What a write must know of the version that it replaces, before it is logged; from nothing to all.
 */
public enum OldRecord {
    /** Nothing: the write is blind. */
    NOTHING,
    /**
     * The record, if its version is in the current memory layer; what is older is passed over. So
     * an entry is never valid in one memory component with its successor (design §4 rule 3).
     */
    CURRENT_LAYER,
    /**
     * Where the version is, by the key trees, and the record if that is in the current memory
     * layer; no record page is read (LUO19 §5.2).
     */
    KEY,
    /** The record, wherever it is. */
    RECORD;

    /** Whether it tells of every version that there is: then a delete of nothing needs no write. */
    public boolean isComplete() {
        return this == KEY || this == RECORD;
    }

    /** The one of both that tells more. */
    public OldRecord or(OldRecord other) {
        return compareTo(other) >= 0 ? this : other;
    }
}
