package io.turbidite.core.log;

import io.turbidite.core.bytes.Slice;

/**
 * The write-ahead log. Positions and sequences are one numbering: the count of records ever published.
 */
public final class WriteAheadLog implements AutoCloseable {
    private final Claim claim = new Claim();
    private long next;

    private WriteAheadLog(long next) {
        this.next = next;
    }

    /**
     * Opens the log, hands every record from {@code startPosition} on to {@code visitor}, cuts a torn
     * end, and gets ready for new records.
     *
     * @param startPosition what the manifest says replay must start from; 0 for a fresh store
     */
    public static WriteAheadLog open(
            LogSite site, LogOptions options, long startPosition, ReplayVisitor visitor) {
        return new WriteAheadLog(startPosition);
    }

    /** Claims room for a payload; blocks while the ring is full. */
    public Claim claim(int payloadBytesMax) {
        return claim;
    }

    /** Claims, copies and publishes; returns the record's sequence. */
    public long append(Slice payload) {
        return next++;
    }

    /** Waits until the record is as safe as the durability mode promises. */
    public void awaitDurable(long sequence) {}

    /** Waits until the record has been handed to the operating system: it survives the process. */
    public void awaitWritten(long sequence) {}

    /** Makes everything published so far durable, in every mode (design §4, rule 6). */
    public void flush() {}

    /** Every record below this sequence is durable. */
    public long durableSequence() {
        return next;
    }

    /** Every record below this position is published. */
    public long position() {
        return next;
    }

    /** Deletes the segments that hold nothing at or above {@code position}. */
    public void truncateBefore(long position) {}

    /** Bytes of records that are kept. */
    public long bytes() {
        return 0;
    }

    /** Whether a write or a sync has failed: nothing is accepted any more. */
    public boolean failed() {
        return false;
    }

    @Override
    public void close() {}
}
