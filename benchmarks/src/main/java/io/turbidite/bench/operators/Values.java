package io.turbidite.bench.operators;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * The values of an answer, typed, numbers without a box and text as Java's: read to be counted, or
 * kept to be compared.
 */
final class Values {
    private enum Kind {
        WHOLE,
        REAL,
        TEXT
    }

    private final Kind[] kinds;

    /** Of rows of that type. */
    Values(RecordType type) {
        kinds = type.declared().stream().map(field -> kind(field.kind())).toArray(Kind[]::new);
    }

    private static Kind kind(TypeKind kind) {
        return switch (kind) {
            case STRING -> Kind.TEXT;
            case DOUBLE -> Kind.REAL;
            case INT32, INT64 -> Kind.WHOLE;
            default -> throw new IllegalArgumentException("no statement here has a " + kind);
        };
    }

    /**
     * Reads all, and closes the result.
     *
     * @return a figure of all values that other values would hardly have
     */
    double read(QueryResult result) {
        double sum = 0;
        Slice bytes = new Slice();
        try (result) {
            while (result.next()) {
                RecordView row = result.row();
                for (int i = 0; i < kinds.length; i++) {
                    if (!row.isAbsent(i)) {
                        sum += switch (kinds[i]) {
                            case WHOLE -> row.getLong(i);
                            case REAL -> row.getDouble(i);
                            case TEXT -> row.getBytes(i, bytes).toUtf8().length();
                        };
                    }
                    sum++;
                }
            }
        }
        return sum;
    }

    /** As {@link #read(QueryResult)}, of the other side. */
    double read(ResultSet rows) throws SQLException {
        double sum = 0;
        try (rows) {
            while (rows.next()) {
                for (int i = 0; i < kinds.length; i++) {
                    sum += switch (kinds[i]) {
                        case WHOLE -> rows.getLong(i + 1);
                        case REAL -> rows.getDouble(i + 1);
                        case TEXT -> {
                            String text = rows.getString(i + 1);
                            yield text == null ? 0 : text.length();
                        }
                    };
                    sum++;
                }
            }
        }
        return sum;
    }

    /** All rows, numbers as doubles; closes the result. */
    List<List<@Nullable Object>> rows(QueryResult result) {
        List<List<@Nullable Object>> all = new ArrayList<>();
        Slice bytes = new Slice();
        try (result) {
            while (result.next()) {
                RecordView row = result.row();
                List<@Nullable Object> values = new ArrayList<>();
                for (int i = 0; i < kinds.length; i++) {
                    values.add(
                            row.isAbsent(i)
                                    ? null
                                    : switch (kinds[i]) {
                                        case WHOLE -> (double) row.getLong(i);
                                        case REAL -> row.getDouble(i);
                                        case TEXT -> row.getBytes(i, bytes).toUtf8();
                                    });
                }
                all.add(values);
            }
        }
        return all;
    }
}
