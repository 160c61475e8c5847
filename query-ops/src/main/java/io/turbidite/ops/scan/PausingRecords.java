package io.turbidite.ops.scan;

import io.turbidite.core.scan.RecordStream;

/** Records that come from other workers, and may not be there yet. */
public interface PausingRecords extends RecordStream {
    /** Whether {@link #next} said false because nothing is there yet: it may be asked again. */
    boolean isPaused();
}
