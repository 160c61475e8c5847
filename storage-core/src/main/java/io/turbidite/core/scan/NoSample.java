package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

/** No sample. <em>Immutable.</em> */
enum NoSample implements RecordSample {
    NONE;

    @Override
    public int size() {
        return 0;
    }

    @Override
    public Slice record(int index, Slice target) {
        throw new IndexOutOfBoundsException("record %d of none".formatted(index));
    }

    @Override
    public double liveShare() {
        return 1;
    }
}
