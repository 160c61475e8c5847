package io.turbidite.bench.peer;

import io.turbidite.core.bytes.Slice;

/** A synthetic tweet (LUO19 §6.1), reused. */
public final class Tweet {
    /** The primary key: random 64 bits. */
    public long id;

    /** 0 to 99,999. */
    public int user;

    /** Microseconds, increasing. */
    public long created;

    /** 430 to 530 bytes of text, so that a record has about 500. */
    public final Slice message = new Slice();
}
