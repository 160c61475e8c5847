package io.turbidite.ops.run;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

/** The hash by which operators tell keys apart: never kept beyond a query. */
public final class ByteHash {
    private ByteHash() {}

    /**
     * Folds eight bytes at a time by multiplication, the high half mixed back in (wyhash's step).
     */
    public static long of(Slice key) {
        long hash = mix(Bytes.prefix(key.segment(), key.offset(), key.length()) ^ key.length());
        int at = Long.BYTES;
        for (; at + Long.BYTES <= key.length(); at += Long.BYTES) {
            hash = mix(hash ^ key.segment().get(Bytes.I64, key.offset() + at));
        }
        if (at < key.length()) {
            hash = mix(hash ^ Bytes.prefix(key.segment(), key.offset() + at, key.length() - at));
        }
        return hash;
    }

    private static long mix(long value) {
        long multiplier = 0x9E3779B97F4A7C15L;
        return value * multiplier ^ Math.multiplyHigh(value, multiplier);
    }
}
