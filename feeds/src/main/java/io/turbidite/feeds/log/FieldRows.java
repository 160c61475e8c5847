package io.turbidite.feeds.log;

import com.fasterxml.jackson.core.io.JsonStringEncoder;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.expr.FieldPath;
import io.turbidite.hashlog.parse.FieldListener;
import io.turbidite.hashlog.parse.FieldValues;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.parse.RecordParser;
import io.turbidite.hashlog.parse.ScanMode;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Some fields of records as JSON objects: {@code {"type":"PushEvent","actor.id":17}}, a field that
 * is missing as null. <em>Confined to one thread.</em>
 */
public final class FieldRows {
    private final List<byte[]> names;
    private final RecordParser parser;

    /**
     * @param paths of the fields, each once
     * @throws io.turbidite.core.InvalidRequestException if a path is wrong, or records can't have
     *     it
     */
    public FieldRows(ParserSpec spec, List<String> paths) {
        List<FieldPath> fields = paths.stream().map(FieldPath::parse).toList();
        this.parser = spec.newParser(fields, FieldListener.NONE, ScanMode.best());
        this.names = fields.stream()
                .map(field -> JsonStringEncoder.getInstance().quoteAsUTF8(field.text()))
                .toList();
    }

    /**
     * Appends the object of a record: null for a value that is malformed, and for all of a record
     * that is.
     */
    public void append(MemorySegment segment, long offset, int length, ByteSink to) {
        boolean whole = parser.read(segment, offset, length);
        FieldValues values = parser.values();
        to.putByte('{');
        for (int f = 0; f < names.size(); f++) {
            to.putUtf8(f == 0 ? "\"" : ",\"");
            to.putBytes(names.get(f));
            to.putUtf8("\":");
            if (whole) {
                value(values, f, to);
            } else {
                to.putUtf8("null");
            }
        }
        to.putByte('}');
    }

    private static void value(FieldValues values, int field, ByteSink to) {
        switch (values.kind(field)) {
            case MISSING, NULL -> to.putUtf8("null");
            case TRUE -> to.putUtf8("true");
            case FALSE -> to.putUtf8("false");
            case INTEGER, DECIMAL, OBJECT, ARRAY -> to.putUtf8(values.text(field));
            case TEXT, DECODED_TEXT -> {
                to.putByte('"');
                to.putBytes(JsonStringEncoder.getInstance().quoteAsUTF8(values.text(field)));
                to.putByte('"');
            }
        }
    }
}
