package io.turbidite.feeds.avro;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.avro.Shape.Kind;
import io.turbidite.feeds.parse.JsonText;

import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Makes shapes of schemas. Avro's own parser reads the text, whose length and depth are looked at
 * before; of what it gives only names, kinds and logical types are used. Properties such as {@code
 * java-class} mean nothing. <em>Confined to one thread, used once.</em>
 */
final class SchemaReader {
    /** Schemas that people write have some kB. */
    static final int TEXT_BYTES_MAX = 1 << 20;

    /** A level of a record takes four: fields, field, type, record. */
    private static final int TEXT_DEPTH_MAX = 4 * 64;

    private static final int SHAPE_COUNT_MAX = 10_000;

    private static final JsonFactory TEXTS = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(TEXT_DEPTH_MAX)
                    .build())
            .build();

    private final IdentityHashMap<Schema, Shape> shapes = new IdentityHashMap<>();
    private final Map<Kind, Shape> scalars = new EnumMap<>(Kind.class);
    private final List<Shape> all = new ArrayList<>();

    /** Those whose parts are to be found yet. */
    private final Deque<Schema> open = new ArrayDeque<>();

    private SchemaReader() {}

    /**
     * The shape of what a schema describes.
     *
     * @throws InvalidRequestException if it is no schema, or not one of records
     */
    static Shape read(byte[] json) {
        try {
            return new SchemaReader().shapeOf(schema(text(json)));
        } catch (NoClassDefFoundError e) {
            throw AvroLibrary.missing(e);
        }
    }

    private static String text(byte[] json) {
        if (json.length > TEXT_BYTES_MAX) {
            throw new InvalidRequestException("a schema of %d bytes is longer than the limit of %d"
                    .formatted(json.length, TEXT_BYTES_MAX));
        }
        try (JsonParser tokens = TEXTS.createParser(json)) {
            while (tokens.nextToken() != null) {
                // its depth is looked at
            }
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(json))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new InvalidRequestException("the schema is not UTF-8 text", e);
        } catch (IOException e) {
            throw notSchema(e);
        }
    }

    /** What the library throws of a text that is none is not only its own exceptions. */
    private static Schema schema(String text) {
        try {
            return new Schema.Parser().setValidateDefaults(false).parse(text);
        } catch (RuntimeException | StackOverflowError e) {
            throw notSchema(e);
        }
    }

    private static InvalidRequestException notSchema(Throwable e) {
        String message = String.valueOf(e.getMessage());
        int end = message.indexOf('\n');
        return new InvalidRequestException(
                "the schema is none of Avro: " + (end < 0 ? message : message.substring(0, end)),
                e);
    }

    private Shape shapeOf(Schema root) {
        switch (root.getType()) {
            case RECORD, MAP, UNION -> {}
            default ->
                throw new InvalidRequestException(
                        "the schema is of %s, but a record of a dataset has fields"
                                .formatted(root.getType().getName()));
        }
        Shape shape = shape(root);
        for (Schema next = open.poll(); next != null; next = open.poll()) {
            fill(next);
        }
        findEmpty();
        return shape;
    }

    private void fill(Schema schema) {
        List<Schema> parts = switch (schema.getType()) {
            case RECORD -> schema.getFields().stream().map(Schema.Field::schema).toList();
            case UNION -> schema.getTypes();
            case ARRAY -> List.of(schema.getElementType());
            default -> List.of(schema.getValueType());
        };
        Shape[] shapesOfParts = new Shape[parts.size()];
        Arrays.setAll(shapesOfParts, i -> shape(parts.get(i)));
        Objects.requireNonNull(shapes.get(schema)).setParts(shapesOfParts);
    }

    /** From what is empty to what it is part of: each part is looked at once. */
    private void findEmpty() {
        IdentityHashMap<Shape, List<Shape>> wholes = new IdentityHashMap<>();
        Deque<Shape> empty = new ArrayDeque<>();
        for (Shape shape : all) {
            for (int i = 0; i < shape.partCount(); i++) {
                wholes.computeIfAbsent(shape.part(i), _ -> new ArrayList<>()).add(shape);
            }
            if (shape.isEmpty()) {
                empty.add(shape);
            }
        }
        for (Shape next = empty.poll(); next != null; next = empty.poll()) {
            for (Shape whole : wholes.getOrDefault(next, List.of())) {
                if (whole.hasEmptyPart()) {
                    empty.add(whole);
                }
            }
        }
    }

    private Shape shape(Schema schema) {
        Shape known = shapes.get(schema);
        if (known != null) {
            return known;
        }
        Kind kind = kind(schema);
        Shape shape = switch (kind) {
            case FIXED, UUID_FIXED -> newShape(kind, schema.getFixedSize(), 0);
            case DECIMAL -> newShape(kind, 0, scale(schema));
            case DECIMAL_FIXED -> newShape(kind, schema.getFixedSize(), scale(schema));
            case ENUM -> newShape(kind, symbols(schema));
            case RECORD -> newShape(kind, names(schema));
            case ARRAY, MAP, UNION -> newShape(kind, 0, 0);
            default -> {
                Shape scalar = scalars.get(kind);
                yield scalar == null ? newShape(kind, 0, 0) : scalar;
            }
        };
        switch (kind) {
            case RECORD, ARRAY, MAP, UNION -> open.add(schema);
            case FIXED, UUID_FIXED, DECIMAL, DECIMAL_FIXED, ENUM -> {}
            default -> scalars.put(kind, shape);
        }
        shapes.put(schema, shape);
        return shape;
    }

    private Shape newShape(Kind kind, int byteCount, int scale) {
        return added(new Shape(kind, byteCount, scale, new byte[0][]));
    }

    private Shape newShape(Kind kind, byte[][] texts) {
        return added(new Shape(kind, 0, 0, texts));
    }

    private Shape added(Shape shape) {
        all.add(shape);
        if (all.size() > SHAPE_COUNT_MAX) {
            throw new InvalidRequestException(
                    "the schema has more than %d types".formatted(SHAPE_COUNT_MAX));
        }
        return shape;
    }

    private static int scale(Schema schema) {
        return ((LogicalTypes.Decimal) schema.getLogicalType()).getScale();
    }

    private static byte[][] names(Schema schema) {
        return schema.getFields().stream()
                .map(field -> json(field.name(), ":"))
                .toArray(byte[][]::new);
    }

    private static byte[][] symbols(Schema schema) {
        return schema.getEnumSymbols().stream()
                .map(symbol -> json(symbol, ""))
                .toArray(byte[][]::new);
    }

    private static byte[] json(String text, String behind) {
        JsonText json = new JsonText();
        json.string(text);
        json.ascii(behind);
        return Arrays.copyOf(json.bytes(), json.length());
    }

    /** A logical type that does not fit its schema is left out, as Avro says. */
    private static Kind kind(Schema schema) {
        LogicalType logical = schema.getLogicalType();
        String name = logical == null ? "" : logical.getName();
        return switch (schema.getType()) {
            case NULL -> Kind.NULL;
            case BOOLEAN -> Kind.BOOLEAN;
            case INT ->
                switch (name) {
                    case "date" -> Kind.DATE;
                    case "time-millis" -> Kind.TIME_MILLIS;
                    default -> Kind.INT;
                };
            case LONG ->
                switch (name) {
                    case "time-micros" -> Kind.TIME_MICROS;
                    case "timestamp-millis" -> Kind.TIMESTAMP_MILLIS;
                    case "timestamp-micros" -> Kind.TIMESTAMP_MICROS;
                    case "timestamp-nanos" -> Kind.TIMESTAMP_NANOS;
                    case "local-timestamp-millis" -> Kind.LOCAL_MILLIS;
                    case "local-timestamp-micros" -> Kind.LOCAL_MICROS;
                    case "local-timestamp-nanos" -> Kind.LOCAL_NANOS;
                    default -> Kind.LONG;
                };
            case FLOAT -> Kind.FLOAT;
            case DOUBLE -> Kind.DOUBLE;
            case STRING -> Kind.STRING;
            case BYTES -> logical instanceof LogicalTypes.Decimal ? Kind.DECIMAL : Kind.BYTES;
            case FIXED ->
                logical instanceof LogicalTypes.Decimal
                        ? Kind.DECIMAL_FIXED
                        : name.equals("uuid") && schema.getFixedSize() == 2 * Long.BYTES
                                ? Kind.UUID_FIXED
                                : Kind.FIXED;
            case ENUM -> Kind.ENUM;
            case ARRAY -> Kind.ARRAY;
            case MAP -> Kind.MAP;
            case RECORD -> Kind.RECORD;
            case UNION -> Kind.UNION;
        };
    }
}
