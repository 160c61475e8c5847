package io.turbidite.lsm;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.meter.ReadTally;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;
import io.turbidite.lsm.engine.StoreEngine;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.write.Operations;
import io.turbidite.lsm.write.Write;

/**
 * The scratch memory of one call on a dataset; reused, so that calls make no garbage. <em>Confined
 * to one thread.</em>
 */
final class RecordScratch {
    private final StoreEngine engine;
    final RecordWriter writer;
    final RecordView view;
    final Write write;
    final ByteSink key = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
    final Slice slice = new Slice();
    final ReadTally reads;
    final Found found = new Found(Limits.RECORD_BYTES_MAX);

    /** Puts a value into the sink that the last caller of {@link Dataset#getRecord} gave. */
    private Found foreign = found;

    RecordScratch(StoreEngine engine, RecordType type, ReadTally reads) {
        this.reads = reads;
        this.writer = new RecordWriter(type);
        this.view = new RecordView(type);
        this.engine = engine;
        this.write = engine.newWrite();
    }

    /** Begins a write of one operation. */
    Operations begin() {
        engine.checkReadable();
        return write.operations().clear();
    }

    /** A {@code Found} for this sink; callers mostly give the same sink again. */
    Found foundIn(ByteSink sink) {
        if (foreign.value != sink) {
            foreign = new Found(sink);
        }
        return foreign;
    }
}
