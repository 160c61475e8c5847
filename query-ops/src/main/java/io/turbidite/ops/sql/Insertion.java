package io.turbidite.ops.sql;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.Source;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * {@code INSERT} and {@code UPSERT}: puts a record for each row, in batches. <em>Immutable.</em>
 */
final class Insertion implements Effect {
    /** In place of a column: the row as a whole. */
    static final int WHOLE = -1;

    private final Catalog catalog;
    private final Source target;
    private final RowPlan rows;
    private final List<Assignment> assignments;
    private final boolean replaces;
    private final Places places;

    /** Says what is wrong with a value of a row, with the place where the statement has it. */
    interface Places {
        SqlException wrong(String message, long row, int column, Throwable cause);
    }

    /** @param replaces whether a record may be there already */
    Insertion(
            Catalog catalog,
            Source target,
            RowPlan rows,
            List<Assignment> assignments,
            boolean replaces,
            Places places) {
        this.catalog = catalog;
        this.target = target;
        this.rows = rows;
        this.assignments = List.copyOf(assignments);
        this.replaces = replaces;
        this.places = places;
    }

    @Override
    public Planned rows() {
        return rows.planned();
    }

    @Override
    public void apply(RunOptions options, @Nullable Object[] checked, ChangedCount count) {
        ChangeBatch batch = catalog.newBatch(target);
        RecordWriter writer = new RecordWriter(target.type());
        try (MomentViews moment = new MomentViews(catalog);
                QueryResult result =
                        rows.at(moment, List.of(), checked).with(options).run()) {
            for (long row = 0; result.next(); row++) {
                Slice record = record(writer, result, row);
                if (!batch.hasRoom(record.length())) {
                    write(batch, count);
                }
                if (replaces) {
                    batch.upsert(record);
                } else {
                    batch.insert(record);
                }
            }
            write(batch, count);
        }
    }

    private Slice record(RecordWriter writer, QueryResult result, long row) {
        writer.begin();
        for (int i = 0; i < assignments.size(); i++) {
            try {
                assignments.get(i).set(writer, result.row());
            } catch (InvalidRequestException e) {
                throw places.wrong(String.valueOf(e.getMessage()), row, i, e);
            }
        }
        try {
            return writer.finish();
        } catch (InvalidRequestException e) {
            throw places.wrong(String.valueOf(e.getMessage()), row, WHOLE, e);
        }
    }

    /** @throws DuplicateKeyException if a key is taken: then nothing of the batch is there */
    private static void write(ChangeBatch batch, ChangedCount count) {
        if (batch.size() > 0) {
            int size = batch.size();
            batch.write();
            count.add(size);
            batch.clear();
        }
    }
}
