package io.turbidite.hashlog.parse;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.FieldPath;
import io.turbidite.core.expr.TokenReader;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which parser reads the records of a log, with a text form for the durable registry.
 * <em>Immutable.</em>
 */
public sealed interface ParserSpec {
    /** Most columns or fields that a spec may declare. */
    int DECLARED_COUNT_MAX = 1_024;

    /** One JSON object a record: {@code json}. */
    record Json() implements ParserSpec {
        @Override
        public String text() {
            return "json";
        }

        @Override
        public RecordParser newParser(
                List<FieldPath> paths, FieldListener listener, ScanMode mode) {
            FieldTree tree = new FieldTree(paths);
            return new JsonParser(tree, mode.newMasks(), new FieldValues(tree, listener));
        }
    }

    /**
     * One row a record: {@code csv(",", review_id, stars:number, open:boolean)}. A value may stand
     * between double quotes, where a quote is doubled; an empty one without quotes is null; columns
     * that a row lacks are missing.
     */
    record Csv(char separator, List<CsvColumn> columns) implements ParserSpec {
        public Csv {
            columns = List.copyOf(columns);
            if (separator == '"' || separator == '\n' || separator == '\r' || separator > 0x7E) {
                throw new InvalidRequestException(
                        "%s can't separate values".formatted(TokenReader.quote("" + separator)));
            }
            checkNames(columns.stream().map(CsvColumn::name).toList());
        }

        @Override
        public String text() {
            return "csv(%s, %s)"
                    .formatted(
                            TokenReader.quote("" + separator),
                            columns.stream()
                                    .map(CsvColumn::text)
                                    .collect(Collectors.joining(", ")));
        }

        @Override
        public RecordParser newParser(
                List<FieldPath> paths, FieldListener listener, ScanMode mode) {
            List<String> names = columns.stream().map(CsvColumn::name).toList();
            int[] fieldOf = new int[names.size()];
            Arrays.fill(fieldOf, -1);
            for (int f = 0; f < paths.size(); f++) {
                fieldOf[declared(paths.get(f), names)] = f;
            }
            FieldValues values = new FieldValues(new FieldTree(paths), listener);
            return new CsvParser(separator, columns, fieldOf, values);
        }
    }

    /** Bytes with fields at fixed places: {@code binary(id:i64@0, kind:u8@8, name:text16@9)}. */
    record Binary(List<BinaryField> fields) implements ParserSpec {
        public Binary {
            fields = List.copyOf(fields);
            checkNames(fields.stream().map(BinaryField::name).toList());
        }

        @Override
        public String text() {
            return "binary(%s)"
                    .formatted(fields.stream()
                            .map(BinaryField::text)
                            .collect(Collectors.joining(", ")));
        }

        @Override
        public RecordParser newParser(
                List<FieldPath> paths, FieldListener listener, ScanMode mode) {
            List<String> names = fields.stream().map(BinaryField::name).toList();
            BinaryField[] wanted = paths.stream()
                    .map(path -> fields.get(declared(path, names)))
                    .toArray(BinaryField[]::new);
            return new BinaryParser(wanted, new FieldValues(new FieldTree(paths), listener));
        }
    }

    /** The text form, which {@link #parse} reads back. */
    String text();

    /**
     * A parser that looks for {@code paths}, which are numbered as they come.
     *
     * @param listener hears of each field when it is found
     * @throws InvalidRequestException if this kind of record can't have such a field, or one is
     *     named twice
     */
    RecordParser newParser(List<FieldPath> paths, FieldListener listener, ScanMode mode);

    private static void checkNames(List<String> names) {
        Set<String> seen = new HashSet<>();
        for (String name : names) {
            if (!seen.add(name)) {
                throw new InvalidRequestException(
                        "the field `%s` is declared twice".formatted(name));
            }
        }
        if (names.isEmpty() || names.size() > DECLARED_COUNT_MAX) {
            throw new InvalidRequestException("a record declares 1 to %d fields, not %d"
                    .formatted(DECLARED_COUNT_MAX, names.size()));
        }
    }

    private static int declared(FieldPath path, List<String> names) {
        int index = path.steps().size() == 1
                        && path.steps().getFirst() instanceof FieldPath.Name(String name)
                ? names.indexOf(name)
                : -1;
        if (index < 0) {
            throw new InvalidRequestException("the records have no field %s, they have %s"
                    .formatted(
                            path.text(), names.size() > 20 ? names.subList(0, 20) + "…" : names));
        }
        return index;
    }

    /**
     * Reads a text form.
     *
     * @throws InvalidRequestException with the position of what is wrong
     */
    static ParserSpec parse(String text) {
        TokenReader reader = new TokenReader(text);
        ParserSpec spec = SpecReader.spec(reader);
        reader.end();
        return spec;
    }
}
