package io.turbidite.feeds.avro;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.Mutation;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.parse.RecordFrame;

import org.apache.avro.file.CodecFactory;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Bytes that nobody means: they give typed errors, and take no more memory than their length. */
class AvroFuzzTest {
    private static final int COUNT = Tier.count(500, 4_000, 400_000);

    /** Of a library for its first block, of buffers. */
    private static final long BYTES_MAX = 12 << 20;

    private static final String SCHEMA = """
            {"type":"record","name":"R","fields":[
              {"name":"id","type":"long"},
              {"name":"s","type":["null","string","R"]},
              {"name":"a","type":{"type":"array","items":["int","double",
                 {"type":"map","values":"float"}]}},
              {"name":"n","type":{"type":"array","items":"null"}},
              {"name":"f","type":{"type":"fixed","name":"F","size":3}},
              {"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},
              {"name":"u","type":{"type":"fixed","name":"U","size":16,"logicalType":"uuid"}},
              {"name":"e","type":{"type":"enum","name":"E","symbols":["x","y"]}},
              {"name":"day","type":{"type":"int","logicalType":"date"}},
              {"name":"t","type":{"type":"long","logicalType":"time-micros"}},
              {"name":"at","type":{"type":"long","logicalType":"timestamp-nanos"}},
              {"name":"l","type":{"type":"long","logicalType":"local-timestamp-millis"}}]}
            """;

    private static final RecordType TYPE =
            RecordType.builder().field("id", "int64").build();

    private final AvroRecordParser files = AvroRecordParser.ofFiles(json());
    private final AvroRecordParser messages = AvroRecordParser.ofMessages(
            json(),
            RegistrySchemas.of(Map.of(
                    1, SCHEMA.getBytes(StandardCharsets.UTF_8),
                    2, AvroText.SCHEMA.getBytes(StandardCharsets.UTF_8))));

    private long accepted;
    private long refused;

    private static JsonRecordParser json() {
        return new JsonRecordParser(TYPE, true, List.of());
    }

    private static long allocated() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean())
                .getCurrentThreadAllocatedBytes();
    }

    private void parse(AvroRecordParser parser, RecordFrame frame) {
        if (frame.problem() != null) {
            refused++;
            return;
        }
        try {
            var _ = parser.parse(frame);
            accepted++;
        } catch (InvalidRequestException e) {
            refused++;
        }
    }

    private void read(byte[] file) {
        ObjectFileCutter cutter = AvroText.cutter(file, 0);
        try {
            if (!cutter.readHeader()) {
                return;
            }
        } catch (InvalidRequestException e) {
            refused++;
            return;
        }
        int steps = 0;
        while (cutter.next() || (cutter.isWithinBlock() && ends(cutter))) {
            parse(files, cutter.frame());
            assertThat(++steps).isLessThan(2 * file.length);
        }
        assertThat(cutter.offset()).isEqualTo(file.length);
    }

    private static boolean ends(ObjectFileCutter cutter) {
        cutter.end();
        return cutter.next();
    }

    @Test
    void mutated_files() {
        long seed = Seeds.of("AvroFuzzTest#mutated_files");
        byte[][] whole = {
            AvroText.file(CodecFactory.nullCodec(), 200, 20),
            AvroText.file(CodecFactory.deflateCodec(1), 200, 20),
            AvroText.file(CodecFactory.snappyCodec(), 200, 20),
            AvroText.file(CodecFactory.zstandardCodec(1), 200, 20),
            AvroText.handmade(SCHEMA, blocks(new SplittableRandom(seed))),
        };
        for (int i = 0; i < COUNT; i++) {
            SplittableRandom random = new SplittableRandom(Seeds.mix(seed, i));
            byte[] file = whole[i % whole.length].clone();
            // mostly behind the header
            Mutation.inPlace(
                    file, random.nextInt(10) == 0 ? 0 : Math.min(file.length - 1, 300), random);
            guarded("mutated_files", seed, i, () -> read(file));
        }
        assertThat(accepted).isGreaterThan(refused);
        assertThat(refused).isGreaterThan(COUNT / 4);
    }

    private static byte[] blocks(SplittableRandom random) {
        byte[] data = new byte[2_000];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) random.nextInt(8);
        }
        byte[] block = AvroText.block(500, data);
        byte[] twice = Arrays.copyOf(block, 2 * block.length);
        System.arraycopy(block, 0, twice, block.length, block.length);
        return twice;
    }

    @Test
    void random_messages() {
        long seed = Seeds.of("AvroFuzzTest#random_messages");
        byte[] good = AvroText.message(
                2, AvroText.datum(AvroText.schema(AvroText.SCHEMA), AvroText.record(123_456)));
        for (int i = 0; i < 4 * COUNT; i++) {
            SplittableRandom random = new SplittableRandom(Seeds.mix(seed, i));
            byte[] datum = new byte[random.nextInt(80)];
            int bound = random.nextBoolean() ? 256 : 9;
            for (int b = 0; b < datum.length; b++) {
                datum[b] = (byte) random.nextInt(bound);
            }
            byte[] message = AvroText.message(random.nextInt(1, 3), datum);
            if (random.nextInt(4) == 0) {
                message = good.clone();
                Mutation.inPlace(message, 0, random);
            }
            byte[] framed = new byte[2 + message.length];
            framed[0] = '{';
            framed[1] = '}';
            System.arraycopy(message, 0, framed, 2, message.length);
            guarded(
                    "random_messages",
                    seed,
                    i,
                    () -> parse(messages, RecordFrame.of(framed, 0, 1)));
        }
        assertThat(accepted).isGreaterThan(COUNT / 20);
        assertThat(refused).isGreaterThan(COUNT);
    }

    @Test
    void mutated_schemas() {
        long seed = Seeds.of("AvroFuzzTest#mutated_schemas");
        byte[] text = SCHEMA.getBytes(StandardCharsets.UTF_8);
        int sound = 0;
        for (int i = 0; i < COUNT; i++) {
            SplittableRandom random = new SplittableRandom(Seeds.mix(seed, i));
            byte[] changed = text.clone();
            Mutation.inPlace(changed, 0, random);
            int[] read = {0};
            guarded("mutated_schemas", seed, i, () -> {
                try {
                    var _ = SchemaReader.read(changed);
                    read[0]++;
                } catch (InvalidRequestException e) {
                    refused++;
                }
            });
            sound += read[0];
        }
        assertThat(sound).isGreaterThan(COUNT / 100);
        assertThat(refused).isGreaterThan(COUNT / 4);
    }

    private static void guarded(String test, long seed, int round, Runnable what) {
        String replay = Seeds.replay("AvroFuzzTest#" + test, seed) + ", round " + round;
        long before = allocated();
        try {
            what.run();
        } catch (RuntimeException | Error e) {
            throw new AssertionError(replay, e);
        }
        assertThat(allocated() - before).as(replay).isLessThan(BYTES_MAX);
    }
}
