package io.turbidite.ops.scan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.RecordStream;

import org.jspecify.annotations.Nullable;

/**
 * Records of other streams, each in its turn: key, timestamp and bytes are those of the stream that
 * it stands on. A class extends it that says which one that is. <em>Confined to one thread.</em>
 */
public abstract class RecordsInTurn implements RecordStream {
    private @Nullable RecordStream current;

    /** The stream that it stands on, or that it goes through; null if there is none. */
    protected final @Nullable RecordStream current() {
        return current;
    }

    /** Stands on another stream, or on none. */
    protected final void standOn(@Nullable RecordStream stream) {
        current = stream;
    }

    private RecordStream standing() {
        RecordStream stream = current;
        if (stream == null) {
            throw new IllegalStateException("there is no record to stand on");
        }
        return stream;
    }

    @Override
    public final Slice key() {
        return standing().key();
    }

    @Override
    public final long timestamp() {
        return standing().timestamp();
    }

    @Override
    public final Slice record() {
        return standing().record();
    }
}
