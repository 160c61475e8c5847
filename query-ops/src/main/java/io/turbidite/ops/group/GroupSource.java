package io.turbidite.ops.group;

import io.turbidite.core.Cleanup;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.core.sort.SortedMerge;
import io.turbidite.ops.aggregate.BoundAggregates;
import io.turbidite.ops.aggregate.GroupStates;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.StopLooks;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Pushes the groups of one or more collectors by key, adding up the partial counts or states of
 * each; owns the collectors. <em>Confined to one thread at a time.</em>
 */
public final class GroupSource implements FrameSource {
    private final List<GroupCollector> collectors;
    private final GroupRows rows;
    private final @Nullable GroupStates states;
    private final OperatorMeter meter;
    private final StopLooks looks;
    private final FrameEmitter emitter;
    private final ByteSink groupBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice group = new Slice();
    private final Slice beginning = new Slice();
    private final ByteSink valueBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice value = new Slice();
    private @Nullable SortedInput input;
    private boolean hasNext;

    /** Whether there is a row although there are no records. */
    private boolean isWhole;

    /**
     * Reads collectors whose branches have ended.
     *
     * @param rows makes the tuple of a group
     * @param meter counts groups
     * @param tuplesPerFrameMax see {@link FrameEmitter}
     * @param checkNotStopped throws where the query is to stop
     */
    public GroupSource(
            List<GroupCollector> collectors,
            GroupRows rows,
            OperatorMeter meter,
            FrameWriter target,
            long tuplesPerFrameMax,
            Runnable checkNotStopped) {
        this.collectors = List.copyOf(collectors);
        this.rows = rows;
        this.states = rows.states();
        this.isWhole = rows.isWhole();
        this.meter = meter;
        this.looks = new StopLooks(checkNotStopped);
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
        while (!pushed && counts != null && (hasNext || isWhole)) {
            isWhole = false;
            long count = states == null ? counted(counts) : merged(counts, states);
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

    private long counted(SortedInput counts) {
        groupBytes.clear().putBytes(counts.key()).asSlice(group);
        long count = 0;
        do {
            count += counts.number();
            hasNext = counts.next();
        } while (hasNext && counts.key().contentEquals(group));
        return count;
    }

    /** Puts the next group together; there are no entries where all are one group. */
    private long merged(SortedInput entries, GroupStates to) {
        int tagBytes = to.distinctCount() > 0 ? 1 : 0;
        groupBytes.clear();
        if (hasNext) {
            Slice first = entries.key();
            groupBytes.putBytes(first.segment(), first.offset(), first.length() - tagBytes);
        }
        groupBytes.asSlice(group);
        to.begin();
        valueBytes.clear().asSlice(value);
        while (hasNext && isOfGroup(entries.key(), tagBytes)) {
            looks.look();
            take(entries, to, tagBytes);
            hasNext = entries.next();
        }
        to.finish();
        return 0;
    }

    /** A key of a group is no beginning of another, and no cell begins with a byte like a tag. */
    private boolean isOfGroup(Slice key, int tagBytes) {
        if (tagBytes == 0) {
            return key.contentEquals(group);
        }
        return key.length() > group.length()
                && key.byteAt(group.length()) <= BoundAggregates.COUNT_MAX
                && beginning.set(key.segment(), key.offset(), group.length()).contentEquals(group);
    }

    private void take(SortedInput entries, GroupStates to, int tagBytes) {
        Slice key = entries.key();
        int tag = tagBytes == 0 ? GroupCollector.GROUP : key.byteAt(group.length());
        if (tag == GroupCollector.GROUP) {
            to.merge(entries.payload());
        } else if (!key.contentEquals(value)) {
            valueBytes.clear().putBytes(key).asSlice(value);
            to.countDistinct(tag - 1 - GroupCollector.GROUP);
        }
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
