package io.turbidite.ops.join;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.OperatorMemory;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sort.SpilledRuns;

import java.util.Locale;

/**
 * Rows of one side of a join on their way into runs, by key. <em>Confined to one thread.</em> Owns
 * the runs.
 */
final class SpillBuffer implements AutoCloseable {
    private final RunOptions options;
    private final long memoryBytes;
    private final SortBuffer buffer;
    private final SpilledRuns runs;
    private long nextNumber;

    SpillBuffer(RunOptions options, long memoryBytes, OperatorMeter meter) {
        this.options = options;
        this.memoryBytes = memoryBytes;
        this.buffer = new SortBuffer(OperatorMemory.of(options, memoryBytes, meter));
        this.runs = new SpilledRuns(options, memoryBytes, meter);
    }

    void add(Slice key, Slice newRow) {
        if (buffer.add(key, nextNumber, newRow) == SortBuffer.FULL) {
            if (buffer.count() > 0) {
                runs.add(buffer, Long.MAX_VALUE);
            }
            if (buffer.add(key, nextNumber, newRow) == SortBuffer.FULL) {
                throw new InvalidRequestException(String.format(
                        Locale.ROOT,
                        "a row of %,d bytes does not fit the %,d bytes that a join may use:"
                                + " raise memoryBytesMax%s",
                        newRow.length(),
                        memoryBytes,
                        options.others()));
            }
        }
        nextNumber++;
    }

    /** Ends what is added; the runs may be read often. */
    SpilledRuns end() {
        if (buffer.count() > 0) {
            runs.add(buffer, Long.MAX_VALUE);
        }
        buffer.close();
        return runs;
    }

    @Override
    public void close() {
        new Cleanup().add(buffer::close).add(runs::close).run();
    }
}
