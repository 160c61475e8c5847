package io.turbidite.it.fuzz;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.avro.AvroRecordParser;
import io.turbidite.feeds.avro.ObjectFileCutter;
import io.turbidite.feeds.avro.RegistrySchemas;
import io.turbidite.feeds.parse.ElementFramer;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.parse.PeekedInput;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.parse.RecordParser;

import org.apache.avro.Schema;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.jspecify.annotations.Nullable;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Decoders of what is cut by more than line ends: JSON arrays, object files of Avro, messages of a
 * registry's schemas. The same bytes that come in other pieces are the same records, and damage
 * takes no record before it.
 */
final class FeedFiles implements Decoder.Run {
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("name", "string?")
            .field("price", "decimal?")
            .field("at", "datetime?")
            .build();

    private static final String SCHEMA = """
            {"type":"record","name":"R","fields":[
              {"name":"id","type":"long"},
              {"name":"name","type":["null","string","R"]},
              {"name":"price","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},
              {"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},
              {"name":"more","type":{"type":"array","items":["null","double",
                 {"type":"map","values":{"type":"enum","name":"E","symbols":["x","y"]}}]}}]}
            """;

    private static final byte[] SYNC = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final int KEPT = 3;

    private final List<byte[]> seeds;
    private final Consumer<byte[]> decoder;

    private FeedFiles(List<byte[]> seeds, Consumer<byte[]> decoder) {
        this.seeds = seeds;
        this.decoder = decoder;
    }

    @Override
    public List<byte[]> seeds() {
        return seeds;
    }

    @Override
    public void decode(byte[] input) {
        decoder.accept(input);
    }

    private static RecordParser json() {
        return new JsonRecordParser(TYPE, true, List.of());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] join(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    private static void hold(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }

    /** Some bytes, so many at a time at most. */
    private static RecordFramer.Input pieces(byte[] bytes, int from, int pieceBytes) {
        int[] at = {from};
        return (target, offset, byteCount) -> {
            if (at[0] == bytes.length) {
                return -1;
            }
            int count = Math.min(Math.min(byteCount, pieceBytes), bytes.length - at[0]);
            System.arraycopy(bytes, at[0], target, offset, count);
            at[0] += count;
            return count;
        };
    }

    /**
     * A frame, and where its source goes on.
     *
     * @param isRecord whether the parser takes it
     */
    private record Cut(
            long offset,
            long line,
            int byteCount,
            @Nullable String problem,
            boolean isRecord,
            long nextOffset,
            long nextLine) {}

    private static boolean isRecord(RecordParser parser, RecordFrame frame) {
        if (frame.problem() != null) {
            return false;
        }
        RecordView view = new RecordView(TYPE);
        try {
            view.wrap(parser.parse(frame)).check();
        } catch (InvalidRequestException deadLetter) {
            return false;
        }
        return true;
    }

    // ---- arrays

    static FeedFiles array() {
        byte[] whole = bytes("[\n".concat("{\"id\":1,\"name\":\"[]{}\\\"\"},".repeat(KEPT)));
        return new FeedFiles(
                List.of(
                        bytes("{\"id\":1,\"name\":\"n}]\\\"\"},\n{\"id\":2}, [3], \"x\",\n5]\n"),
                        bytes("{\"id\":1,\"name\":{\"a\":[1,{\"b\":2}]}}\n{\"id\":\n2,{\"id\":3}]"),
                        bytes("\"id\":4}]\r\n[{\"id\":5,\"price\":1.50}")),
                input -> array(join(whole, input)));
    }

    private static void array(byte[] text) {
        PeekedInput peeked = new PeekedInput(pieces(text, 0, 7));
        hold(peeked.beginsArray(), "it begins as an array, and is taken for none");
        List<Cut> cuts = elements(peeked, text, 0, 1);
        hold(
                cuts.size() >= KEPT && cuts.subList(0, KEPT).stream().allMatch(Cut::isRecord),
                "whole records are lost");
        int pieceBytes = 1 + text.length % 61;
        hold(
                cuts.equals(elements(pieces(text, 0, pieceBytes), text, 0, 1)),
                "other pieces make other records");
        Cut middle = cuts.get(cuts.size() / 2);
        List<Cut> again = elements(
                pieces(text, (int) middle.nextOffset, pieceBytes),
                text,
                middle.nextOffset,
                middle.nextLine);
        hold(
                again.equals(cuts.subList(cuts.size() / 2 + 1, cuts.size())),
                "a run that goes on finds other records");
    }

    private static List<Cut> elements(
            RecordFramer.Input input, byte[] text, long offset, long line) {
        RecordParser parser = json();
        ElementFramer framer = new ElementFramer(input, offset, line);
        List<Cut> cuts = new ArrayList<>();
        long end = offset;
        boolean hasEnded = false;
        while (true) {
            if (!framer.next()) {
                if (hasEnded) {
                    return cuts;
                }
                hasEnded = true;
                framer.end();
                continue;
            }
            RecordFrame frame = framer.frame();
            int at = (int) frame.offset();
            hold(at >= end && framer.nextOffset() >= at + frame.length(), "frames overlap");
            hold(
                    Arrays.equals(
                            frame.bytes(),
                            frame.start(),
                            frame.start() + frame.length(),
                            text,
                            at,
                            at + frame.length()),
                    "a frame is not what stands at its offset");
            end = framer.nextOffset();
            cuts.add(new Cut(
                    at,
                    frame.line(),
                    frame.length(),
                    frame.problem(),
                    isRecord(parser, frame),
                    end,
                    framer.nextLine()));
        }
    }

    // ---- Avro

    private static GenericRecord record(Schema schema, long id) {
        GenericRecord record = new GenericData.Record(schema);
        record.put("id", id);
        record.put("name", "n" + id);
        record.put("price", ByteBuffer.wrap(new byte[] {1, 2}));
        record.put("at", 1_700_000_000_000L + id);
        record.put("more", Arrays.asList(null, 1.5));
        return record;
    }

    private static byte[] file(CodecFactory codec) {
        Schema schema = new Schema.Parser().parse(SCHEMA);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataFileWriter<Object> writer =
                new DataFileWriter<>(new GenericDatumWriter<>(schema))) {
            writer.setCodec(codec);
            writer.create(schema, bytes, SYNC);
            for (int id = 0; id < KEPT; id++) {
                writer.append(record(schema, id));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    static FeedFiles objectFile() {
        byte[] whole = file(CodecFactory.nullCodec());
        return new FeedFiles(
                List.of(
                        whole,
                        file(CodecFactory.deflateCodec(1)),
                        file(CodecFactory.snappyCodec()),
                        Arrays.copyOfRange(whole, blockStart(whole), whole.length)),
                input -> {
                    objects(input);
                    List<Cut> cuts = Objects.requireNonNull(objects(join(whole, input)));
                    hold(
                            cuts.size() >= KEPT
                                    && cuts.subList(0, KEPT).stream().allMatch(Cut::isRecord),
                            "whole records are lost");
                });
    }

    /** Behind the first marker, which ends the header. */
    private static int blockStart(byte[] file) {
        return new String(file, StandardCharsets.ISO_8859_1)
                        .indexOf(new String(SYNC, StandardCharsets.ISO_8859_1))
                + SYNC.length;
    }

    /** Null if the header is none. */
    private static @Nullable List<Cut> objects(byte[] file) {
        List<Cut> cuts = objects(file, Integer.MAX_VALUE);
        List<Cut> again = objects(file, 1 + file.length % 61);
        hold(Objects.equals(cuts, again), "other pieces make other records");
        return cuts;
    }

    private static @Nullable List<Cut> objects(byte[] file, int pieceBytes) {
        ObjectFileCutter cutter = new ObjectFileCutter(pieces(file, 0, pieceBytes));
        try {
            if (!cutter.readHeader()) {
                return null;
            }
        } catch (InvalidRequestException told) {
            return null;
        }
        RecordParser parser = AvroRecordParser.ofFiles(json());
        List<Cut> cuts = new ArrayList<>();
        while (cutter.next() || (cutter.isWithinBlock() && ends(cutter))) {
            RecordFrame frame = cutter.frame();
            cuts.add(new Cut(
                    frame.offset(),
                    frame.line(),
                    frame.length(),
                    frame.problem(),
                    isRecord(parser, frame),
                    cutter.offset(),
                    cutter.line()));
        }
        hold(cutter.offset() == file.length, "bytes are left over");
        return cuts;
    }

    private static boolean ends(ObjectFileCutter cutter) {
        cutter.end();
        return cutter.next();
    }

    static FeedFiles message() {
        AvroRecordParser parser =
                AvroRecordParser.ofMessages(json(), RegistrySchemas.of(Map.of(1, bytes(SCHEMA))));
        byte[] datum = datum();
        byte[] head = {0, 0, 0, 0, 1};
        return new FeedFiles(
                List.of(
                        join(bytes("{}"), join(head, datum)),
                        join(bytes("{\"name\":\"}\\\"\"}"), join(head, datum)),
                        join(bytes("{}"), new byte[] {0, 0, 0, 0, 2, 7})),
                input -> {
                    RecordView view = new RecordView(TYPE);
                    view.wrap(parser.parse(RecordFrame.of(input, 0, 1))).check();
                });
    }

    private static byte[] datum() {
        Schema schema = new Schema.Parser().parse(SCHEMA);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
            new GenericDatumWriter<>(schema).write(record(schema, 7), encoder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }
}
