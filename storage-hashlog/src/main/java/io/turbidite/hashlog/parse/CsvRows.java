package io.turbidite.hashlog.parse;

import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Where rows of separated values end: a line end within quotes is part of a value.
 * <em>Stateless.</em>
 */
public final class CsvRows {
    /** The row's last quote is not closed before the end of the bytes. */
    public static final long UNCLOSED = -1;

    private CsvRows() {}

    /**
     * Where the row that starts at {@code from} ends, as {@link CsvParser} reads it.
     *
     * @return of its newline; {@code to} if it has none before that; {@link #UNCLOSED} if
     *     {@code to} is within quotes
     */
    public static long end(MemorySegment segment, long from, long to, char separator) {
        boolean isStart = true;
        boolean isQuoted = false;
        for (long at = from; at < to; at++) {
            int c = segment.get(Bytes.U8, at);
            if (isQuoted) {
                if (c == '"') {
                    if (at + 1 < to && segment.get(Bytes.U8, at + 1) == '"') {
                        at++;
                    } else {
                        isQuoted = false;
                    }
                }
            } else if (c == '\n') {
                return at;
            } else if (c == '"' && isStart) {
                isQuoted = true;
                isStart = false;
            } else {
                isStart = c == separator;
            }
        }
        return isQuoted ? UNCLOSED : to;
    }

    /** Whether the row names the columns of {@code spec}, in order: a header, and no record. */
    public static boolean isHeader(byte[] row, int offset, int byteCount, ParserSpec.Csv spec) {
        String text = new String(row, offset, byteCount, StandardCharsets.UTF_8).strip();
        if (text.startsWith("\uFEFF")) {
            text = text.substring(1);
        }
        List<String> names = new ArrayList<>();
        for (String name : text.split(Pattern.quote(String.valueOf(spec.separator())), -1)) {
            String plain = name.strip();
            boolean isQuoted = plain.length() > 1 && plain.startsWith("\"") && plain.endsWith("\"");
            names.add(isQuoted ? plain.substring(1, plain.length() - 1) : plain);
        }
        List<String> wanted = spec.columns().stream().map(CsvColumn::name).toList();
        return names.size() >= wanted.size() && names.subList(0, wanted.size()).equals(wanted);
    }
}
