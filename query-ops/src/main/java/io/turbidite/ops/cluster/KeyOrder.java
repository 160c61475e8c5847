package io.turbidite.ops.cluster;

import com.fasterxml.jackson.databind.JsonNode;

import org.apache.hyracks.api.dataflow.value.IBinaryComparator;
import org.apache.hyracks.api.dataflow.value.IBinaryComparatorFactory;
import org.apache.hyracks.api.io.IPersistedResourceRegistry;

import java.util.Arrays;

/**
 * The order of keys: that of their bytes without sign (D1), for every type. The engine's {@code
 * RawBinaryComparatorFactory} takes bytes with their sign, and so has 0x80 below 0x7F.
 */
final class KeyOrder implements IBinaryComparatorFactory {
    private static final long serialVersionUID = 1L;

    @Override
    public IBinaryComparator createBinaryComparator() {
        return KeyOrder::compare;
    }

    static int compare(byte[] a, int aAt, int aLength, byte[] b, int bAt, int bLength) {
        return Arrays.compareUnsigned(a, aAt, aAt + aLength, b, bAt, bAt + bLength);
    }

    /** Nobody keeps it: it travels with jobs alone. */
    @Override
    public JsonNode toJson(IPersistedResourceRegistry registry) {
        throw new UnsupportedOperationException("an order of keys is no resource");
    }
}
