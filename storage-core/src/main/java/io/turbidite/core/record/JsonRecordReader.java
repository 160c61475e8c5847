package io.turbidite.core.record;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.async.ByteArrayFeeder;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.Utf8;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;

/**
 * Feeds a record written as one JSON object to a {@link RecordWriter}, token by token. <em>Confined
 * to one thread</em>; belongs to its writer.
 *
 * <p>The parser takes more than JSON allows in UTF-8 (overlong forms, other charsets), so the bytes
 * are checked first. Names that are there twice are refused at every level. All bounds are ours and
 * smaller than what they cost: input bytes, digits of a number, nesting.
 */
final class JsonRecordReader {
    /**
     * A JSON text is at most this much longer than its record: six bytes for a control character.
     */
    private static final int JSON_BYTES_MAX = 6 * Limits.RECORD_BYTES_MAX;

    /** A parser that is kept remembers all names that it met: it is replaced behind so much. */
    private static final int FED_BYTES_MAX = 1 << 20;

    private static final byte BOM_FIRST = (byte) 0xEF;

    private static final JsonFactory FACTORY = factory(true);

    /** Names that are there twice are found here: the library makes a set for each object. */
    private static final JsonFactory FED = factory(false);

    private final RecordWriter writer;
    private final OpenWriter open;
    private final RecordType type;
    private final PlainJsonReader plain;
    private final NamesSeen seen = new NamesSeen();
    private final IsoReader iso = new IsoReader();
    private final Characters characters = new Characters();
    private final double[] coordinates = new double[4];
    private byte[] bytes = new byte[1024];
    private MemorySegment segment = MemorySegment.ofArray(bytes);

    /** Stands between two records. */
    private @Nullable JsonParser fed;

    private long fedBytes;

    /** Whether it is the fed parser that reads. */
    private boolean isFed;

    private static JsonFactory factory(boolean findsNamesTwice) {
        return JsonFactory.builder()
                .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                .disable(JsonFactory.Feature.CHARSET_DETECTION)
                .configure(StreamReadFeature.STRICT_DUPLICATE_DETECTION, findsNamesTwice)
                .streamReadConstraints(StreamReadConstraints.builder()
                        // one more than ours, so that ours speaks first
                        .maxNestingDepth(Limits.NESTING_DEPTH_MAX + 1)
                        .maxNumberLength(DecimalBytes.DIGIT_COUNT_MAX + 100)
                        .maxNameLength(6 * RecordFormat.OPEN_NAME_BYTES_MAX)
                        .maxStringLength(JSON_BYTES_MAX)
                        .build())
                .build();
    }

    JsonRecordReader(RecordWriter writer, RecordType type) {
        this.writer = writer;
        this.open = writer.open();
        this.type = type;
        this.plain = new PlainJsonReader(writer, type);
    }

    /** White space between tokens. */
    static boolean isSpace(byte b) {
        return b == ' ' || b == '\n' || b == '\r' || b == '\t';
    }

    void read(Slice utf8) {
        int length = take(utf8);
        int end = length;
        while (end > 0 && isSpace(bytes[end - 1])) {
            end--;
        }
        if (plain.read(bytes, segment, end)) {
            return;
        }
        var _ = writer.begin();
        if (!readFed(end)) {
            var _ = writer.begin();
            readAlone(length);
        }
    }

    /** As {@link #read}, by a parser of its own. */
    void readAlone(Slice utf8) {
        readAlone(take(utf8));
    }

    /** Copies the text, checked as far as no parser does it, and returns its length. */
    private int take(Slice utf8) {
        int length = utf8.length();
        if (length > JSON_BYTES_MAX) {
            throw new InvalidRequestException("%d bytes of JSON are more than the limit of %d"
                    .formatted(length, JSON_BYTES_MAX));
        }
        int invalidAt = Utf8.firstInvalid(utf8.segment(), utf8.offset(), length);
        if (invalidAt >= 0) {
            throw new InvalidRequestException("the text is not UTF-8 at byte " + invalidAt);
        }
        if (bytes.length < length) {
            bytes = new byte[Math.max(length, Math.min(2 * bytes.length, JSON_BYTES_MAX))];
            segment = MemorySegment.ofArray(bytes);
        }
        MemorySegment.copy(utf8.segment(), Bytes.U8, utf8.offset(), bytes, 0, length);
        return length;
    }

    private void readAlone(int length) {
        try (JsonParser parser = FACTORY.createParser(bytes, 0, length)) {
            record(parser);
        } catch (JsonProcessingException e) {
            throw malformed(e, "a JSON object");
        } catch (IOException e) {
            throw new InvalidRequestException("the text is not JSON: " + e.getMessage(), e);
        }
    }

    /**
     * Reads by a parser that is fed, and kept from record to record: a new one for each makes most
     * of the garbage of a record.
     *
     * @param end of the text without the white space behind it
     * @return false if it is no record; what is wrong with it is told by a parser of its own
     */
    private boolean readFed(int end) {
        if (end == 0 || bytes[0] == BOM_FIRST) {
            return false; // a fed parser would pass over the mark at its beginning
        }
        try {
            isFed = true;
            JsonParser parser = takeFed(end);
            ByteArrayFeeder feeder = (ByteArrayFeeder) parser.getNonBlockingInputFeeder();
            feeder.feedInput(bytes, 0, end);
            object(parser);
            if (!feeder.needMoreInput()) {
                return false; // there is text behind the object
            }
            fed = parser; // one that did not come so far stands in the midst of something
            return true;
        } catch (InvalidRequestException | IOException wrong) {
            return false;
        } finally {
            isFed = false;
        }
    }

    private JsonParser takeFed(int length) throws IOException {
        JsonParser parser = fed;
        fed = null;
        if (parser == null || fedBytes > FED_BYTES_MAX) {
            if (parser != null) {
                parser.close();
            }
            parser = FED.createNonBlockingByteArrayParser();
            fedBytes = 0;
        }
        fedBytes += length;
        return parser;
    }

    private static InvalidRequestException malformed(JsonProcessingException e, String what) {
        return new InvalidRequestException(JsonMessages.told(e, what), e);
    }

    private void record(JsonParser parser) throws IOException {
        object(parser);
        if (parser.nextToken() != null) {
            throw new InvalidRequestException("there is text behind the JSON object at byte "
                    + parser.currentTokenLocation().getByteOffset());
        }
    }

    private void object(JsonParser parser) throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw new InvalidRequestException("a record must be a JSON object");
        }
        seen.begin();
        long object = seen.object();
        String name = parser.nextFieldName();
        while (name != null) {
            note(object, name);
            int field = type.memberOf(RecordType.TOP, name);
            if (field >= 0) {
                declared(parser, field, 1);
            } else {
                undeclared(parser, name);
            }
            name = parser.nextFieldName();
        }
        if (!parser.getParsingContext().inRoot()) { // the token is the last one still
            throw new InvalidRequestException("the JSON object has no end");
        }
    }

    private void note(long object, String name) {
        if (isFed && !seen.add(object, name)) {
            throw new InvalidRequestException(
                    "the name %s may be there twice".formatted(Text.quoted(name)));
        }
    }

    private void declared(JsonParser parser, int field, int depth) throws IOException {
        JsonToken token = parser.nextToken();
        if (token == JsonToken.VALUE_NULL) {
            writer.setNull(field);
            return;
        }
        try {
            value(parser, token, field, type.field(field).kind(), depth);
        } catch (FieldException e) {
            throw e;
        } catch (InvalidRequestException e) {
            throw writer.invalid(field, e);
        }
    }

    /**
     * @param depth records around it
     */
    private void value(JsonParser parser, JsonToken token, int field, TypeKind kind, int depth)
            throws IOException {
        switch (kind) {
            case BOOL -> {
                if (token != JsonToken.VALUE_TRUE && token != JsonToken.VALUE_FALSE) {
                    throw wrongType(parser, kind);
                }
                writer.setLong(field, token == JsonToken.VALUE_TRUE ? 1 : 0);
            }
            case INT8, INT16, INT32, INT64 -> writer.setLong(field, integer(parser, token, kind));
            case FLOAT, DOUBLE -> writer.setDouble(field, real(parser, token, kind));
            case DECIMAL -> {
                if (!token.isNumeric()) {
                    throw wrongType(parser, kind);
                }
                writer.setObject(field, decimal(parser));
            }
            case STRING -> writer.setString(field, characters(parser, token, kind));
            case DATE, TIME, DATETIME, DURATION ->
                writer.setLong(field, iso.read(kind, characters(parser, token, kind)));
            case BINARY, UUID ->
                writer.setObject(field, ValueParser.parse(kind, text(parser, token, kind)));
            case POINT, LONLAT -> {
                coordinates(parser, token, kind, 2);
                writer.setPoint(field, coordinates[0], coordinates[1]);
            }
            case RECTANGLE -> {
                coordinates(parser, token, kind, 4);
                writer.setObject(
                        field,
                        new Rectangle(
                                coordinates[0], coordinates[1], coordinates[2], coordinates[3]));
            }
            case ARRAY -> array(parser, token, field);
            case RECORD -> nested(parser, token, field, depth);
        }
    }

    /** The parser throws an exception of its own kind only where it is no number at all. */
    private static BigDecimal decimal(JsonParser parser) throws IOException {
        try {
            return parser.getDecimalValue();
        } catch (NumberFormatException e) {
            throw new InvalidRequestException(
                    "no decimal has the exponent of %s".formatted(Text.quoted(parser.getText())),
                    e);
        }
    }

    private void array(JsonParser parser, JsonToken token, int field) throws IOException {
        if (token != JsonToken.START_ARRAY) {
            throw wrongType(parser, TypeKind.ARRAY);
        }
        int each = type.eachOf(field);
        TypeKind kind = type.field(each).kind();
        writer.beginArray(field);
        for (JsonToken next = parser.nextToken();
                next != JsonToken.END_ARRAY;
                next = parser.nextToken()) {
            if (next == JsonToken.VALUE_NULL) {
                writer.setNull(each);
            }
            try {
                value(parser, next, each, kind, 0);
            } catch (FieldException e) {
                throw e;
            } catch (InvalidRequestException e) {
                throw writer.invalid(each, e);
            }
        }
        writer.endArray(field);
    }

    private void nested(JsonParser parser, JsonToken token, int field, int depth)
            throws IOException {
        if (token != JsonToken.START_OBJECT) {
            throw wrongType(parser, TypeKind.RECORD);
        }
        writer.setNested(field);
        long object = seen.object();
        for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
            note(object, name);
            int member = type.memberOf(field, name);
            if (member >= 0) {
                declared(parser, member, depth + 1);
                continue;
            }
            try {
                OpenWriter others = writer.openWithin(field);
                others.name(name);
                openValue(others, parser, parser.nextToken(), depth + 1);
            } catch (InvalidRequestException e) {
                throw new FieldException(type.field(field).name() + '.' + name, e);
            }
        }
    }

    /** Sets an array, or a nested record, from its text. */
    void readField(int field, CharSequence text) {
        try (JsonParser parser = FACTORY.createParser(text.toString())) {
            JsonToken token = parser.nextToken();
            if (token == null) {
                throw new InvalidRequestException("there is no JSON");
            }
            value(parser, token, field, type.field(field).kind(), 1);
            if (parser.nextToken() != null) {
                throw new InvalidRequestException("there is text behind the JSON at character "
                        + parser.currentTokenLocation().getCharOffset());
            }
        } catch (JsonProcessingException e) {
            throw malformed(e, "JSON");
        } catch (IOException e) {
            throw new InvalidRequestException("the text is not JSON: " + e.getMessage(), e);
        }
    }

    private static long integer(JsonParser parser, JsonToken token, TypeKind kind)
            throws IOException {
        if (token != JsonToken.VALUE_NUMBER_INT) {
            throw wrongType(parser, kind);
        }
        return parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                ? ValueParser.integer(kind, parser.getText())
                : KindValues.checkRange(kind, parser.getLongValue());
    }

    private static double real(JsonParser parser, JsonToken token, TypeKind kind)
            throws IOException {
        if (token.isNumeric()) {
            double number =
                    kind == TypeKind.FLOAT ? parser.getFloatValue() : parser.getDoubleValue();
            return checkFinite(parser, kind, number);
        }
        if (token == JsonToken.VALUE_STRING) {
            switch (parser.getText()) {
                case "NaN" -> {
                    return Double.NaN;
                }
                case "Infinity" -> {
                    return Double.POSITIVE_INFINITY;
                }
                case "-Infinity" -> {
                    return Double.NEGATIVE_INFINITY;
                }
                default -> {}
            }
        }
        throw wrongType(parser, kind);
    }

    private static double checkFinite(JsonParser parser, TypeKind kind, double number)
            throws IOException {
        if (Double.isInfinite(number)) {
            throw ValueParser.outOfRange(kind, parser.getText());
        }
        return number;
    }

    private static String text(JsonParser parser, JsonToken token, TypeKind kind)
            throws IOException {
        if (token != JsonToken.VALUE_STRING) {
            throw wrongType(parser, kind);
        }
        return parser.getText();
    }

    /** As {@link #text}, without an object; valid until the parser moves on. */
    private CharSequence characters(JsonParser parser, JsonToken token, TypeKind kind)
            throws IOException {
        if (token != JsonToken.VALUE_STRING) {
            throw wrongType(parser, kind);
        }
        return characters.set(parser);
    }

    private void coordinates(JsonParser parser, JsonToken token, TypeKind kind, int count)
            throws IOException {
        if (token != JsonToken.START_ARRAY) {
            throw wrongType(parser, kind);
        }
        for (int i = 0; i < count; i++) {
            if (!parser.nextToken().isNumeric()) {
                throw wrongType(parser, kind);
            }
            coordinates[i] = checkFinite(parser, kind, parser.getDoubleValue());
        }
        if (parser.nextToken() != JsonToken.END_ARRAY) {
            throw wrongType(parser, kind);
        }
    }

    private static InvalidRequestException wrongType(JsonParser parser, TypeKind kind)
            throws IOException {
        JsonToken token = parser.currentToken();
        String found = token.isScalarValue() ? Text.quoted(parser.getText()) : token.asString();
        String article = switch (token) {
            case VALUE_STRING -> "the string ";
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "the number ";
            default -> "";
        };
        return new InvalidRequestException("type %s is written as %s, not as %s%s"
                .formatted(kind.label(), shape(kind), article, found));
    }

    private static String shape(TypeKind kind) {
        return switch (kind) {
            case BOOL -> "true or false";
            case INT8, INT16, INT32, INT64 -> "an integer";
            case FLOAT, DOUBLE, DECIMAL -> "a number";
            case POINT, LONLAT -> "[x,y]";
            case RECTANGLE -> "[minX,minY,maxX,maxY]";
            case ARRAY -> "[…]";
            case RECORD -> "{…}";
            case STRING, BINARY, UUID, DATE, TIME, DATETIME, DURATION -> "a string";
        };
    }

    private void undeclared(JsonParser parser, String name) throws IOException {
        writer.openName(name);
        try {
            openValue(open, parser, parser.nextToken(), 1);
        } catch (InvalidRequestException e) {
            throw new FieldException(name, e);
        }
        writer.endOpen();
    }

    private void openValue(OpenWriter to, JsonParser parser, JsonToken token, int depth)
            throws IOException {
        switch (token) {
            case VALUE_NULL -> to.nil();
            case VALUE_TRUE -> to.bool(true);
            case VALUE_FALSE -> to.bool(false);
            case VALUE_STRING -> to.string(characters.set(parser));
            case VALUE_NUMBER_INT -> {
                if (parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
                    to.decimal(new BigDecimal(parser.getBigIntegerValue()));
                } else {
                    to.integer(parser.getLongValue());
                }
            }
            case VALUE_NUMBER_FLOAT ->
                to.real(checkFinite(parser, TypeKind.DOUBLE, parser.getDoubleValue()));
            case START_ARRAY -> {
                OpenWriter.checkDepth(depth + 1);
                int begun = to.begin(RecordFormat.TAG_ARRAY);
                for (JsonToken next = parser.nextToken();
                        next != JsonToken.END_ARRAY;
                        next = parser.nextToken()) {
                    openValue(to, parser, next, depth + 1);
                }
                to.end(begun);
            }
            case START_OBJECT -> {
                OpenWriter.checkDepth(depth + 1);
                int begun = to.begin(RecordFormat.TAG_OBJECT);
                long object = seen.object();
                for (String name = parser.nextFieldName();
                        name != null;
                        name = parser.nextFieldName()) {
                    note(object, name);
                    to.name(name);
                    openValue(to, parser, parser.nextToken(), depth + 1);
                }
                to.end(begun);
            }
            default -> throw new InvalidRequestException("unexpected " + token.asString());
        }
    }

    /** The text of a token where the parser has it. */
    private static final class Characters implements CharSequence {
        private char[] source = {};
        private int start;
        private int length;

        Characters set(JsonParser parser) throws IOException {
            source = parser.getTextCharacters();
            start = parser.getTextOffset();
            length = parser.getTextLength();
            return this;
        }

        @Override
        public int length() {
            return length;
        }

        @Override
        public char charAt(int index) {
            return source[start + index];
        }

        @Override
        public CharSequence subSequence(int from, int to) {
            return toString().substring(from, to);
        }

        @Override
        public String toString() {
            return new String(source, start, length);
        }
    }
}
