package io.turbidite.ops.scan;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.SpareSinks;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Projection;
import io.turbidite.ops.expr.RecordPredicate;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

/**
 * The row of a query that names a whole primary key, if it is there: a get, its predicates and its
 * projection in one object, so that such a query makes little more garbage than a get. <em>Confined
 * to one thread at a time;</em> any thread may read the counts.
 */
public final class PointRows implements Rows {
    private final ReadView view;
    private final byte[] key;
    private final RecordPredicate[] predicates;
    private final @Nullable Projection projection;
    private final RunOptions options;
    private final RecordView record;

    /** The same where a row is the record. */
    private final RecordView row;

    /** Taken for the length of the query; null before, and once that is over. */
    private @Nullable ByteSink bytes;

    private boolean asked;
    private volatile int foundCount;
    private volatile int matchingCount;

    /**
     * @param key encoded
     * @param predicates all must hold
     * @param projection makes the row; null: it is the record
     * @param rowType what the row is
     */
    public PointRows(
            ReadView view,
            byte[] key,
            RecordPredicate[] predicates,
            @Nullable Projection projection,
            RecordType rowType,
            RunOptions options) {
        assert key.length > 0;
        this.view = view;
        this.key = key;
        this.predicates = predicates;
        this.projection = projection;
        this.options = options;
        this.record = new RecordView(view.source().type());
        this.row = projection == null ? record : new RecordView(rowType);
    }

    @Override
    public boolean next() {
        if (asked) {
            return false;
        }
        asked = true;
        options.checkNotStopped();
        ByteSink taken = SpareSinks.take();
        bytes = taken;
        Slice slice = new Slice();
        if (!get(slice, taken)) {
            return false;
        }
        foundCount = 1;
        record.wrap(taken.asSlice(slice));
        for (RecordPredicate predicate : predicates) {
            if (!predicate.matches(record)) {
                return false;
            }
        }
        matchingCount = 1;
        if (projection != null) {
            row.wrap(projection.row(record));
        }
        return true;
    }

    private boolean get(Slice slice, ByteSink into) {
        ByteSink encoded = SpareSinks.take();
        try {
            return view.get(encoded.putBytes(key).asSlice(slice), into);
        } finally {
            SpareSinks.give(encoded);
        }
    }

    @Override
    public RecordView row() {
        return row;
    }

    /** Records that the key named, so far. */
    public int foundCount() {
        return foundCount;
    }

    /** Those that the predicates hold of. */
    public int matchingCount() {
        return matchingCount;
    }

    @Override
    public void close() {
        ByteSink used = bytes;
        if (used != null) {
            bytes = null;
            SpareSinks.give(used);
        }
        if (projection != null) {
            projection.release();
        }
    }
}
