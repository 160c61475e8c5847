package io.turbidite.hashlog;

/**
 * Knows which of a session's input records are durable: pairs of serial and log address, in order,
 * that wait for the log's durable address. <em>Confined to its session.</em> Bounded: when it is
 * full, a new pair replaces the newest one, and the durable point moves in larger steps.
 */
final class DurablePoints {
    private static final int COUNT_MAX = 256;

    private final long[] serials = new long[COUNT_MAX];
    private final long[] addresses = new long[COUNT_MAX];
    private int first;
    private int count;
    private long durableSerial;

    DurablePoints(long durableSerial) {
        this.durableSerial = durableSerial;
    }

    /**
     * Notes that the records up to {@code serial} are durable once the log is durable up to {@code
     * address}.
     */
    void add(long serial, long address) {
        if (count < COUNT_MAX) {
            count++;
        }
        int last = (first + count - 1) % COUNT_MAX;
        serials[last] = serial;
        addresses[last] = address;
    }

    /** The newest serial in a log that is durable up to {@code durable}. */
    long durableSerial(long durable) {
        while (count > 0 && addresses[first] <= durable) {
            durableSerial = serials[first];
            first = (first + 1) % COUNT_MAX;
            count--;
        }
        return durableSerial;
    }
}
