package io.turbidite.ops.sort;

import io.turbidite.core.Cleanup;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.core.sort.SortedMerge;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Pushes the rows of one or more collectors in key order, up to a limit; owns the collectors.
 * <em>Confined to one thread at a time.</em>
 */
public final class SortedSource implements FrameSource {
    private final List<SortCollector> collectors;
    private final long limit;
    private final OperatorMeter meter;
    private final FrameEmitter emitter;
    private final Slice[] tuple = new Slice[1];
    private @Nullable SortedInput input;
    private long count;

    /**
     * Reads collectors whose branches have ended.
     *
     * @param meter counts rows handed on
     */
    public SortedSource(
            List<SortCollector> collectors, long limit, OperatorMeter meter, FrameWriter target) {
        this.collectors = List.copyOf(collectors);
        this.limit = limit;
        this.meter = meter;
        this.emitter = new FrameEmitter(target, 1, limit);
    }

    @Override
    public void open() {
        List<SortedInput> inputs = new ArrayList<>();
        for (SortCollector collector : collectors) {
            inputs.addAll(collector.inputs());
        }
        input = SortedMerge.of(inputs);
    }

    @Override
    public boolean step() {
        SortedInput rows = input;
        long before = count;
        boolean pushed = false;
        while (!pushed && rows != null && count < limit && rows.next()) {
            tuple[0] = rows.payload();
            pushed = emitter.emit(tuple);
            count++;
        }
        meter.add(count - before);
        if (pushed) {
            return emitter.wanted();
        }
        emitter.flush();
        return false;
    }

    @Override
    public void close() {
        Cleanup cleanup = new Cleanup();
        if (input != null) {
            cleanup.add(input::close);
            input = null;
        }
        cleanup.addAll(collectors, SortCollector::release).run();
    }
}
