package io.turbidite.bench.peer;

import io.turbidite.core.bytes.Slice;

/** A synthetic tweet (LUO19 §6.1), reused. */
public final class Tweet {
    public static final int ATTRIBUTE_COUNT = 4;

    /** The primary key: random 64 bits. */
    public long id;

    /** Each 0 to 99,999; the first is the user. */
    public final int[] attributes = new int[ATTRIBUTE_COUNT];

    /** Microseconds, increasing. */
    public long created;

    /** 418 to 518 bytes of text, so that a record has about 500. */
    public final Slice message = new Slice();

    /** Bytes of the average tweet: key, attributes, time, message. */
    public static long meanBytes() {
        return 8 + 4 * ATTRIBUTE_COUNT + 8 + 468;
    }
}
