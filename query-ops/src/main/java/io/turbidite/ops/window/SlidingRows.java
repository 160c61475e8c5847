package io.turbidite.ops.window;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.OperatorMemory;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.StopLooks;
import io.turbidite.ops.window.WindowFunction.Frame;
import io.turbidite.ops.window.WindowFunction.Kind;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Locale;

/**
 * Rows with what moves with each of them: their numbers and ranks, values of rows near them, and
 * aggregates of rows near them or of all before. It keeps the rows that its functions look back and
 * ahead. A frame of both a beginning and an end is worked out anew for each row: exact for doubles,
 * too.
 *
 * <p><em>Confined to one thread at a time.</em> Owns the rows that it reads.
 */
final class SlidingRows implements Rows {
    /** A few rows are like the buffers of any reader: no query waits for memory because of them. */
    private static final long UNCOUNTED_BYTES = 16 << 10;

    /** What is kept is counted in such steps. */
    private static final long STEP_BYTES = 64 << 10;

    /** A kept row beside its bytes: three objects and their arrays' heads. */
    private static final long KEPT_BYTES = 256;

    /** Memory of a place up to here is kept for its next row, however short. */
    private static final int LARGE_BYTES = 4 << 10;

    private final Rows input;
    private final RunOptions options;

    /** Of rows that are read, and of each that is added for one of them. */
    private final StopLooks looks;

    private final OperatorMemory memory;
    private final KeyChange partitions;
    private final KeyChange peers;
    private final WindowCall[] calls;
    private final RowMaker maker;
    private final int ahead;
    private final @Nullable Kept[] ring;
    private final RecordType read;
    private final Slice bytes = new Slice();

    /** Rows that were read. */
    private long loaded;

    /** The number of the current row. */
    private long current = -1;

    /** The number of the partition that was read last, from 1. */
    private long partition;

    private long currentPartition;
    private long partitionStart;
    private long rank;
    private long denseRank;
    private long keptBytes;

    /** How many of these {@link #memory} has been told of. */
    private long countedBytes = UNCOUNTED_BYTES;

    private boolean inputEnded;
    private boolean ended;

    /** A row near the current one. */
    private static final class Kept {
        private ByteSink bytes = sink();
        private final Slice slice = new Slice();
        private final RecordView view;
        private long partition;
        private boolean isNewPeer;

        Kept(RecordType type) {
            view = new RecordView(type);
        }

        private static ByteSink sink() {
            return new ByteSink(64, Integer.MAX_VALUE - 8);
        }

        void keep(Slice row) {
            long held = bytes.segment().byteSize();
            if (held > LARGE_BYTES && held / 4 > row.length()) {
                // one long row that comes by would leave its length at each place
                bytes = sink();
            }
            bytes.clear().putBytes(row);
        }
    }

    SlidingRows(
            Rows input,
            RecordType of,
            RecordType type,
            WindowOrder order,
            List<WindowFunction> functions,
            RunOptions options,
            OperatorMeter meter) {
        this.input = input;
        this.options = options;
        this.looks = new StopLooks(options::checkNotStopped);
        this.memory = OperatorMemory.of(options, options.memoryBytesMax(), meter);
        this.partitions = order.partitions(of);
        this.peers = order.peers(of);
        this.calls = functions.stream()
                .map(function -> new WindowCall(function, of, type))
                .toArray(WindowCall[]::new);
        this.maker = new RowMaker(of, type);
        long back = 0;
        long forth = 0;
        for (WindowFunction function : functions) {
            back = Math.max(back, -first(function));
            forth = Math.max(forth, last(function));
        }
        this.ahead = (int) forth;
        this.ring = new Kept[(int) (back + forth) + 1];
        this.read = of;
    }

    /** The first row that a function needs, beside the current one. */
    private static long first(WindowFunction function) {
        if (function.kind() == Kind.LAG) {
            return -function.number();
        }
        Frame frame = function.frame();
        return !function.kind().isFramed()
                ? 0
                : Math.min(0, frame.from() == Frame.UNBOUNDED_FROM ? frame.to() : frame.from());
    }

    private static long last(WindowFunction function) {
        return function.kind() == Kind.LEAD
                ? function.number()
                : function.kind().isFramed() ? Math.max(0, function.frame().to()) : 0;
    }

    @Override
    public boolean next() {
        if (ended) {
            return false;
        }
        current++;
        while (!inputEnded && loaded <= current + ahead) {
            load();
        }
        if (current >= loaded) {
            ended = true;
            return false;
        }
        make();
        return true;
    }

    private void load() {
        looks.look();
        if (!input.next()) {
            inputEnded = true;
            return;
        }
        RecordView row = input.row();
        Kept kept = kept(loaded);
        row.record(bytes);
        keptBytes -= kept.bytes.segment().byteSize();
        kept.keep(bytes);
        keptBytes += kept.bytes.segment().byteSize();
        if (keptBytes > countedBytes) {
            count();
        }
        kept.view.wrap(kept.bytes.asSlice(kept.slice));
        boolean begins = partitions.moves(row);
        boolean differs = peers.moves(row);
        partition += begins ? 1 : 0;
        kept.partition = partition;
        kept.isNewPeer = begins || differs;
        loaded++;
    }

    private void count() {
        long stepped =
                Math.max(keptBytes, Math.min(keptBytes + STEP_BYTES, options.memoryBytesMax()));
        if (memory.charge(stepped)) {
            countedBytes = stepped;
        } else if (memory.charge(keptBytes)) {
            countedBytes = keptBytes;
        } else {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT,
                    "%,d rows around each row need more than the %,d bytes of memory that a window may use: raise memoryBytesMax or look at fewer%s",
                    ring.length,
                    options.memoryBytesMax(),
                    options.others()));
        }
    }

    private Kept kept(long number) {
        int place = (int) (number % ring.length);
        Kept kept = ring[place];
        if (kept == null) {
            kept = new Kept(read);
            ring[place] = kept;
            keptBytes += KEPT_BYTES;
        }
        return kept;
    }

    private void make() {
        Kept at = kept(current);
        boolean begins = at.partition != currentPartition;
        currentPartition = at.partition;
        if (begins) {
            partitionStart = current;
            rank = 0;
            denseRank = 0;
        }
        if (at.isNewPeer) {
            rank = current - partitionStart + 1;
            denseRank++;
        }
        RecordWriter writer = maker.begin(at.view);
        for (WindowCall call : calls) {
            WindowFunction function = call.function();
            switch (function.kind()) {
                case ROW_NUMBER -> call.set(writer, current - partitionStart + 1);
                case RANK -> call.set(writer, rank);
                case DENSE_RANK -> call.set(writer, denseRank);
                case LAG -> call.set(writer, other(at, -function.number()), at.view);
                case LEAD -> call.set(writer, other(at, function.number()), at.view);
                default -> {
                    if (function.frame().from() == Frame.UNBOUNDED_FROM) {
                        run(call, begins, at);
                    } else {
                        slide(call, at);
                    }
                    call.set(writer);
                }
            }
        }
        maker.finish();
    }

    /** A row of the same partition; null: there is none. */
    private @Nullable RecordView other(Kept at, long distance) {
        long number = current + distance;
        return number >= partitionStart && number < loaded && kept(number).partition == at.partition
                ? kept(number).view
                : null;
    }

    /** Adds what a frame that begins with the partition reaches now. */
    private void run(WindowCall call, boolean begins, Kept at) {
        if (begins) {
            call.clear(current);
        }
        long last = Math.min(loaded - 1, current + call.function().frame().to());
        while (call.fedTo() <= last && kept(call.fedTo()).partition == at.partition) {
            looks.look();
            call.feed(kept(call.fedTo()).view);
        }
    }

    private void slide(WindowCall call, Kept at) {
        call.clear();
        Frame frame = call.function().frame();
        long last = Math.min(loaded - 1, current + frame.to());
        for (long i = Math.max(partitionStart, current + frame.from());
                i <= last && kept(i).partition == at.partition;
                i++) {
            looks.look();
            call.add(kept(i).view);
        }
    }

    @Override
    public RecordView row() {
        return maker.row();
    }

    @Override
    public void close() {
        ended = true;
        memory.close();
        input.close();
    }
}
