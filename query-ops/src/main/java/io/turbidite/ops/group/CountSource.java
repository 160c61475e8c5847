package io.turbidite.ops.group;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;

import java.util.List;

/** Pushes one row {@code {"count": n}}. <em>Confined to one thread at a time.</em> */
public final class CountSource implements FrameSource {
    /** The name of the field that counts. */
    public static final String COUNT = "count";

    /** The type of the row. */
    public static final RecordType ROW_TYPE =
            RecordType.of(List.of(new Field(COUNT, TypeKind.INT64, false)));

    private final List<CountCollector> collectors;
    private final OperatorMeter meter;
    private final FrameEmitter emitter;

    /** Sums collectors whose branches have ended. */
    public CountSource(List<CountCollector> collectors, OperatorMeter meter, FrameWriter target) {
        this.collectors = List.copyOf(collectors);
        this.meter = meter;
        this.emitter = new FrameEmitter(target, 1, 1);
    }

    @Override
    public void open() {
        assert !collectors.isEmpty();
    }

    @Override
    public boolean step() {
        RecordWriter row = new RecordWriter(ROW_TYPE);
        row.begin();
        row.setLong(0, collectors.stream().mapToLong(CountCollector::count).sum());
        emitter.emit(new Slice[] {row.finish()});
        emitter.flush();
        meter.add(1);
        return false;
    }

    @Override
    public void close() {
        // counts hold nothing
    }
}
