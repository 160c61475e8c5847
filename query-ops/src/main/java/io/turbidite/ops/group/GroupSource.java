package io.turbidite.ops.group;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.core.sort.SortedMerge;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.Cleanup;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Pushes the groups of one or more collectors by key, adding up the partial counts of each; owns
 * the collectors. <em>Confined to one thread at a time.</em>
 */
public final class GroupSource implements FrameSource {
    private final List<GroupCollector> collectors;
    private final GroupRows rows;
    private final OperatorMeter meter;
    private final FrameEmitter emitter;
    private final ByteSink groupBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice group = new Slice();
    private @Nullable SortedInput input;
    private boolean hasNext;

    /**
     * Reads collectors whose branches have ended.
     *
     * @param rows makes the tuple of a group
     * @param meter counts groups
     * @param tuplesPerFrameMax see {@link FrameEmitter}
     */
    public GroupSource(
            List<GroupCollector> collectors,
            GroupRows rows,
            OperatorMeter meter,
            FrameWriter target,
            long tuplesPerFrameMax) {
        this.collectors = List.copyOf(collectors);
        this.rows = rows;
        this.meter = meter;
        this.emitter = new FrameEmitter(target, rows.fieldCount(), tuplesPerFrameMax);
    }

    @Override
    public void open() {
        List<SortedInput> inputs = new ArrayList<>();
        for (GroupCollector collector : collectors) {
            inputs.addAll(collector.inputs());
        }
        input = SortedMerge.of(inputs);
        hasNext = input.next();
    }

    @Override
    public boolean step() {
        SortedInput counts = input;
        long groups = 0;
        boolean pushed = false;
        while (!pushed && counts != null && hasNext) {
            groupBytes.clear().putBytes(counts.key()).asSlice(group);
            long count = 0;
            do {
                count += counts.number();
                hasNext = counts.next();
            } while (hasNext && counts.key().contentEquals(group));
            pushed = emitter.emit(rows.make(group, count));
            groups++;
        }
        meter.add(groups);
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
        cleanup.addAll(collectors, GroupCollector::release).run();
    }
}
