package io.turbidite.ops.exchange;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.run.Rows;

import org.jspecify.annotations.Nullable;

/** The rows of a consumer, as they come. <em>Confined to one thread at a time.</em> */
final class ExchangeRows implements Rows {
    private final Exchange exchange;
    private final int consumer;
    private final RecordView row;
    private final Slice bytes = new Slice();
    private @Nullable Frame frame;
    private int nextTuple;
    private boolean paused;
    private boolean closed;

    ExchangeRows(Exchange exchange, int consumer) {
        this.exchange = exchange;
        this.consumer = consumer;
        this.row = new RecordView(exchange.type());
    }

    @Override
    public boolean next() {
        paused = false;
        if (closed) {
            return false;
        }
        Frame from = frame;
        if (from == null || nextTuple == from.tupleCount()) {
            from = nextFrame();
            if (from == null) {
                return false;
            }
        }
        row.wrap(from.field(nextTuple++, 0, bytes));
        return true;
    }

    private @Nullable Frame nextFrame() {
        giveBack();
        exchange.start();
        Frame next = exchange.poll(consumer);
        if (next == null) {
            // a frame that came meanwhile is no end: this asks for an empty queue too
            paused = !exchange.isAtEnd(consumer);
            return null;
        }
        frame = next;
        nextTuple = 0;
        return next;
    }

    private void giveBack() {
        Frame read = frame;
        if (read != null) {
            frame = null;
            exchange.give(consumer, read);
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
        closed = true;
        giveBack();
        exchange.closeConsumer(consumer);
    }
}
