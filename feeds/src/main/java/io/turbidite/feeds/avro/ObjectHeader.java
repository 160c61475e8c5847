package io.turbidite.feeds.avro;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What an object file begins with:
 *
 * <pre>
 * 4 bytes  "Obj", 1
 * a map of texts to bytes: avro.schema, avro.codec and others
 * 16 bytes the sync marker, which stands behind each block
 * </pre>
 *
 * <em>Immutable.</em>
 */
final class ObjectHeader {
    static final int SYNC_BYTES = 16;

    /** A schema of the longest, and as much beside. */
    static final int BYTES_MAX = 2 * SchemaReader.TEXT_BYTES_MAX;

    private static final byte[] MAGIC = {'O', 'b', 'j', 1};

    final Shape shape;
    final BlockCodec codec;
    final byte[] sync;
    final int byteCount;

    private ObjectHeader(Shape shape, BlockCodec codec, byte[] sync, int byteCount) {
        this.shape = shape;
        this.codec = codec;
        this.sync = sync;
        this.byteCount = byteCount;
    }

    /**
     * Reads the header from the first bytes of a file.
     *
     * @return null if more of them are needed
     * @throws InvalidRequestException saying what is wrong
     */
    static @Nullable ObjectHeader of(byte[] bytes, int from, int to) {
        int magicCount = Math.min(MAGIC.length, to - from);
        if (!Arrays.equals(bytes, from, from + magicCount, MAGIC, 0, magicCount)) {
            throw new InvalidRequestException(
                    "it is no object file of Avro, which begins with Obj and a byte 1");
        }
        Fields fields = new Fields(bytes, from + MAGIC.length, to);
        byte @Nullable [] schema = null;
        String codec = "null";
        for (long count = fields.blockCount(); count != 0; count = fields.blockCount()) {
            for (long i = 0; i < count; i++) {
                String key = fields.text();
                byte[] value = fields.bytes();
                switch (key) {
                    case "avro.schema" -> schema = value;
                    case "avro.codec" -> codec = new String(value, StandardCharsets.UTF_8);
                    default -> {}
                }
                if (fields.isShort) {
                    return null;
                }
            }
        }
        int end = fields.at + SYNC_BYTES;
        if (fields.isShort || end > to) {
            return null;
        }
        if (schema == null) {
            throw new InvalidRequestException("its header has no schema");
        }
        return new ObjectHeader(
                SchemaReader.read(schema),
                BlockCodec.of(codec),
                Arrays.copyOfRange(bytes, fields.at, end),
                end - from);
    }

    /** Reads fields; behind the end all is empty. */
    private static final class Fields {
        private final byte[] bytes;
        private final int to;
        private int at;
        private boolean isShort;

        Fields(byte[] bytes, int at, int to) {
            this.bytes = bytes;
            this.at = at;
            this.to = to;
            this.isShort = at > to;
        }

        long blockCount() {
            long count = number();
            if (count < 0 && !isShort) {
                var _ = number(); // of bytes
                count = -count;
            }
            if (count < 0 || count > BYTES_MAX) {
                throw damaged();
            }
            return count;
        }

        String text() {
            return new String(bytes(), StandardCharsets.UTF_8);
        }

        byte[] bytes() {
            long byteCount = number();
            if (byteCount < 0 || byteCount > BYTES_MAX) {
                throw damaged();
            }
            isShort |= byteCount > to - at;
            if (isShort) {
                return new byte[0];
            }
            at += (int) byteCount;
            return Arrays.copyOfRange(bytes, at - (int) byteCount, at);
        }

        private long number() {
            long value = 0;
            for (int shift = 0; shift < Long.SIZE; shift += 7) {
                if (isShort || at >= to) {
                    isShort = true;
                    return 0;
                }
                byte b = bytes[at++];
                value |= (long) (b & 0x7F) << shift;
                if (b >= 0) {
                    return value >>> 1 ^ -(value & 1);
                }
            }
            throw damaged();
        }

        private static InvalidRequestException damaged() {
            return new InvalidRequestException("its header is damaged");
        }
    }
}
