package io.turbidite.ops.expr;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.text.TextTest;
import io.turbidite.core.type.RecordType;

/** Writes what a query finds out about a record into its row. <em>Confined to one thread.</em> */
public interface ColumnValue {
    /** Sets a field of the row, to null where the record has nothing to find out about. */
    void set(RecordView record, RecordWriter row, int to);

    /** Of a column that is no declared field. */
    static ColumnValue of(RecordType type, Column column) {
        return switch (column) {
            case Column.Declared declared -> throw new IllegalArgumentException(declared.name());
            case Column.Computed computed -> computed.maker().get();
            case Column.Far(var _, int field, var place) -> {
                Distances distances = new Distances(type, field, place);
                yield (record, row, to) -> {
                    if (distances.matches(record)) {
                        row.setDouble(to, distances.of(record));
                    } else {
                        row.setNull(to);
                    }
                };
            }
            case Column.Similar(var _, int field, var asked) -> {
                TextTest test = asked.newTest();
                Slice text = new Slice();
                yield (record, row, to) -> {
                    if (record.isAbsent(field)) {
                        row.setNull(to);
                    } else {
                        row.setDouble(to, test.similarity(record.getBytes(field, text)));
                    }
                };
            }
            case Column.TokenCount(var _, int field, var asked) -> {
                TextTest test = asked.newTest();
                Slice text = new Slice();
                yield (record, row, to) -> {
                    if (record.isAbsent(field)) {
                        row.setNull(to);
                    } else {
                        row.setLong(to, test.matchCount(record.getBytes(field, text)));
                    }
                };
            }
        };
    }
}
