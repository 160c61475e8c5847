package io.turbidite.pm.region;

/** What a region survives. */
public enum RegionMode {
    /** Persistent memory: what was written back and fenced survives a power cut. */
    DAX,

    /** A file of the operating system: what was stored survives the process, not the machine. */
    FILE,

    /** No file: nothing survives. */
    VOLATILE
}
