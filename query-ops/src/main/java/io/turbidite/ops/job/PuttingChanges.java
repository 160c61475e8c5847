package io.turbidite.ops.job;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

/**
 * Puts a record for each row, field by name: a row of the dataset's own type is its record. Whole
 * numbers go into narrower ones if they fit, and into doubles; all else needs a cast.
 */
final class PuttingChanges implements ChangeMaker {
    private final boolean isInsert;
    private final boolean isWhole;
    private final RecordWriter writer;
    private final int[] sources;
    private final int[] targets;
    private final Way[] ways;
    private final Slice slice = new Slice();

    /** How a value goes from a row into a record. */
    private enum Way {
        COPY,
        LONG,
        LONG_TO_DOUBLE,
        DOUBLE
    }

    PuttingChanges(Source target, RecordType rows, boolean isInsert) {
        RecordType type = target.type();
        this.isInsert = isInsert;
        this.isWhole = rows.equals(type);
        this.writer = new RecordWriter(type);
        for (String field : target.primaryKey()) {
            int _ = SinkKind.required(rows, field, target);
        }
        checkThere(target, rows);
        int count = rows.declared().size();
        this.sources = new int[count];
        this.targets = new int[count];
        this.ways = new Way[count];
        int at = 0;
        for (int i = 0; i < count; i++) {
            String name = rows.memberName(at);
            int to = type.memberOf(RecordType.TOP, name);
            if (to < 0) {
                throw new InvalidRequestException(
                        "%s declares no field '%s', which its rows have: leave it out by a project%s"
                                .formatted(target.name(), name, type.meant(name)));
            }
            sources[i] = at;
            targets[i] = to;
            ways[i] = way(rows.field(at), type.field(to), target);
            at = rows.behind(at);
        }
    }

    private static void checkThere(Source target, RecordType rows) {
        for (Field field : target.type().declared()) {
            if (!field.optional() && rows.memberOf(RecordType.TOP, field.name()) < 0) {
                throw new InvalidRequestException(
                        "field '%s' of %s is required, and its rows have none: they have %s"
                                .formatted(field.name(), target.name(), rows.names()));
            }
        }
    }

    private static Way way(Field from, Field to, Source target) {
        TypeKind kind = to.kind();
        boolean isWholeNumber = isWhole(from.kind());
        if (isWholeNumber && isWhole(kind)) {
            return Way.LONG;
        }
        if (isWholeNumber && kind == TypeKind.DOUBLE) {
            return Way.LONG_TO_DOUBLE;
        }
        if (from.kind() == TypeKind.FLOAT && kind == TypeKind.DOUBLE) {
            return Way.DOUBLE;
        }
        boolean isSame = from.kind() == kind
                && from.element() == to.element()
                && from.members().equals(to.members());
        if (!isSame) {
            throw new InvalidRequestException(
                    "field '%s' of %s is %s, and that of its rows %s: cast it"
                            .formatted(to.name(), target.name(), to.typeLabel(), from.typeLabel()));
        }
        return Way.COPY;
    }

    private static boolean isWhole(TypeKind kind) {
        return switch (kind) {
            case INT8, INT16, INT32, INT64 -> true;
            default -> false;
        };
    }

    @Override
    public Slice of(RecordView row) {
        if (isWhole) {
            return row.record(slice);
        }
        if (row.hasOpenFields()) {
            // rare: what is not declared goes along by name
            return writer.write(row.toMap());
        }
        writer.begin();
        for (int i = 0; i < sources.length; i++) {
            int from = sources[i];
            int to = targets[i];
            if (ways[i] == Way.COPY || row.isAbsent(from)) {
                writer.copy(to, row, from);
            } else {
                number(row, from, to, ways[i]);
            }
        }
        return writer.finish();
    }

    private void number(RecordView row, int from, int to, Way way) {
        switch (way) {
            case LONG -> {
                long number = row.getLong(from);
                TypeKind kind = writer.type().field(to).kind();
                if (!KindValues.inRange(kind, number)) {
                    throw new InvalidRequestException("field '%s': %d is out of range for type %s"
                            .formatted(writer.type().field(to).name(), number, kind.label()));
                }
                writer.setLong(to, number);
            }
            case LONG_TO_DOUBLE -> writer.setDouble(to, (double) row.getLong(from));
            case DOUBLE -> writer.setDouble(to, row.getDouble(from));
            case COPY -> writer.copy(to, row, from);
        }
    }

    @Override
    public void put(ChangeBatch batch, Slice made) {
        if (isInsert) {
            batch.insert(made);
        } else {
            batch.upsert(made);
        }
    }
}
