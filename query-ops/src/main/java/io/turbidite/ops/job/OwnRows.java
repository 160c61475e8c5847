package io.turbidite.ops.job;

import io.turbidite.core.Cleanup;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.function.Supplier;

/** The rows of an embedder's operator. <em>Confined to one thread at a time.</em> */
final class OwnRows implements Rows {
    private static final int STOP_INTERVAL = 1_024;

    private final Maker maker;
    private final List<Rows> inputs;
    private final RunOptions options;
    private final RecordView row;
    private int input;
    private int looks;
    private @Nullable RowOperator operator;
    private boolean paused;
    private boolean closed;

    /**
     * What an instance is made of.
     *
     * @param types of the inputs
     */
    record Maker(
            Supplier<? extends RowOperator> made,
            JobOperator operator,
            List<RecordType> types,
            int partition) {
        Maker {
            types = List.copyOf(types);
        }

        /** Opens an instance that was made. */
        void open(RowOperator instance) {
            var _ = instance.type(types, operator.settings());
            instance.open(partition, operator.partitions());
        }
    }

    /** It is made when the first row is asked for. */
    OwnRows(Maker maker, RecordType type, List<Rows> inputs, RunOptions options) {
        this.maker = maker;
        this.inputs = List.copyOf(inputs);
        this.options = options;
        this.row = new RecordView(type);
    }

    @Override
    public boolean next() {
        paused = false;
        if (closed) {
            return false;
        }
        RowOperator made = operator;
        if (made == null) {
            made = maker.made().get();
            operator = made;
            maker.open(made);
        }
        while (true) {
            if (looks++ % STOP_INTERVAL == 0) {
                options.checkNotStopped();
            }
            Slice ready = made.next();
            if (ready != null) {
                row.wrap(ready);
                return true;
            }
            if (input == inputs.size()) {
                return false;
            }
            Rows from = inputs.get(input);
            if (from.next()) {
                made.row(input, from.row());
            } else if (from.isPaused()) {
                paused = true;
                return false;
            } else {
                made.end(input++);
            }
        }
    }

    @Override
    public boolean isPaused() {
        return paused;
    }

    @Override
    public RecordView row() {
        return row;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Cleanup cleanup = new Cleanup();
            if (operator != null) {
                cleanup.add(operator::close);
            }
            cleanup.addAll(inputs, Rows::close).run();
        }
    }
}
