package io.turbidite.hashlog;

/**
 * Which of a session's input records are durable: pairs of serial and log address, in order, that wait for
 * the log's durable address. <em>Confined to its session.</em> Bounded: when it is full the newest pair
 * takes the next one's place, and the durable point moves in larger steps.
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

    /** Once the log is durable up to {@code address}, so are the records up to {@code serial}. */
    void add(long serial, long address) {
        if (count < COUNT_MAX) {
            count++;
        }
        int last = (first + count - 1) % COUNT_MAX;
        serials[last] = serial;
        addresses[last] = address;
    }

    /** The newest serial that a log durable up to {@code durable} has. */
    long durableSerial(long durable) {
        while (count > 0 && addresses[first] <= durable) {
            durableSerial = serials[first];
            first = (first + 1) % COUNT_MAX;
            count--;
        }
        return durableSerial;
    }
}
