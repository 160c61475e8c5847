package io.turbidite.ops.cluster;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.FieldKey;
import io.turbidite.ops.job.JobConnector;
import io.turbidite.ops.run.ByteHash;

import org.apache.hyracks.api.comm.IFrameWriter;
import org.apache.hyracks.api.comm.VSizeFrame;
import org.apache.hyracks.api.context.IHyracksFrameMgrContext;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * What a stage gives: rows become tuples in frames of the engine, which its connector takes. A
 * tuple has the record, and before it what the connector goes by: a hash, or the bytes of a key.
 * <em>Confined to one thread at a time.</em>
 */
final class StageOutput {
    /** What tuples have before the record. */
    enum Head {
        NOTHING,
        /** Four bytes. */
        HASH,
        /** A key of any length, and the number of the sender, so that equal rows have an order. */
        KEY;

        static Head of(@Nullable JobConnector output) {
            if (output == null) {
                return NOTHING;
            }
            return switch (output.kind()) {
                case HASH -> HASH;
                case MERGING -> KEY;
                case BROADCAST, ROUND_ROBIN, ONE_TO_ONE -> NOTHING;
            };
        }

        int fieldCount() {
            return this == NOTHING ? 1 : 2;
        }
    }

    private static final String DESCENDING = ":desc";

    /** Rows of the first frame; later ones have four times as many: first rows come soon. */
    private static final int FIRST_ROWS = 16;

    private final Head head;
    private final FieldKey[] keys;
    private final int sender;
    private final ByteSink keyBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice key = new Slice();
    private final Slice record = new Slice();
    private final Slice[] tuple;
    private final IFrameWriter writer;
    private final RowAppender frame;
    private int rowsMax = FIRST_ROWS;
    private boolean isOpen;

    /**
     * @param sender the number of the stage's instance
     */
    StageOutput(
            @Nullable JobConnector output,
            RecordType type,
            int sender,
            IFrameWriter writer,
            IHyracksFrameMgrContext context)
            throws HyracksDataException {
        this.head = Head.of(output);
        List<String> fields = output == null || head == Head.NOTHING ? List.of() : output.fields();
        this.keys = fields.stream().map(field -> key(type, field)).toArray(FieldKey[]::new);
        this.sender = sender;
        this.tuple = head == Head.NOTHING ? new Slice[] {record} : new Slice[] {key, record};
        this.writer = writer;
        this.frame = new RowAppender(new VSizeFrame(context));
    }

    private static FieldKey key(RecordType type, String text) {
        boolean descending = text.endsWith(DESCENDING);
        String field = descending ? text.substring(0, text.length() - DESCENDING.length()) : text;
        return new FieldKey(type, type.indexOf(field), descending);
    }

    /** Waits until the readers are there. */
    void open() throws HyracksDataException {
        isOpen = true;
        writer.open();
    }

    /** Sends a copy of a row; waits where a reader is slow. */
    void send(RecordView row) throws HyracksDataException {
        row.record(record);
        switch (head) {
            case NOTHING -> {}
            case HASH -> {
                makeKey(row);
                int hash = (int) (ByteHash.of(key) >>> 32);
                keyBytes.clear();
                keyBytes.putInt(Integer.reverseBytes(hash));
                keyBytes.asSlice(key);
            }
            case KEY -> {
                makeKey(row);
                keyBytes.putByte(sender >>> 8);
                keyBytes.putByte(sender & 0xFF);
                keyBytes.asSlice(key);
            }
        }
        if (frame.count() >= rowsMax) {
            push();
            rowsMax = (int) Math.min(1L << 20, 4L * rowsMax);
        }
        if (!frame.append(tuple, tuple.length)) {
            frame.write(writer, true);
            boolean fits = frame.append(tuple, tuple.length);
            assert fits : record;
        }
    }

    private void makeKey(RecordView row) {
        keyBytes.clear();
        for (FieldKey field : keys) {
            field.append(row, keyBytes);
        }
        keyBytes.asSlice(key);
    }

    /** Hands on what there is, all the way. */
    private void push() throws HyracksDataException {
        frame.write(writer, true);
        writer.flush();
    }

    /** Sends what is left, and ends. */
    void end() throws HyracksDataException {
        if (frame.count() > 0) {
            frame.write(writer, true);
        }
        close();
    }

    /** Tells the readers that there will be no more, and that it is not the whole answer. */
    void fail() throws HyracksDataException {
        if (isOpen) {
            writer.fail();
        }
    }

    /** More than once does no harm. */
    void close() throws HyracksDataException {
        if (isOpen) {
            isOpen = false;
            writer.close();
        }
    }
}
