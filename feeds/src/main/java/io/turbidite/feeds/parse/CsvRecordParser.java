package io.turbidite.feeds.parse;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.expr.BoundExpression;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * CSV records. An empty field is null for an optional declared field, the empty string for a
 * required string, and otherwise an error; undeclared columns are kept as strings; white space is
 * kept. A column without a name is called {@code column_N}, counted from 1.
 *
 * <p>What becomes of each column is decided once for each header; a record then costs no look-up by
 * name, and its numbers, times and strings go from the characters to the record without an object.
 */
public final class CsvRecordParser implements RecordParser {
    private final RecordType type;
    private final CsvFormat format;
    private final boolean open;
    private final List<Transform> transforms;
    private final TransformAids aids;
    private final CsvRow row;
    private final RecordWriter writer;
    private @Nullable Plan plan;

    /**
     * A parser for files of one form.
     *
     * @param open whether columns that {@code type} doesn't declare are kept
     * @param transforms in the order of their evaluation; their fields are declared
     */
    public CsvRecordParser(
            RecordType type, CsvFormat format, boolean open, List<Transform> transforms) {
        this(type, format, open, transforms, TransformAids.none());
    }

    /**
     * As the other, for transforms that call functions or look up.
     *
     * @param aids what they ask
     */
    public CsvRecordParser(
            RecordType type,
            CsvFormat format,
            boolean open,
            List<Transform> transforms,
            TransformAids aids) {
        this.aids = aids;
        this.type = type;
        this.format = format;
        this.open = open;
        this.transforms = List.copyOf(transforms);
        this.row = new CsvRow(format.separator());
        this.writer = new RecordWriter(type);
        if (!format.header()) {
            plan = new Plan(format.columns());
        }
    }

    @Override
    public RecordFramer.Quotes quotes() {
        return RecordFramer.Quotes.RFC_4180;
    }

    @Override
    public boolean wantsHeader() {
        return format.header();
    }

    @Override
    public void header(RecordFrame frame) {
        if (frame.problem() != null) {
            throw new MalformedFrameException("the header is damaged: " + frame.problem());
        }
        row.read(frame);
        List<String> names = new ArrayList<>();
        for (int i = 0; i < row.count(); i++) {
            String name = row.text(i);
            names.add(name.isEmpty() ? "column_" + (i + 1) : name);
        }
        plan = new Plan(names);
    }

    @Override
    public Slice parse(RecordFrame frame) {
        Plan columns = plan;
        if (columns == null) {
            throw new IllegalStateException("no header yet");
        }
        row.read(frame);
        if (row.count() != columns.names.size()) {
            throw new InvalidRequestException("it has %d fields, the header has %d"
                    .formatted(row.count(), columns.names.size()));
        }
        writer.begin();
        for (int i = 0; i < columns.fields.length; i++) {
            int field = columns.fields[i];
            if (field >= 0) {
                writeDeclared(field, i);
            } else if (field == Plan.OPEN) {
                writer.openString(columns.names.get(i), row.field(i));
            }
        }
        columns.writeTransformed();
        return writer.finish();
    }

    @Override
    public boolean standsAlone(RecordFrame line) {
        try {
            var _ = parse(line);
            return row.count() > 1;
        } catch (InvalidRequestException e) {
            return false;
        }
    }

    private void writeDeclared(int index, int column) {
        Field field = type.field(index);
        if (row.length(column) > 0 || (field.kind() == TypeKind.STRING && !field.optional())) {
            writer.setText(index, row.field(column));
        } else if (field.optional()) {
            int nested = type.parent(index);
            if (nested == RecordType.TOP || !type.field(nested).optional()) {
                writer.setNull(index);
            } // else the nested record may be missing, with all that lies in it
        } else {
            throw new InvalidRequestException(
                    "field '%s': it is empty, but required".formatted(field.name()));
        }
    }

    /** What is done with each column and each transform under one header. */
    private final class Plan implements BoundExpression.Row {
        static final int OPEN = -1;
        static final int DROPPED = -2;

        private final List<String> names;

        /** For each column: the declared field it fills, or {@link #OPEN}, or {@link #DROPPED}. */
        private final int[] fields;

        private final Map<String, Integer> indexByName = new HashMap<>();
        private final List<BoundTransform> bound = new ArrayList<>();
        private final @Nullable Object[] results;

        Plan(List<String> names) {
            this.names = List.copyOf(names);
            this.fields = new int[names.size()];
            this.results = new Object[transforms.size()];
            for (int i = 0; i < names.size(); i++) {
                if (indexByName.put(names.get(i), i) != null) {
                    throw new InvalidRequestException(
                            "the header has column '%s' twice".formatted(names.get(i)));
                }
                int declared = type.indexOf(names.get(i));
                if (declared >= 0 && type.isEach(declared)) {
                    throw new InvalidRequestException(
                            "column '%s' names the elements of an array; the column of the array is '%s'"
                                    .formatted(
                                            names.get(i),
                                            type.field(type.arrayOf(declared)).name()));
                }
                fields[i] = declared >= 0 ? declared : open ? OPEN : DROPPED;
            }
            bindTransforms();
            checkRequired();
        }

        /**
         * A transform of a column takes the column's place in the record; later ones read its
         * result.
         */
        private void bindTransforms() {
            for (int i = 0; i < transforms.size(); i++) {
                Transform transform = transforms.get(i);
                bound.add(transform.bind(type, name -> bind(transform, name), aids));
                Integer column = indexByName.put(transform.field(), names.size() + i);
                if (column != null && column < names.size()) {
                    fields[column] = DROPPED;
                }
            }
        }

        private int bind(Transform transform, String name) {
            Integer index = indexByName.get(name);
            if (index == null) {
                throw new InvalidRequestException(
                        "transform of '%s' reads '%s', which is neither a column nor an earlier transform; columns are %s"
                                .formatted(transform.field(), name, String.join(", ", names)));
            }
            return index;
        }

        private void checkRequired() {
            for (int i = 0; i < type.fields().size(); i++) {
                if (!type.field(i).optional() && !isWithinColumn(i) && !hasColumnWithin(i)) {
                    throw new InvalidRequestException(
                            "required field '%s' is neither a column nor a transform; columns are %s"
                                    .formatted(type.field(i).name(), String.join(", ", names)));
                }
            }
        }

        /** Whether the field, or a record that it lies in, is a column. */
        private boolean isWithinColumn(int field) {
            for (int at = field; at != RecordType.TOP; at = type.parent(at)) {
                if (indexByName.containsKey(type.field(at).name())) {
                    return true;
                }
            }
            return false;
        }

        private boolean hasColumnWithin(int record) {
            for (int i = record + 1; i < type.behind(record); i++) {
                if (indexByName.containsKey(type.field(i).name())) {
                    return true;
                }
            }
            return false;
        }

        void writeTransformed() {
            for (int i = 0; i < bound.size(); i++) {
                int index = type.indexOf(transforms.get(i).field());
                Object result = bound.get(i).evaluate(this);
                results[i] = result;
                if (result == null) {
                    writer.setNull(index);
                } else {
                    writer.setObject(index, result);
                }
            }
        }

        @Override
        public @Nullable Object value(int index) {
            if (index >= names.size()) {
                return results[index - names.size()];
            }
            if (row.length(index) == 0) {
                int declared = type.indexOf(names.get(index));
                boolean emptyText = declared >= 0
                        && !type.field(declared).optional()
                        && type.field(declared).kind() == TypeKind.STRING;
                return emptyText ? "" : null;
            }
            return row.text(index);
        }
    }
}
