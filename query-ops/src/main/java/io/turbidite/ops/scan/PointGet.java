package io.turbidite.ops.scan;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.ReadView;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.OperatorMeter;

/** Gets the one record that a whole primary key names. <em>Confined to one thread.</em> */
public final class PointGet implements FrameSource {
    private final ReadView view;
    private final Slice key;
    private final SelectProject output;
    private final OperatorMeter meter;

    /**
     * Gets one record.
     *
     * @param key encoded
     * @param meter counts records found
     */
    public PointGet(ReadView view, Slice key, SelectProject output, OperatorMeter meter) {
        this.view = view;
        this.key = new ByteSink(key.length(), Math.max(16, key.length()))
                .putBytes(key)
                .asSlice(new Slice());
        this.output = output;
        this.meter = meter;
    }

    @Override
    public void open() {
        assert key.length() > 0;
    }

    @Override
    public boolean step() {
        ByteSink record = new ByteSink(1 << 10, Limits.RECORD_BYTES_MAX);
        if (view.get(key, record)) {
            meter.add(1);
            output.accept(key, record.asSlice(new Slice()));
        }
        output.flush();
        return false;
    }

    @Override
    public void close() {
        // nothing is open between steps
    }
}
