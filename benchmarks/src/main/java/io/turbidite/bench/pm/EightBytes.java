package io.turbidite.bench.pm;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;

/** A number as a key of eight bytes that sort as it does. <em>Confined to one thread</em>. */
final class EightBytes {
    private final MemorySegment bytes = MemorySegment.ofArray(new byte[Long.BYTES]);
    private final Slice slice = new Slice().set(bytes, 0, Long.BYTES);

    /** The same slice each time. */
    Slice of(long number) {
        bytes.set(Bytes.I64_BE, 0, number);
        return slice;
    }

    static long number(Slice key) {
        return key.segment().get(Bytes.I64_BE, key.offset());
    }
}
