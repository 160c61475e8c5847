package io.turbidite.ops.window;

import io.turbidite.core.Cleanup;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

/**
 * The rows of each partition from its last one to its first. So a frame that ends with the last row
 * is one that begins with the first, and equal rows have the order of the others turned round.
 *
 * <p><em>Confined to one thread at a time.</em> Owns the rows that it reads.
 */
final class ReversedRows implements Rows {
    private static final int STOP_INTERVAL = 1_024;

    private final Rows input;
    private final RunOptions options;
    private final KeyChange partitions;
    private final RowQueue queue;
    private final RecordView row;
    private final Slice bytes = new Slice();
    private boolean isDraining;

    /** Whether the input stands on the first row of the next partition. */
    private boolean hasPending;

    private boolean ended;
    private int looks;

    ReversedRows(
            Rows input, RecordType of, WindowOrder order, RunOptions options, OperatorMeter meter) {
        this.input = input;
        this.options = options;
        this.partitions = order.partitions(of);
        this.queue = RowQueue.reversed(options, meter);
        this.row = new RecordView(of);
    }

    @Override
    public boolean next() {
        while (true) {
            if (isDraining) {
                Slice next = queue.take();
                if (next != null) {
                    row.wrap(next);
                    return true;
                }
                isDraining = false;
            }
            if (ended && !hasPending) {
                return false;
            }
            fill();
            isDraining = true;
        }
    }

    private void fill() {
        queue.clear();
        if (hasPending) {
            queue.put(input.row().record(bytes));
        }
        hasPending = false;
        while (!hasPending && move()) {
            boolean begins = partitions.moves(input.row());
            if (begins && queue.count() > 0) {
                hasPending = true;
            } else {
                queue.put(input.row().record(bytes));
            }
        }
    }

    private boolean move() {
        if (++looks % STOP_INTERVAL == 0) {
            options.checkNotStopped();
        }
        if (!ended && !input.next()) {
            ended = true;
        }
        return !ended;
    }

    @Override
    public RecordView row() {
        return row;
    }

    @Override
    public void close() {
        ended = true;
        hasPending = false;
        isDraining = false;
        new Cleanup().add(input::close).add(queue::close).run();
    }
}
