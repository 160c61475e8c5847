package io.turbidite.pm.region;

import org.jspecify.annotations.Nullable;

/** What a region survives. */
public enum RegionMode {
    /** Persistent memory: what was written back and fenced survives a power cut. */
    DAX(1),

    /** A file of the operating system: what was stored survives the process, not the machine. */
    FILE(2),

    /** No file: nothing survives. */
    VOLATILE(3);

    private final int code;

    RegionMode(int code) {
        this.code = code;
    }

    /** Its number in a header. */
    int code() {
        return code;
    }

    static @Nullable RegionMode of(int code) {
        for (RegionMode mode : values()) {
            if (mode.code == code) {
                return mode;
            }
        }
        return null;
    }
}
