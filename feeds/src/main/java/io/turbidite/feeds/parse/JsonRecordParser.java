package io.turbidite.feeds.parse;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.JsonMessages;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * JSON records, one object a line. A record without transforms goes from its bytes to the encoded
 * form in one pass; with transforms it is made a tree first, their results put in, and written from
 * that.
 */
public final class JsonRecordParser implements RecordParser {
    private static final JsonMapper TREES = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(Limits.NESTING_DEPTH_MAX)
                            .maxStringLength(Limits.RECORD_BYTES_MAX)
                            .build())
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final RecordType type;
    private final boolean open;
    private final List<Transform> transforms;
    private final List<BoundTransform> bound = new ArrayList<>();
    private final List<String> names = new ArrayList<>();
    private final @Nullable String explode;
    private final RecordWriter writer;
    private final Slice bytes = new Slice();

    /**
     * A parser of objects of one type.
     *
     * @param open whether fields that {@code type} doesn't declare are kept
     * @param transforms in the order of their evaluation; their fields are declared
     */
    public JsonRecordParser(RecordType type, boolean open, List<Transform> transforms) {
        this(type, open, transforms, null, TransformAids.none());
    }

    /**
     * A parser of objects of which each becomes several.
     *
     * @param explode a member that is an array: a record is made for each of its elements, which
     *     stands in its place; null: an object is a record
     * @param aids what the transforms ask
     */
    public JsonRecordParser(
            RecordType type,
            boolean open,
            List<Transform> transforms,
            @Nullable String explode,
            TransformAids aids) {
        this.explode = explode;
        this.type = type;
        this.open = open;
        this.transforms = List.copyOf(transforms);
        this.writer = new RecordWriter(type);
        Map<String, Integer> indexByName = new HashMap<>();
        for (Transform transform : transforms) {
            bound.add(transform.bind(
                    type,
                    name -> indexByName.computeIfAbsent(name, n -> {
                        names.add(n);
                        return names.size() - 1;
                    }),
                    aids));
        }
    }

    @Override
    public RecordFramer.Quotes quotes() {
        return RecordFramer.Quotes.NONE;
    }

    @Override
    public boolean wantsHeader() {
        return false;
    }

    @Override
    public boolean takesElements() {
        return true;
    }

    @Override
    public boolean isWhole(RecordFrame frame) {
        return JsonEnd.isWhole(frame.bytes(), frame.start(), frame.length());
    }

    @Override
    public boolean makesMore() {
        return explode != null || !transforms.isEmpty();
    }

    @Override
    public void header(RecordFrame frame) {
        throw new IllegalStateException("JSON has no header");
    }

    @Override
    public Slice parse(RecordFrame frame) {
        if (transforms.isEmpty() && open) {
            return writer.writeJson(bytes.set(frame.segment(), frame.start(), frame.length()));
        }
        return encoded(tree(frame));
    }

    @Override
    public int parseAll(RecordFrame frame, Consumer<Slice> taker) {
        if (explode == null) {
            taker.accept(parse(frame));
            return 0;
        }
        ObjectNode tree = tree(frame);
        JsonNode elements = tree.get(explode);
        if (elements == null || elements.isNull() || (elements.isArray() && elements.isEmpty())) {
            return 1;
        }
        if (!elements.isArray()) {
            throw new InvalidRequestException(
                    "explode: '%s' is no array, but %s".formatted(explode, elements.getNodeType()));
        }
        for (JsonNode element : elements) {
            ObjectNode one = TREES.createObjectNode();
            one.setAll(tree);
            one.set(explode, element);
            taker.accept(encoded(one));
        }
        return 0;
    }

    private Slice encoded(ObjectNode tree) {
        for (int i = 0; i < transforms.size(); i++) {
            transform(tree, transforms.get(i), bound.get(i));
        }
        if (!open) {
            tree.retain(type.declared().stream().map(Field::name).toList());
        }
        try {
            byte[] changed = TREES.writeValueAsBytes(tree);
            return writer.writeJson(bytes.set(MemorySegment.ofArray(changed), 0, changed.length));
        } catch (JacksonException e) {
            throw new InvalidRequestException(JsonMessages.told(e.getOriginalMessage()), e);
        }
    }

    private static ObjectNode tree(RecordFrame frame) {
        try {
            JsonNode node = TREES.readTree(frame.bytes(), frame.start(), frame.length());
            if (node instanceof ObjectNode object) {
                return object;
            }
            throw new MalformedFrameException("it is not a JSON object");
        } catch (JacksonException e) {
            JsonLocation at = e.getLocation();
            throw new MalformedFrameException(JsonMessages.told(
                    e.getOriginalMessage(), at == null ? -1 : at.getByteOffset(), "a JSON object"));
        } catch (NumberFormatException e) {
            throw new MalformedFrameException("it has a number whose exponent is too large");
        } catch (IOException e) {
            // an array can't fail to be read, but its bytes may look like UTF-32 and be none
            throw new MalformedFrameException(String.valueOf(e.getMessage()));
        }
    }

    private void transform(ObjectNode tree, Transform transform, BoundTransform made) {
        Object result = made.evaluate(index -> value(node(tree, names.get(index))));
        put(tree, transform.field(), result);
    }

    /** What a name stands for: a member of the record, or what is declared in a nested one. */
    private @Nullable JsonNode node(ObjectNode tree, String name) {
        int field = type.indexOf(name);
        int parent = field < 0 ? RecordType.TOP : type.parent(field);
        if (parent == RecordType.TOP) {
            return tree.get(name);
        }
        return node(tree, type.field(parent).name()) instanceof ObjectNode nested
                ? nested.get(type.memberName(field))
                : null;
    }

    /** A JSON value as expressions see it. */
    private static @Nullable Object value(@Nullable JsonNode node) {
        if (node == null || node.isNull()) {
            return null;
        }
        if (node.isBoolean()) {
            return node.booleanValue();
        }
        if (node.isNumber()) {
            return node.numberValue();
        }
        return node.isTextual() ? node.textValue() : node.toString();
    }

    /** A result as the JSON that the record's type reads back. */
    private static void put(ObjectNode tree, String field, @Nullable Object result) {
        switch (result) {
            case null -> tree.putNull(field);
            case Point(double x, double y) -> tree.putArray(field).add(x).add(y);
            case Rectangle r ->
                tree.putArray(field).add(r.minX()).add(r.minY()).add(r.maxX()).add(r.maxY());
            case Boolean truth -> tree.put(field, truth);
            case Double number -> tree.put(field, number);
            case Float number -> tree.put(field, number);
            case BigDecimal number -> tree.put(field, number);
            case Number number -> tree.put(field, number.longValue());
            case byte[] binary -> tree.put(field, binary);
            default -> tree.put(field, result.toString());
        }
    }
}
