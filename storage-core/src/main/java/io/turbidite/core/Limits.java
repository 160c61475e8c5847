package io.turbidite.core;

import java.util.regex.Pattern;

/** Stated bounds on what a client may hand in; each is checked where the bytes come in. */
public final class Limits {
    /**
     * Longest encoded key of any index, in bytes: a page of 4 KiB must hold two with room to spare.
     */
    public static final int KEY_BYTES_MAX = 1_024;

    /** Largest encoded record, in bytes. */
    public static final int RECORD_BYTES_MAX = 16 << 20;

    /** Deepest nesting of arrays and objects in a record. */
    public static final int NESTING_DEPTH_MAX = 64;

    /** Most declared fields of a record type. */
    public static final int DECLARED_FIELD_COUNT_MAX = 4_096;

    /** Timestamps are operation numbers of 47 bits: 140 trillion operations (D2). */
    public static final long TIMESTAMP_MAX = (1L << 47) - 1;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");

    private Limits() {}

    /**
     * Returns {@code name} if it may name a dataset, an index or a feed.
     *
     * @throws InvalidRequestException naming {@code what} otherwise
     */
    public static String checkName(String what, String name) {
        if (!NAME.matcher(name).matches()) {
            throw new InvalidRequestException(
                    "%s name '%s' must be 1 to 64 letters, digits, '_' or '-'"
                            .formatted(
                                    what, name.length() > 80 ? name.substring(0, 80) + "…" : name));
        }
        return name;
    }

    /** What to throw when {@code what} has a key of more than {@link #KEY_BYTES_MAX}. */
    public static InvalidRequestException keyTooLong(String what, int byteCount) {
        return new InvalidRequestException("%s: a key of %d bytes is longer than the limit of %d"
                .formatted(what, byteCount, KEY_BYTES_MAX));
    }

    /**
     * Returns {@code byteCount} if a key may be that long.
     *
     * @throws InvalidRequestException naming {@code what} otherwise
     */
    public static int checkKeyBytes(String what, int byteCount) {
        if (byteCount > KEY_BYTES_MAX) {
            throw keyTooLong(what, byteCount);
        }
        return byteCount;
    }
}
