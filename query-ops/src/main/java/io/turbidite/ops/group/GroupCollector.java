package io.turbidite.ops.group;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sort.SpilledRuns;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * Counts tuples by their first field in a hash table. A table that is full is written in key order
 * as a run of partial counts, where there is somewhere to spill to; equal keys meet again when runs
 * are read. <em>Confined to one thread at a time.</em>
 */
public final class GroupCollector implements FrameWriter {
    private final RunOptions options;
    private final long memoryBytes;
    private final GroupTable table;
    private final Slice key = new Slice();
    private @Nullable SpilledRuns runs;

    /**
     * Collects up to a bound, then spills or fails.
     *
     * @param memoryBytes this operator's share of the query's memory
     */
    public GroupCollector(RunOptions options, long memoryBytes) {
        this.options = options;
        this.memoryBytes = memoryBytes;
        this.table = new GroupTable(memoryBytes);
    }

    @Override
    public void open() {
        table.clear();
    }

    @Override
    public boolean frame(Frame frame) {
        for (int i = 0; i < frame.tupleCount(); i++) {
            if (!table.count(frame.field(i, 0, key))) {
                makeRoom();
                if (!table.count(key)) {
                    throw new InvalidRequestException(
                            "a group key of %,d bytes does not fit the %,d bytes that grouping may use: raise memoryBytesMax"
                                    .formatted(key.length(), memoryBytes));
                }
            }
        }
        return true;
    }

    @Override
    public void fail() {
        release();
    }

    /** The end of the frames; what was collected stays until {@link #release()}. */
    @Override
    public void close() {
        key.clear();
    }

    /** Inputs in key order with counts as numbers; one key may be in several. */
    List<SortedInput> inputs() {
        if (runs == null) {
            return List.of(table.entries().sorted());
        }
        spill(runs);
        table.close();
        return runs.inputs();
    }

    /** Frees memory and deletes runs; once more does no harm. */
    void release() {
        table.close();
        if (runs != null) {
            runs.close();
            runs = null;
        }
    }

    private void makeRoom() {
        if (runs == null) {
            if (options.spill() == null) {
                throw new InvalidRequestException(
                        "%,d groups and more need more than %,d bytes of memory: narrow the query, raise memoryBytesMax or give a directory to spill to"
                                .formatted(table.groupCount(), memoryBytes));
            }
            runs = new SpilledRuns(options.spill(), memoryBytes);
        }
        spill(runs);
    }

    private void spill(SpilledRuns to) {
        to.add(table.entries(), Long.MAX_VALUE);
        table.clear();
    }
}
