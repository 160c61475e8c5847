package io.turbidite.ops.scan;

import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;

/**
 * Begins a stage with selected records, as frames of their tuples. <em>Confined to one thread.</em>
 */
public final class RecordSource implements FrameSource {
    private final SelectedRecords records;
    private final FrameEmitter emitter;
    private boolean paused;

    public RecordSource(SelectedRecords records, FrameWriter target) {
        this.records = records;
        this.emitter = new FrameEmitter(target, records.fieldCount(), Long.MAX_VALUE);
    }

    @Override
    public void open() {
        // the first look opens the way in
    }

    @Override
    public boolean step() {
        paused = false;
        SelectedRecords.Look look;
        while ((look = records.next()) == SelectedRecords.Look.FOUND) {
            if (emitter.emit(records.tuple())) {
                records.count();
                return emitter.wanted();
            }
        }
        if (look == SelectedRecords.Look.MORE) {
            return true;
        }
        if (look == SelectedRecords.Look.PAUSED) {
            paused = true;
            return true;
        }
        emitter.flush();
        return false;
    }

    @Override
    public boolean isPaused() {
        return paused;
    }

    @Override
    public void close() {
        records.close();
    }
}
