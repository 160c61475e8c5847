package io.turbidite.ops.window;

import io.turbidite.core.Cleanup;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.window.WindowFunction.Kind;
import io.turbidite.ops.window.WindowFunction.Unit;

import java.util.List;

/**
 * Rows with what all rows of a partition have in common, or all of it that are equal in the order.
 *
 * <ol>
 *   <li>The rows of a unit go into a queue, which spills, and into the functions.
 *   <li>When the unit ends, they are taken from there again, with the values.
 * </ol>
 *
 * <p><em>Confined to one thread at a time.</em> Owns the rows that it reads.
 */
final class UnitRows implements Rows {
    private static final int STOP_INTERVAL = 1_024;

    private final Rows input;
    private final RunOptions options;
    private final boolean isOfPeers;
    private final KeyChange partitions;
    private final KeyChange peers;
    private final KeyChange takenPeers;
    private final WindowCall[] calls;
    private final RowMaker maker;
    private final RowQueue queue;
    private final RecordView queued;
    private final Slice bytes = new Slice();
    private boolean isDraining;

    /** Whether the input stands on the first row of the next unit. */
    private boolean hasPending;

    private boolean pendingBeginsPartition;
    private boolean ended;
    private long number;
    private long rank;
    private int looks;

    /**
     * @param of type of the rows that are read
     * @param type of the rows, whose first fields those are
     */
    UnitRows(
            Rows input,
            RecordType of,
            RecordType type,
            WindowOrder order,
            Unit unit,
            List<WindowFunction> functions,
            RunOptions options,
            OperatorMeter meter) {
        this.input = input;
        this.options = options;
        this.isOfPeers = unit == Unit.PEERS;
        this.partitions = order.partitions(of);
        this.peers = order.peers(of);
        this.takenPeers = order.peers(of);
        this.calls = functions.stream()
                .map(function -> new WindowCall(function, of, type))
                .toArray(WindowCall[]::new);
        this.maker = new RowMaker(of, type);
        this.queue = new RowQueue(options, meter);
        this.queued = new RecordView(of);
    }

    @Override
    public boolean next() {
        while (true) {
            if (isDraining) {
                Slice row = queue.take();
                if (row != null) {
                    make(row);
                    return true;
                }
                isDraining = false;
            }
            if (ended || !fill()) {
                return false;
            }
            isDraining = true;
        }
    }

    /** Reads the rows of a unit; false if there is none. */
    private boolean fill() {
        queue.clear();
        if (!hasPending && !move()) {
            ended = true;
            return false;
        }
        for (WindowCall call : calls) {
            if (pendingBeginsPartition || call.function().frame().from() == 0) {
                call.clear();
            }
        }
        if (pendingBeginsPartition) {
            number = 0;
        }
        do {
            RecordView row = input.row();
            queue.put(row.record(bytes));
            for (WindowCall call : calls) {
                if (call.function().kind().isFramed()) {
                    call.add(row);
                }
            }
            hasPending = false;
        } while (move() && !hasPending);
        return true;
    }

    /** Moves on; says by {@link #hasPending} whether the row begins a unit. */
    private boolean move() {
        if (++looks % STOP_INTERVAL == 0) {
            options.checkNotStopped();
        }
        if (ended || !input.next()) {
            ended = true;
            hasPending = false;
            return false;
        }
        pendingBeginsPartition = partitions.moves(input.row());
        boolean differs = peers.moves(input.row());
        hasPending = pendingBeginsPartition || (isOfPeers && differs);
        return true;
    }

    private void make(Slice row) {
        RecordView like = queued.wrap(row);
        RecordWriter writer = maker.begin(like);
        number++;
        if (takenPeers.moves(like) || number == 1) {
            rank = number;
        }
        for (WindowCall call : calls) {
            if (call.function().kind() == Kind.NTILE) {
                call.set(writer, tile(call.function().number(), queue.count()));
            } else if (call.function().kind() == Kind.PERCENT_RANK) {
                long others = queue.count() - 1;
                call.set(writer, others == 0 ? 0.0 : (rank - 1.0) / others);
            } else if (call.function().kind() == Kind.CUME_DIST) {
                // rows come from the last one on: those before are behind
                call.set(writer, (queue.count() - rank + 1.0) / queue.count());
            } else {
                call.set(writer);
            }
        }
        maker.finish();
    }

    /** The part that the current row is in, where the first ones have a row more. */
    private long tile(long parts, long total) {
        long small = total / parts;
        long large = total % parts;
        long inLarge = large * (small + 1);
        return number <= inLarge
                ? (number - 1) / (small + 1) + 1
                : large + (number - inLarge - 1) / small + 1;
    }

    @Override
    public RecordView row() {
        return maker.row();
    }

    @Override
    public void close() {
        ended = true;
        isDraining = false;
        new Cleanup().add(input::close).add(queue::close).run();
    }
}
