package io.turbidite.lsm.component;

/** How leaf pages are stored. The codes are on disk. */
public enum Compression {
    NONE(0),
    /** LZ4 blocks; a page that does not shrink by an eighth is stored as it is. */
    LZ4(1);

    private final int code;

    Compression(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }
}
