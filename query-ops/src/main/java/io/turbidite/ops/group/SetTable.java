package io.turbidite.ops.group;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sort.SpilledRuns;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Locale;

/**
 * Keys with a number and a row each, in memory, and in runs where that does not do; a key may be in
 * several of them. <em>Confined to one thread at a time.</em>
 */
final class SetTable implements AutoCloseable {
    /** Rows between two looks whether the query was stopped. */
    private static final int STOP_INTERVAL = 1_024;

    private final RunOptions options;
    private final OperatorMeter meter;
    private final GroupTable table;
    private @Nullable SpilledRuns runs;
    private int looks;

    SetTable(RunOptions options, OperatorMeter meter) {
        this.options = options;
        this.meter = meter;
        this.table = new GroupTable(options, options.memoryBytesMax(), meter);
    }

    /** Looks now and then whether the query was stopped. */
    void look() {
        if (++looks % STOP_INTERVAL == 0) {
            options.checkNotStopped();
        }
    }

    /** The entry of a key in memory; {@link SortBuffer#NONE} if it has none there. */
    long find(Slice key) {
        return table.find(key);
    }

    /** Counts one more of an entry. */
    void increment(long entry) {
        table.count(entry, 1);
    }

    /** Adds a key that {@link #find} has not found; false where there is no memory for it. */
    boolean addIfItFits(Slice key, long number, Slice row) {
        return table.add(key, number, row) != SortBuffer.FULL;
    }

    /**
     * As {@link #addIfItFits}; what is there goes into a run where there is no memory.
     *
     * @throws InvalidRequestException if there is no place for runs
     */
    void add(Slice key, long number, Slice row) {
        if (addIfItFits(key, number, row)) {
            return;
        }
        spill();
        if (table.find(key) != SortBuffer.NONE || !addIfItFits(key, number, row)) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT,
                    "a row of %,d bytes does not fit the %,d bytes that telling rows apart may"
                            + " use: raise memoryBytesMax%s",
                    row.length(),
                    options.memoryBytesMax(),
                    options.others()));
        }
    }

    /** Whether some are in runs. */
    boolean hasSpilled() {
        return runs != null;
    }

    private void spill() {
        SpilledRuns to = runs;
        if (to == null) {
            if (options.spill() == null) {
                throw new InvalidRequestException(String.format(
                        Locale.ROOT,
                        "telling %,d rows and more apart needs more than %,d bytes of memory:"
                                + " narrow the query, raise memoryBytesMax or give a directory to"
                                + " spill to",
                        table.groupCount(),
                        options.memoryBytesMax()));
            }
            to = new SpilledRuns(options, options.memoryBytesMax(), meter);
            runs = to;
        }
        to.add(table.entries(), Long.MAX_VALUE);
        table.clear();
    }

    /** All entries by key, in inputs to be merged. Nothing is added any more. */
    List<SortedInput> inputs() {
        SpilledRuns spilled = runs;
        if (spilled == null) {
            return List.of(table.entries().sorted());
        }
        if (table.groupCount() > 0) {
            spill();
        }
        table.close();
        return spilled.inputs();
    }

    @Override
    public void close() {
        Cleanup cleanup = new Cleanup().add(table::close);
        SpilledRuns spilled = runs;
        if (spilled != null) {
            runs = null;
            cleanup.add(spilled::close);
        }
        cleanup.run();
    }
}
