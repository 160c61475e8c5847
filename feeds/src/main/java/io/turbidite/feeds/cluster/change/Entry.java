package io.turbidite.feeds.cluster.change;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Xxh3;

import java.lang.foreign.MemorySegment;

/**
 * A change and its place in the log. <em>Immutable.</em>
 *
 * @param number from 1, without a gap
 * @param chain hash of the chain of the change before, the number and the change: two logs that
 *     have one chain at one number have the same changes up to it
 */
public record Entry(long number, long chain, Change change) {
    /** The chain before the first change. */
    public static final long CHAIN_START = 0;

    /** Of a change's bytes. */
    public static final int PAYLOAD_BYTES_MAX = ChangeCodec.PAYLOAD_BYTES_MAX;

    /** The entry of a change that follows. */
    public static Entry after(long number, long chain, Change change) {
        return new Entry(
                number + 1, chained(chain, number + 1, ChangeCodec.encode(change)), change);
    }

    /**
     * The entry that a message has brought.
     *
     * @param payload as {@link #payload} makes it
     * @throws io.turbidite.core.InvalidRequestException if it is no change
     */
    public static Entry of(long number, long chain, byte[] payload) {
        return new Entry(number, chain, ChangeCodec.decode(payload));
    }

    /**
     * Looks whether a change can be one of a log.
     *
     * @throws io.turbidite.core.InvalidRequestException if its bytes are more than {@link
     *     #PAYLOAD_BYTES_MAX}, or a string is too long
     */
    public static void checkEncodes(Change change) {
        var _ = ChangeCodec.encode(change);
    }

    /** The bytes of the change, at most {@link #PAYLOAD_BYTES_MAX}. */
    public byte[] payload() {
        return ChangeCodec.encode(change);
    }

    /** Whether it follows on a change of that number and chain. */
    public boolean follows(long lastNumber, long lastChain) {
        return number == lastNumber + 1
                && chain == chained(lastChain, number, ChangeCodec.encode(change));
    }

    static long chained(long before, long number, byte[] payload) {
        byte[] head = new byte[2 * Long.BYTES];
        MemorySegment.ofArray(head).set(Bytes.I64, 0, before);
        MemorySegment.ofArray(head).set(Bytes.I64, Long.BYTES, number);
        return Xxh3.hash(Xxh3.hash(head, 0, head.length), Xxh3.hash(payload, 0, payload.length));
    }
}
