package io.turbidite.ops.group;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.ArgumentColumns;
import io.turbidite.ops.batch.ColumnBatch;
import io.turbidite.ops.batch.KeyWords;
import io.turbidite.ops.expr.FieldKey;
import io.turbidite.ops.expr.TupleMaker;

import org.jspecify.annotations.Nullable;

/** The selected records of a batch as groups take them. <em>Confined to one thread.</em> */
final class GroupedRecords implements GroupedBatch {
    private final TupleMaker maker;
    private final KeyWords words;
    private final FieldKey[] keys;
    private final @Nullable ArgumentColumns arguments;
    private final ByteSink keyBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice key = new Slice();
    private @Nullable ColumnBatch batch;

    /**
     * @param maker makes the tuples of the records
     * @param fields of the key, which {@link KeyWords#fit}
     * @param arguments null: groups are counted
     */
    GroupedRecords(
            TupleMaker maker, RecordType type, int[] fields, @Nullable ArgumentColumns arguments) {
        this.maker = maker;
        this.arguments = arguments;
        this.words = new KeyWords(type, fields);
        this.keys = new FieldKey[fields.length];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = new FieldKey(type, fields[i], false);
        }
    }

    /** Shows the records of a batch. */
    GroupedRecords show(ColumnBatch of) {
        batch = of;
        return this;
    }

    private ColumnBatch batch() {
        ColumnBatch shown = batch;
        if (shown == null) {
            throw new IllegalStateException("no batch is shown");
        }
        return shown;
    }

    @Override
    public int count() {
        return batch().count();
    }

    @Override
    public void read() {
        ColumnBatch of = batch();
        words.read(of.records(), of.rows(), of.count());
        if (arguments != null) {
            arguments.read(of.records(), of.rows(), of.count());
        }
    }

    @Override
    public boolean isWhole() {
        return keys.length == 0;
    }

    @Override
    public int wordCount() {
        return words.words();
    }

    @Override
    public long[] words() {
        return words.all();
    }

    @Override
    public long[] hashes() {
        return words.hashes();
    }

    @Override
    public @Nullable ArgumentColumns arguments() {
        return arguments;
    }

    @Override
    public Slice key(int row) {
        RecordView record = batch().view(row);
        keyBytes.clear();
        for (FieldKey field : keys) {
            field.append(record, keyBytes);
        }
        return keyBytes.asSlice(key);
    }

    @Override
    public Slice[] tuple(int row) {
        return batch().tuple(maker, row);
    }
}
