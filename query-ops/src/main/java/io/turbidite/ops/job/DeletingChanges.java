package io.turbidite.ops.job;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;

/** Deletes the records whose keys rows have. */
final class DeletingChanges implements ChangeMaker {
    private final KeySpec key;
    private final ByteSink bytes = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
    private final Slice slice = new Slice();

    DeletingChanges(Source target, RecordType rows) {
        this.key = SinkKind.key(rows, target);
    }

    @Override
    public Slice of(RecordView row) {
        if (key.hasNullOrMissing(row)) {
            throw new InvalidRequestException("a row lacks a value of the key (%s)"
                    .formatted(String.join(", ", key.fields())));
        }
        bytes.clear();
        key.append(row, bytes);
        return bytes.asSlice(slice);
    }

    @Override
    public void put(ChangeBatch batch, Slice made) {
        batch.delete(made);
    }
}
