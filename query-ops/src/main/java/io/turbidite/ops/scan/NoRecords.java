package io.turbidite.ops.scan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.RecordStream;

/** What a query reads that no record can match. */
public final class NoRecords implements RecordStream {
    @Override
    public boolean next() {
        return false;
    }

    @Override
    public Slice key() {
        throw new IllegalStateException("there is no record");
    }

    @Override
    public long timestamp() {
        throw new IllegalStateException("there is no record");
    }

    @Override
    public Slice record() {
        throw new IllegalStateException("there is no record");
    }

    @Override
    public long visitedCount() {
        return 0;
    }

    @Override
    public void close() {
        // nothing is open
    }
}
