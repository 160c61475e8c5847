package io.turbidite.bench.peer;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordWriter;

/** A synthetic tweet (LUO19 §6.1), reused. */
public final class Tweet {
    public static final int ATTRIBUTE_COUNT = 4;

    /** The primary key: random 64 bits. */
    public long id;

    /** Each 0 to 99,999; the first is the user. */
    public final int[] attributes = new int[ATTRIBUTE_COUNT];

    /** Microseconds, increasing. */
    public long created;

    /** Text, as long as the {@link RecordSize} says. */
    public final Slice message = new Slice();

    /**
     * The tweet as a record of {@code id}, the attributes, {@code created} and {@code message}, in
     * this order.
     *
     * @return valid until the writer is used again
     */
    public Slice record(RecordWriter writer) {
        writer.begin();
        writer.setLong(0, id);
        for (int i = 0; i < ATTRIBUTE_COUNT; i++) {
            writer.setLong(1 + i, attributes[i]);
        }
        writer.setLong(1 + ATTRIBUTE_COUNT, created);
        writer.setString(2 + ATTRIBUTE_COUNT, message);
        return writer.finish();
    }

    /** Bytes of the average tweet: key, attributes, time, message. */
    public static long meanBytes() {
        return RecordSize.TWEETS.meanBytes();
    }
}
