package io.turbidite.ops.exchange;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.ops.expr.FieldKey;
import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.run.Rows;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * The rows of sorted producers, in their order; it needs the next row of each to go on, and takes
 * the first one's of equal rows. <em>Confined to one thread at a time.</em>
 */
final class MergedExchangeRows implements Rows {
    private static final String DESCENDING = ":desc";

    private final Exchange exchange;
    private final List<Head> heads = new ArrayList<>();
    private final RecordView row;
    private @Nullable Head shown;
    private boolean paused;
    private boolean closed;

    MergedExchangeRows(Exchange exchange) {
        this.exchange = exchange;
        this.row = new RecordView(exchange.type());
        for (int i = 0; i < exchange.producerCount(); i++) {
            heads.add(new Head(i));
        }
    }

    /** What is next of one producer. */
    private final class Head {
        private final int producer;
        private final FieldKey[] keys;
        private final RecordView view = new RecordView(exchange.type());
        private final Slice bytes = new Slice();
        private final ByteSink keyBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
        private final Slice key = new Slice();
        private @Nullable Frame frame;
        private int nextTuple;
        private boolean isThere;

        Head(int producer) {
            this.producer = producer;
            this.keys = exchange.fields().stream().map(this::key).toArray(FieldKey[]::new);
        }

        private FieldKey key(String text) {
            boolean descending = text.endsWith(DESCENDING);
            String field =
                    descending ? text.substring(0, text.length() - DESCENDING.length()) : text;
            return new FieldKey(exchange.type(), exchange.type().indexOf(field), descending);
        }

        /** Moves to the next row, unless it stands on one that was not taken; false: none now. */
        boolean stand() {
            if (isThere) {
                return true;
            }
            Frame from = frame;
            if (from == null || nextTuple == from.tupleCount()) {
                giveBack();
                from = exchange.poll(producer);
                if (from == null) {
                    return false;
                }
                frame = from;
                nextTuple = 0;
            }
            view.wrap(from.field(nextTuple++, 0, bytes));
            keyBytes.clear();
            for (FieldKey one : keys) {
                one.append(view, keyBytes);
            }
            keyBytes.asSlice(key);
            isThere = true;
            return true;
        }

        void giveBack() {
            Frame read = frame;
            isThere = false;
            if (read != null) {
                frame = null;
                exchange.give(producer, read);
            }
        }
    }

    @Override
    public boolean next() {
        paused = false;
        if (closed) {
            return false;
        }
        exchange.start();
        if (shown != null) {
            shown.isThere = false;
            shown = null;
        }
        Head least = null;
        for (Head head : heads) {
            if (head.stand()) {
                if (least == null || head.key.compareBytes(least.key) < 0) {
                    least = head;
                }
            } else if (!exchange.isAtEnd(head.producer)) {
                paused = true;
            }
        }
        if (paused || least == null) {
            return false;
        }
        shown = least;
        row.wrap(least.bytes);
        return true;
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
        heads.forEach(Head::giveBack);
        exchange.closeConsumer(0);
    }
}
