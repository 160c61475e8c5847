package io.turbidite.hashlog.parse;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Utf8;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * One row of separated values: RFC 4180 quoting, any separator. <em>Confined to one thread.</em>
 *
 * <p>The project reads files of rows with FastCSV, which makes a string of every field and a list
 * of every row. Here a row is a record among millions a second of which a few fields are wanted,
 * and values must be places in the row: that is this short walk, which ends at the last wanted
 * column and makes no garbage.
 */
final class CsvParser implements RecordParser {
    private final char separator;
    /** By column, the field that wants it, or -1. */
    private final int[] fieldOf;

    private final ColumnType[] types;
    private final FieldValues values;
    private final RecordBytes record = new RecordBytes();
    private final JsonNumber number = new JsonNumber(record);
    private int length;
    private Rejection.Kind problem = Rejection.Kind.BAD_QUOTING;
    private int problemAt;

    CsvParser(char separator, List<CsvColumn> columns, int[] fieldOf, FieldValues values) {
        this.separator = separator;
        this.types = columns.stream().map(CsvColumn::type).toArray(ColumnType[]::new);
        this.fieldOf = fieldOf;
        this.values = values;
    }

    @Override
    public FieldValues values() {
        return values;
    }

    @Override
    public boolean parse(MemorySegment segment, long offset, int recordBytes) {
        record.start(segment, offset, recordBytes);
        values.begin(record.array(), recordBytes);
        length = recordBytes;
        if (length > 0 && segment.get(Bytes.U8, offset + length - 1) == '\r') {
            length--;
        }
        int position = 0;
        for (int column = 0; column < fieldOf.length && !values.isDone(); column++) {
            int end = column(column, position);
            if (end < 0) {
                return values.reject(problem, -end - 1);
            }
            if (end == length) {
                break;
            }
            position = end + 1;
        }
        return true;
    }

    /**
     * The value that starts at {@code start}: returns its end, or -1 - the place of what is wrong.
     */
    private int column(int column, int start) {
        boolean quoted = start < length && record.at(start) == '"';
        if (quoted) {
            return quoted(column, start + 1);
        }
        int end = start;
        while (end < length && record.at(end) != separator) {
            end++;
        }
        int field = fieldOf[column];
        if (field < 0) {
            return end;
        }
        if (end == start) {
            values.found(field, ValueKind.NULL, start, 0);
            return end;
        }
        boolean good = found(field, types[column], start, end) || values.forgives(field);
        return good ? end : -1 - problemAt;
    }

    private int quoted(int column, int start) {
        boolean doubled = false;
        int end = start;
        while (true) {
            while (end < length && record.at(end) != '"') {
                end++;
            }
            if (end + 1 >= length || record.at(end + 1) != '"') {
                break;
            }
            doubled = true;
            end += 2;
        }
        int after = end + 1;
        if (after > length || (after < length && record.at(after) != separator)) {
            problem = Rejection.Kind.BAD_QUOTING;
            return -1 - Math.min(after, length);
        }
        int field = fieldOf[column];
        if (field < 0) {
            return after;
        }
        boolean unescape = doubled && types[column] == ColumnType.TEXT;
        boolean good = unescape
                ? foundDoubled(field, start, end)
                : found(field, types[column], start, end);
        return good || values.forgives(field) ? after : -1 - problemAt;
    }

    private boolean refuse(Rejection.Kind kind, int at) {
        problem = kind;
        problemAt = at;
        return false;
    }

    private boolean found(int field, ColumnType type, int start, int end) {
        return switch (type) {
            case TEXT -> {
                if (isUtf8(start, end)) {
                    values.found(field, ValueKind.TEXT, start, end - start);
                    yield true;
                }
                yield false;
            }
            case NUMBER -> foundNumber(field, start, end);
            case BOOLEAN -> foundBoolean(field, start, end);
        };
    }

    private boolean isUtf8(int start, int end) {
        byte[] bytes = record.copiedTo(end);
        for (int i = start; i < end; i++) {
            if (bytes[i] < 0) {
                int invalid = Utf8.firstInvalid(MemorySegment.ofArray(bytes), start, end - start);
                return invalid < 0 || refuse(Rejection.Kind.BAD_UTF8, start + invalid);
            }
        }
        return true;
    }

    private boolean foundDoubled(int field, int start, int end) {
        if (!isUtf8(start, end)) {
            return false;
        }
        ByteBuilder decoded = values.decoded();
        int before = decoded.length();
        for (int i = start; i < end; i++) {
            int c = record.at(i);
            decoded.put(c);
            if (c == '"') {
                // its twin
                i++;
            }
        }
        values.found(field, ValueKind.DECODED_TEXT, before, decoded.length() - before);
        return true;
    }

    private boolean foundNumber(int field, int start, int end) {
        if (!number.read(start) || number.end() != end) {
            return refuse(Rejection.Kind.BAD_NUMBER, Math.min(number.end(), end));
        }
        if (number.isInteger()) {
            values.foundInteger(field, number.value(), start, end - start);
        } else {
            values.found(field, ValueKind.DECIMAL, start, end - start);
        }
        return true;
    }

    private boolean foundBoolean(int field, int start, int end) {
        boolean isTrue = isWord(start, end, "true");
        if (!isTrue && !isWord(start, end, "false")) {
            return refuse(Rejection.Kind.BAD_BOOLEAN, start);
        }
        values.found(field, isTrue ? ValueKind.TRUE : ValueKind.FALSE, start, end - start);
        return true;
    }

    private boolean isWord(int start, int end, String word) {
        if (end - start != word.length()) {
            return false;
        }
        for (int i = 0; i < word.length(); i++) {
            if (record.at(start + i) != word.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
