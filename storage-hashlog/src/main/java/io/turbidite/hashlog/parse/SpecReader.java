package io.turbidite.hashlog.parse;

import io.turbidite.core.expr.TokenReader;

import java.util.ArrayList;
import java.util.List;

/** Reads the text forms of {@link ParserSpec}s. */
final class SpecReader {
    private SpecReader() {}

    static ParserSpec spec(TokenReader reader) {
        if (reader.acceptWord("json")) {
            return new ParserSpec.Json();
        }
        if (reader.acceptWord("csv")) {
            return csv(reader);
        }
        if (reader.acceptWord("binary")) {
            return binary(reader);
        }
        throw reader.expected("json, csv(…) or binary(…)");
    }

    private static ParserSpec csv(TokenReader reader) {
        reader.expect("(");
        int start = reader.position();
        String separator = reader.string();
        if (separator.length() != 1) {
            throw reader.wrongAt(start, "the separator is one character");
        }
        List<CsvColumn> columns = new ArrayList<>();
        while (reader.accept(",")) {
            String name = reader.name();
            ColumnType type = ColumnType.TEXT;
            if (reader.accept(":")) {
                type = columnType(reader);
            }
            columns.add(new CsvColumn(name, type));
        }
        reader.expect(")");
        return new ParserSpec.Csv(separator.charAt(0), columns);
    }

    private static ColumnType columnType(TokenReader reader) {
        for (ColumnType type : ColumnType.values()) {
            if (reader.acceptWord(type.text())) {
                return type;
            }
        }
        throw reader.expected("text, number or boolean");
    }

    private static ParserSpec binary(TokenReader reader) {
        reader.expect("(");
        List<BinaryField> fields = new ArrayList<>();
        do {
            String name = reader.name();
            reader.expect(":");
            BinaryField.Encoding encoding = encoding(reader);
            int size = reader.integer(1, 1 << 20);
            reader.expect("@");
            int offset = reader.integer(0, 1 << 25);
            boolean text = encoding == BinaryField.Encoding.TEXT;
            // an odd number of bits makes a byte count that is none
            int byteCount = text ? size : size % 8 == 0 ? size / 8 : 0;
            fields.add(new BinaryField(name, encoding, offset, byteCount));
        } while (reader.accept(","));
        reader.expect(")");
        return new ParserSpec.Binary(fields);
    }

    private static BinaryField.Encoding encoding(TokenReader reader) {
        for (BinaryField.Encoding encoding : BinaryField.Encoding.values()) {
            if (reader.accept(encoding.letter)) {
                return encoding;
            }
        }
        throw reader.expected("i8 i16 i32 i64 u8 u16 u32 or text<bytes>");
    }
}
