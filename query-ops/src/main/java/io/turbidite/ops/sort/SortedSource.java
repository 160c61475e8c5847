package io.turbidite.ops.sort;

import io.turbidite.core.Cleanup;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.core.sort.SortedMerge;
import io.turbidite.ops.expr.Tuples;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Pushes the rows of one or more collectors in key order, up to a limit, and of rows whose keys
 * begin alike only the first few if so wanted; owns the collectors.
 * <em>Confined to one thread at a time.</em>
 */
public final class SortedSource implements FrameSource {
    /** All rows of each; tuples say nothing of groups. */
    public static final int ALL = 0;

    private final List<SortCollector> collectors;
    private final long limit;
    private final int each;
    private final OperatorMeter meter;
    private final FrameEmitter emitter;
    private final Slice[] tuple = new Slice[1];
    private @Nullable SortedInput input;
    private long count;

    // ---- where some of each are wanted
    private final ByteSink groupKey = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice group = new Slice();
    private final Slice ofKey = new Slice();
    private final Slice row = new Slice();
    private int countOfGroup;

    /**
     * Reads collectors whose branches have ended.
     *
     * @param each most rows whose keys begin alike, as far as their tuples say ({@link
     *     Tuples#orderedOfEach}); {@link #ALL}: tuples don't say
     * @param meter counts rows handed on
     */
    public SortedSource(
            List<SortCollector> collectors,
            long limit,
            int each,
            OperatorMeter meter,
            FrameWriter target) {
        this.collectors = List.copyOf(collectors);
        this.limit = limit;
        this.each = each;
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
            if (each == ALL || isWanted(rows.key())) {
                pushed = emitter.emit(tuple);
                count++;
            }
        }
        meter.add(count - before);
        if (pushed) {
            return emitter.wanted();
        }
        emitter.flush();
        return false;
    }

    /** Takes from the row what it says of its key; whether it is among the first of its group. */
    private boolean isWanted(Slice key) {
        Slice said = tuple[0];
        int rowBytes = said.length() - Tuples.GROUP_TRAILER_BYTES;
        int groupBytes = said.segment().get(Bytes.I32, said.offset() + rowBytes);
        tuple[0] = row.set(said.segment(), said.offset(), rowBytes);
        ofKey.set(key.segment(), key.offset(), groupBytes);
        if (countOfGroup == 0 || ofKey.compareBytes(group) != 0) {
            groupKey.clear().putBytes(ofKey).asSlice(group);
            countOfGroup = 0;
        }
        if (countOfGroup == each) {
            return false;
        }
        countOfGroup++;
        return true;
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
