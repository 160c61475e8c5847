package io.turbidite.feeds.log;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.LogCursor;
import io.turbidite.hashlog.LogQuery;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;

import org.jspecify.annotations.Nullable;

/**
 * The operator that scans a hash log: tuples of an encoded key, taken from fields of the record,
 * and the record as it came; newest first. <em>Confined to one thread.</em>
 */
final class LogScanSource implements FrameSource {
    /** A key, and the record. */
    static final int FIELD_COUNT = 2;

    /** As many records of a dataset are got together at most. */
    private static final int TUPLES_PER_FRAME_MAX = 1_024;

    private final HashLog log;
    private final LogQuery query;
    private final RecordKeys keys;
    private final FrameEmitter output;
    private final OperatorMeter meter;
    private final ByteSink key = new ByteSink(64, Integer.MAX_VALUE - 16);
    private final Slice[] tuple = {new Slice(), new Slice()};
    private @Nullable LogCursor cursor;

    /**
     * @param keys makes the key of a record
     * @param meter counts records found
     */
    LogScanSource(
            HashLog log, LogQuery query, RecordKeys keys, FrameWriter target, OperatorMeter meter) {
        this.log = log;
        this.query = query;
        this.keys = keys;
        this.output = new FrameEmitter(target, FIELD_COUNT, TUPLES_PER_FRAME_MAX);
        this.meter = meter;
    }

    @Override
    public void open() {
        cursor = log.find(query);
    }

    @Override
    public boolean step() {
        LogCursor records = cursor;
        long found = 0;
        while (records != null && records.next()) {
            found++;
            keys.append(records.segment(), records.offset(), records.length(), key.clear());
            key.asSlice(tuple[0]);
            tuple[1].set(records.segment(), records.offset(), records.length());
            if (output.emit(tuple)) {
                meter.add(found);
                return output.wanted();
            }
        }
        meter.add(found);
        output.flush();
        return false;
    }

    @Override
    public void close() {
        if (cursor != null) {
            cursor.close();
            cursor = null;
        }
    }
}
