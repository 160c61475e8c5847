package io.turbidite.ops.exchange;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.ops.expr.FieldKey;
import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.run.ByteHash;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * A producer's end of an exchange: fills a frame for each consumer. Where a queue is full it says
 * so, and goes on where it stopped when it is called again. <em>Confined to one thread at a
 * time.</em>
 */
public final class ExchangeWriter implements AutoCloseable {
    /**
     * Rows of the first frame; later ones have four times as many, so that first rows come soon.
     */
    private static final int FIRST_ROWS = 16;

    private final Exchange exchange;
    private final int producer;
    private final FieldKey[] keys;
    private final ByteSink keyBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice key = new Slice();
    private final Slice[] tuple = {new Slice()};
    private final @Nullable Frame[] filling;
    private final int[] rowsMax;

    /** Where the next row goes; of a broadcast, how far this row has gone. */
    private int target;

    private boolean ended;

    ExchangeWriter(Exchange exchange, int producer) {
        this.exchange = exchange;
        this.producer = producer;
        this.filling = new @Nullable Frame[exchange.consumerCount()];
        this.rowsMax = new int[exchange.consumerCount()];
        Arrays.fill(rowsMax, FIRST_ROWS);
        this.keys = exchange.way() == Exchange.Way.HASH
                ? exchange.fields().stream()
                        .map(field -> new FieldKey(
                                exchange.type(), exchange.type().indexOf(field), false))
                        .toArray(FieldKey[]::new)
                : new FieldKey[0];
        // producers do not all begin with the same one
        this.target = exchange.way() == Exchange.Way.ROUND_ROBIN
                ? producer % exchange.consumerCount()
                : 0;
    }

    /** Whether any consumer wants more. */
    public boolean isWanted() {
        return exchange.isWanted();
    }

    /** Sends a copy of a row; false if there is no room: then it is to be sent again. */
    public boolean send(RecordView row) {
        row.record(tuple[0]);
        return switch (exchange.way()) {
            case MERGE -> put(0);
            case HASH -> put(hashed(row));
            case ROUND_ROBIN -> {
                boolean sent = put(target);
                if (sent) {
                    target = (target + 1) % filling.length;
                }
                yield sent;
            }
            case BROADCAST -> {
                while (target < filling.length && put(target)) {
                    target++;
                }
                boolean sent = target == filling.length;
                if (sent) {
                    target = 0;
                }
                yield sent;
            }
        };
    }

    private int hashed(RecordView row) {
        keyBytes.clear();
        for (FieldKey field : keys) {
            field.append(row, keyBytes);
        }
        // the high bits: joins and groups behind this use the others
        return (int)
                Long.remainderUnsigned(ByteHash.of(keyBytes.asSlice(key)) >>> 32, filling.length);
    }

    private boolean put(int consumer) {
        Frame frame = filling[consumer];
        if (frame == null) {
            frame = exchange.frames().take();
            filling[consumer] = frame;
        }
        if (frame.tupleCount() < rowsMax[consumer] && frame.append(tuple)) {
            return true;
        }
        if (frame.tupleCount() > 0) {
            if (!exchange.offer(producer, consumer, frame)) {
                return false;
            }
            filling[consumer] = null; // it is the consumer's
            rowsMax[consumer] = (int) Math.min(1L << 20, 4L * rowsMax[consumer]);
            frame = exchange.frames().take();
            filling[consumer] = frame;
            if (frame.append(tuple)) {
                return true;
            }
        }
        return putLong(consumer);
    }

    /** Sends a row that is longer than a frame, at once; those before it are on their way. */
    private boolean putLong(int consumer) {
        if (!exchange.hasRoom(producer, consumer)) {
            return false;
        }
        Frame frame = exchange.takeLong(producer, Frame.bytesFor(tuple));
        if (frame == null) {
            return false;
        }
        boolean fits = frame.append(tuple);
        assert fits;
        boolean taken = exchange.offer(producer, consumer, frame);
        assert taken;
        return true;
    }

    /** Sends what is left and ends; false if there is no room: then it is to be called again. */
    public boolean end() {
        boolean sent = flush();
        if (sent) {
            close();
        }
        return sent;
    }

    /** Sends what is left; false if there is no room: then it is to be called again. */
    public boolean flush() {
        for (int i = 0; i < filling.length; i++) {
            Frame frame = filling[i];
            if (frame != null && frame.tupleCount() > 0) {
                if (!exchange.offer(producer, i, frame)) {
                    return false;
                }
                filling[i] = null;
            }
        }
        return true;
    }

    /** Ends without what was not sent yet; more than once does no harm. */
    @Override
    public void close() {
        for (int i = 0; i < filling.length; i++) {
            Frame frame = filling[i];
            if (frame != null) {
                filling[i] = null;
                exchange.frames().give(frame);
            }
        }
        if (!ended) {
            ended = true;
            exchange.end(producer);
        }
    }
}
