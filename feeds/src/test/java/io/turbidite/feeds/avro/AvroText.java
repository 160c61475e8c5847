package io.turbidite.feeds.avro;

import io.turbidite.feeds.parse.RecordFrame;

import org.apache.avro.Schema;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/** What Avro's own writers write, for tests of what reads it. */
public final class AvroText {
    /** Of records with a number and a name. */
    public static final String SCHEMA = """
            {"type":"record","name":"R","fields":[
              {"name":"id","type":"long"},{"name":"name","type":"string"}]}
            """;

    private AvroText() {}

    /** A schema of a text. */
    public static Schema schema(String text) {
        return new Schema.Parser().parse(text);
    }

    /** The record {@code {id, "n" + id}}. */
    public static GenericRecord record(long id) {
        GenericRecord record = new GenericData.Record(schema(SCHEMA));
        record.put("id", id);
        record.put("name", "n" + id);
        return record;
    }

    /** A file of records from 0, so many in each block. */
    public static byte[] file(CodecFactory codec, int count, int blockCount) {
        return file(schema(SCHEMA), codec, count, blockCount, i -> record(i));
    }

    /** A file with a sync marker that is always the same. */
    public static byte[] file(
            Schema schema,
            CodecFactory codec,
            int count,
            int blockCount,
            Function<Integer, Object> records) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataFileWriter<Object> writer =
                new DataFileWriter<>(new GenericDatumWriter<>(schema))) {
            writer.setCodec(codec);
            writer.create(schema, bytes, "0123456789abcdef".getBytes(StandardCharsets.US_ASCII));
            for (int i = 0; i < count; i++) {
                writer.append(records.apply(i));
                if (i % blockCount == blockCount - 1) {
                    var _ = writer.sync();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** A header of hand, and bytes behind it. */
    static byte[] handmade(String schema, byte[]... behind) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataFileWriter<Object> writer =
                new DataFileWriter<>(new GenericDatumWriter<>(schema(schema)))) {
            writer.create(
                    schema(schema), bytes, "0123456789abcdef".getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        for (byte[] part : behind) {
            bytes.writeBytes(part);
        }
        return bytes.toByteArray();
    }

    /** A block with the marker of {@link #handmade} behind it. */
    static byte[] block(long count, byte[] data) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(numbers(count, data.length));
        bytes.writeBytes(data);
        bytes.writeBytes("0123456789abcdef".getBytes(StandardCharsets.US_ASCII));
        return bytes.toByteArray();
    }

    /** Numbers as Avro writes them. */
    public static byte[] numbers(long... values) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
        try {
            for (long value : values) {
                encoder.writeLong(value);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** A datum alone. */
    public static byte[] datum(Schema schema, Object value) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
            new GenericDatumWriter<>(schema).write(value, encoder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** A datum as messages have it: 0, the ID, the datum. */
    public static byte[] message(int id, byte[] datum) {
        byte[] message = new byte[5 + datum.length];
        for (int i = 0; i < 4; i++) {
            message[1 + i] = (byte) (id >>> (24 - 8 * i));
        }
        System.arraycopy(datum, 0, message, 5, datum.length);
        return message;
    }

    /** What is read of some bytes, a few at a time. */
    static ObjectFileCutter cutter(byte[] file, int from) {
        int[] at = {from};
        return new ObjectFileCutter((target, offset, byteCount) -> {
            if (at[0] == file.length) {
                return -1;
            }
            int count = Math.min(Math.min(byteCount, 100), file.length - at[0]);
            System.arraycopy(file, at[0], target, offset, count);
            at[0] += count;
            return count;
        });
    }

    /** All frames of a file: their text, or {@code !} and what is wrong with them. */
    static List<String> frames(byte[] file) {
        ObjectFileCutter cutter = cutter(file, 0);
        if (!cutter.readHeader()) {
            return List.of("no header");
        }
        List<String> frames = new ArrayList<>();
        while (cutter.next()) {
            frames.add(shown(cutter.frame()));
        }
        if (cutter.isWithinBlock()) {
            frames.add("more");
        }
        return frames;
    }

    static String shown(RecordFrame frame) {
        return frame.problem() == null
                ? new String(frame.bytes(), frame.start(), frame.length(), StandardCharsets.UTF_8)
                : "!%d:%d %s".formatted(frame.offset(), frame.line(), frame.problem());
    }

    static byte[] without(byte[] bytes, int from, int to) {
        byte[] rest = Arrays.copyOf(bytes, bytes.length - (to - from));
        System.arraycopy(bytes, to, rest, from, bytes.length - to);
        return rest;
    }
}
