package io.turbidite.ops.scan;

import io.turbidite.ops.frame.FrameSource;

/** The source of a query that no record can match: pushes nothing. */
public final class NoRecords implements FrameSource {
    @Override
    public void open() {
        // nothing to open
    }

    @Override
    public boolean step() {
        return false;
    }

    @Override
    public void close() {
        // nothing is open
    }
}
