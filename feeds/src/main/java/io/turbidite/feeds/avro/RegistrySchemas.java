package io.turbidite.feeds.avro;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.parse.JsonText;
import io.turbidite.feeds.parse.MalformedFrameException;

import java.util.Map;
import java.util.TreeMap;

/**
 * The schemas by whose IDs messages say how they were written:
 *
 * <pre>
 * 1 byte   0
 * 4 bytes  the ID of the schema, big-endian
 *          one datum
 * </pre>
 *
 * <em>Immutable.</em>
 */
public final class RegistrySchemas {
    /** The longest schema. */
    public static final int TEXT_BYTES_MAX = SchemaReader.TEXT_BYTES_MAX;

    private static final int HEAD_BYTES = 1 + Integer.BYTES;

    private final Map<Integer, Shape> shapes;

    private RegistrySchemas(Map<Integer, Shape> shapes) {
        this.shapes = shapes;
    }

    /**
     * The schemas of these texts.
     *
     * @param texts by their IDs
     * @throws InvalidRequestException naming the ID, if one is no schema
     */
    public static RegistrySchemas of(Map<Integer, byte[]> texts) {
        Map<Integer, Shape> shapes = new TreeMap<>();
        texts.forEach((id, text) -> {
            try {
                shapes.put(id, SchemaReader.read(text));
            } catch (InvalidRequestException e) {
                throw new InvalidRequestException("of ID %d: %s".formatted(id, e.getMessage()), e);
            }
        });
        return new RegistrySchemas(shapes);
    }

    /** Writes the datum of a message, which must be all of it. */
    void write(byte[] message, int from, int to, DatumReader datums, JsonText text) {
        if (from == to) {
            throw new MalformedFrameException("the message is empty");
        }
        if (message[from] != 0) {
            throw new MalformedFrameException(
                    "the message begins with byte 0x%02x, but those of a registry's schemas with 0"
                            .formatted(message[from] & 0xFF));
        }
        if (to - from < HEAD_BYTES) {
            throw new MalformedFrameException("the message ends within the ID of its schema");
        }
        int id = 0;
        for (int i = 1; i < HEAD_BYTES; i++) {
            id = id << Byte.SIZE | (message[from + i] & 0xFF);
        }
        Shape shape = shapes.get(id);
        if (shape == null) {
            throw new InvalidRequestException(
                    "the schema ID %d of the message is none of parser.schemas: %s"
                            .formatted(id, shapes.keySet()));
        }
        datums.begin(message, from + HEAD_BYTES, to);
        datums.write(shape, text);
        if (datums.left() > 0) {
            throw new MalformedFrameException(
                    "%d bytes are left over behind the datum".formatted(datums.left()));
        }
    }
}
