package io.turbidite.core.record;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.util.Base64;
import java.util.UUID;

/**
 * Prints records as JSON, from their bytes. <em>Confined to one thread</em>; belongs to a {@link
 * RecordView}. Strings go from UTF-8 to UTF-8; floating-point numbers, decimals, bytes and uuids
 * make garbage, the other kinds none.
 */
final class RecordJson {
    private static final byte[] TRUE = {'t', 'r', 'u', 'e'};
    private static final byte[] FALSE = {'f', 'a', 'l', 's', 'e'};
    private static final byte[] NULL = {'n', 'u', 'l', 'l'};
    private static final byte[] HEX = {
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'
    };

    private final RecordType type;
    private final TypeKind[] kinds;
    private final byte[][] names;
    private final Slice scratch = new Slice();

    RecordJson(RecordType type) {
        this.type = type;
        int fieldCount = type.fields().size();
        kinds = new TypeKind[fieldCount + type.arrayCount()];
        for (int i = fieldCount; i < kinds.length; i++) {
            kinds[i] = type.field(i).kind();
        }
        names = new byte[fieldCount][];
        ByteSink sink = new ByteSink(64, Integer.MAX_VALUE);
        for (int i = 0; i < fieldCount; i++) {
            kinds[i] = type.field(i).kind();
            sink.clear().putUtf8(type.memberName(i));
            Slice name = sink.asSlice(new Slice());
            ByteSink quoted = new ByteSink(64, Integer.MAX_VALUE);
            string(quoted, name);
            names[i] = quoted.putByte(':').asSlice(new Slice()).toByteArray();
        }
    }

    void record(RecordView view, ByteSink sink) {
        sink.putByte('{');
        int start = sink.length();
        declared(view, 0, names.length, start, sink);
        members(sink, view.openFields(), start, 1);
        sink.putByte('}');
    }

    /** The fields from one to another that are there, each with all that lies in it. */
    private void declared(RecordView view, int from, int to, int start, ByteSink sink) {
        for (int field = from; field < to; field = type.behind(field)) {
            if (!view.isMissing(field)) {
                separate(sink, start);
                sink.putBytes(names[field]);
                if (view.isNull(field)) {
                    sink.putBytes(NULL);
                } else {
                    declared(view, field, sink);
                }
            }
        }
    }

    private void declared(RecordView view, int field, ByteSink sink) {
        switch (kinds[field]) {
            case BOOL -> sink.putBytes(view.getLong(field) == 1 ? TRUE : FALSE);
            case INT8, INT16, INT32, INT64 -> IsoText.appendNumber(sink, view.getLong(field));
            case DATE, TIME, DATETIME, DURATION -> iso(sink, kinds[field], view.getLong(field));
            case FLOAT -> real(sink, Float.toString((float) view.getDouble(field)));
            case DOUBLE -> real(sink, Double.toString(view.getDouble(field)));
            case STRING -> string(sink, view.utf8(field, scratch));
            case BINARY -> base64(sink, view.getBytes(field, scratch));
            case POINT, LONLAT -> coordinates(sink, view, field, 2);
            case RECTANGLE -> coordinates(sink, view, field, 4);
            case DECIMAL, UUID -> object(sink, view.get(field));
            case ARRAY -> elements(sink, view, type.eachOf(field));
            case RECORD -> {
                sink.putByte('{');
                int start = sink.length();
                declared(view, field + 1, type.behind(field), start, sink);
                members(sink, view.openFields(field), start, 1);
                sink.putByte('}');
            }
        }
    }

    private void elements(ByteSink sink, RecordView view, int each) {
        sink.putByte('[');
        int start = sink.length();
        for (boolean is = view.firstElement(each); is; is = view.nextElement(each)) {
            separate(sink, start);
            declared(view, each, sink);
        }
        sink.putByte(']');
    }

    private static void coordinates(ByteSink sink, RecordView view, int field, int count) {
        sink.putByte('[');
        for (int i = 0; i < count; i++) {
            if (i > 0) {
                sink.putByte(',');
            }
            real(sink, Double.toString(view.getCoordinate(field, i)));
        }
        sink.putByte(']');
    }

    private void members(ByteSink sink, OpenReader open, int start, int depth) {
        while (open.hasNext()) {
            separate(sink, start);
            string(sink, open.text(scratch));
            sink.putByte(':');
            value(sink, open, depth);
        }
    }

    private void value(ByteSink sink, OpenReader open, int depth) {
        int tag = open.tag();
        switch (tag) {
            case RecordFormat.TAG_NULL -> sink.putBytes(NULL);
            case RecordFormat.TAG_FALSE -> sink.putBytes(FALSE);
            case RecordFormat.TAG_TRUE -> sink.putBytes(TRUE);
            case RecordFormat.TAG_INTEGER -> IsoText.appendNumber(sink, open.integer());
            case RecordFormat.TAG_FLOAT -> real(sink, Float.toString(open.float32()));
            case RecordFormat.TAG_DOUBLE -> real(sink, Double.toString(open.real()));
            case RecordFormat.TAG_DECIMAL -> object(sink, open.decimal());
            case RecordFormat.TAG_STRING -> string(sink, open.text(scratch));
            case RecordFormat.TAG_BINARY -> base64(sink, open.counted(scratch));
            case RecordFormat.TAG_UUID -> object(sink, open.uuid());
            case RecordFormat.TAG_DATE -> iso(sink, TypeKind.DATE, open.int32());
            case RecordFormat.TAG_TIME -> iso(sink, TypeKind.TIME, open.timeMicros());
            case RecordFormat.TAG_DATETIME -> iso(sink, TypeKind.DATETIME, open.int64());
            case RecordFormat.TAG_DURATION -> iso(sink, TypeKind.DURATION, open.int64());
            case RecordFormat.TAG_POINT -> coordinates(sink, open, 2);
            case RecordFormat.TAG_RECTANGLE -> coordinates(sink, open, 4);
            case RecordFormat.TAG_ARRAY -> {
                int outerEnd = open.enter(depth + 1);
                sink.putByte('[');
                int start = sink.length();
                while (open.hasNext()) {
                    separate(sink, start);
                    value(sink, open, depth + 1);
                }
                sink.putByte(']');
                open.leave(outerEnd);
            }
            case RecordFormat.TAG_OBJECT -> {
                int outerEnd = open.enter(depth + 1);
                sink.putByte('{');
                members(sink, open, sink.length(), depth + 1);
                sink.putByte('}');
                open.leave(outerEnd);
            }
            default -> throw open.unknownTag(tag);
        }
    }

    private static void coordinates(ByteSink sink, OpenReader open, int count) {
        sink.putByte('[');
        for (int i = 0; i < count; i++) {
            if (i > 0) {
                sink.putByte(',');
            }
            real(sink, Double.toString(open.real()));
        }
        sink.putByte(']');
    }

    /** A comma, unless nothing was put since {@code start}. */
    private static void separate(ByteSink sink, int start) {
        if (sink.length() > start) {
            sink.putByte(',');
        }
    }

    /**
     * NaN and infinities, which no JSON number can be, go in quotes; -0.0 is printed as what it
     * equals.
     */
    private static void real(ByteSink sink, String number) {
        String text = number.equals("-0.0") ? "0.0" : number;
        char last = text.charAt(text.length() - 1);
        boolean isNumber = last >= '0' && last <= '9';
        if (!isNumber) {
            sink.putByte('"');
        }
        sink.putUtf8(text);
        if (!isNumber) {
            sink.putByte('"');
        }
    }

    private static void object(ByteSink sink, @org.jspecify.annotations.Nullable Object value) {
        switch (value) {
            case BigDecimal d -> sink.putUtf8(d.toString());
            case UUID u -> {
                sink.putByte('"');
                sink.putUtf8(u.toString());
                sink.putByte('"');
            }
            case null, default -> throw new IllegalArgumentException("no JSON for " + value);
        }
    }

    private static void iso(ByteSink sink, TypeKind kind, long number) {
        sink.putByte('"');
        IsoText.append(sink, kind, number);
        sink.putByte('"');
    }

    private static void base64(ByteSink sink, Slice bytes) {
        sink.putByte('"');
        sink.putBytes(Base64.getEncoder().encode(bytes.toByteArray()));
        sink.putByte('"');
    }

    /** Well-formed UTF-8 in quotes; copies runs between what must be escaped. */
    static void string(ByteSink sink, Slice utf8) {
        MemorySegment source = utf8.segment();
        long from = utf8.offset();
        int run = 0;
        sink.putByte('"');
        for (int i = 0; i < utf8.length(); i++) {
            byte b = source.get(Bytes.U8, from + i);
            if ((b >= 0 && b < ' ') || b == '"' || b == '\\') {
                sink.putBytes(source, from + run, i - run);
                escape(sink, b);
                run = i + 1;
            }
        }
        sink.putBytes(source, from + run, utf8.length() - run);
        sink.putByte('"');
    }

    private static void escape(ByteSink sink, byte b) {
        sink.putByte('\\');
        switch (b) {
            case '"', '\\' -> sink.putByte(b);
            case '\n' -> sink.putByte('n');
            case '\r' -> sink.putByte('r');
            case '\t' -> sink.putByte('t');
            default -> {
                sink.putByte('u').putByte('0').putByte('0');
                sink.putByte(HEX[b >> 4]).putByte(HEX[b & 0xF]);
            }
        }
    }
}
