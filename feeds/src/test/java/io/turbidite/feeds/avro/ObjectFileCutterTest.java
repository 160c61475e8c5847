package io.turbidite.feeds.avro;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;

import org.apache.avro.Schema;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.generic.GenericData;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

class ObjectFileCutterTest {
    private static final byte[] MARKER = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private static List<String> records(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(i -> "{\"id\":%d,\"name\":\"n%d\"}".formatted(i, i))
                .toList();
    }

    /** Where each marker of a file ends. */
    private static List<Integer> markerEnds(byte[] file) {
        List<Integer> ends = new ArrayList<>();
        for (int at = 0; at + MARKER.length <= file.length; at++) {
            if (Arrays.equals(file, at, at + MARKER.length, MARKER, 0, MARKER.length)) {
                ends.add(at + MARKER.length);
            }
        }
        return ends;
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "deflate", "snappy", "zstandard", "bzip2", "xz"})
    void files_of_all_codecs_are_read_and_their_damage_is_told(String codec) {
        byte[] file = AvroText.file(CodecFactory.fromString(codec), 1_000, 300);
        assertThat(AvroText.frames(file)).isEqualTo(records(0, 1_000));
        int second = markerEnds(file).get(1);
        for (int at = second + 8; at < second + 60; at++) {
            byte[] damaged = file.clone();
            damaged[at] ^= 0x11;
            List<String> frames = AvroText.frames(damaged);
            assertThat(frames).as("byte %d", at).startsWith(records(0, 300).toArray(String[]::new));
            assertThat(frames).endsWith(records(600, 1_000).toArray(String[]::new));
            if (codec.equals("snappy") || codec.equals("bzip2") || codec.equals("xz")) {
                assertThat(frames).hasSize(701); // they have checksums
                assertThat(frames.get(300))
                        .startsWith("!%d:1 the block is damaged: it".formatted(second));
            }
        }
    }

    @Test
    void reading_goes_on_behind_any_record() {
        byte[] file = AvroText.file(CodecFactory.deflateCodec(6), 100, 7);
        List<String> all = records(0, 100);
        ObjectFileCutter cutter = AvroText.cutter(file, 0);
        assertThat(cutter.readHeader()).isTrue();
        for (int taken = 0; taken < all.size(); taken++) {
            long offset = cutter.offset();
            long line = cutter.line();
            ObjectFileCutter again = AvroText.cutter(file, 0);
            assertThat(again.readHeader()).isTrue();
            int[] at = {(int) offset};
            again.goOn(
                    (target, start, byteCount) -> {
                        int count = Math.min(byteCount, file.length - at[0]);
                        System.arraycopy(file, at[0], target, start, count);
                        at[0] += count;
                        return count == 0 ? -1 : count;
                    },
                    offset);
            if (line > 1) {
                assertThat(again.passRecords(line - 1)).isTrue();
            }
            for (String record : all.subList(taken, all.size())) {
                assertThat(again.next()).isTrue();
                assertThat(AvroText.shown(again.frame())).isEqualTo(record);
            }
            assertThat(again.next()).isFalse();
            assertThat(cutter.next()).isTrue();
        }
        assertThat(cutter.next()).isFalse();
        assertThat(cutter.offset()).isEqualTo(file.length);
        assertThat(cutter.line()).isEqualTo(1);
    }

    @Test
    void positions_only_rise() {
        byte[] file = AvroText.file(CodecFactory.nullCodec(), 50, 7);
        file[markerEnds(file).get(2) - 1] ^= 1;
        ObjectFileCutter cutter = AvroText.cutter(file, 0);
        assertThat(cutter.readHeader()).isTrue();
        long offset = 0;
        long line = 0;
        while (cutter.next()) {
            assertThat(cutter.offset() > offset || cutter.line() > line).isTrue();
            assertThat(cutter.offset()).isGreaterThanOrEqualTo(offset);
            offset = cutter.offset();
            line = cutter.line();
        }
        assertThat(offset).isEqualTo(file.length);
    }

    @Test
    void a_wrong_marker_costs_what_is_before_the_next_one() {
        byte[] file = AvroText.file(CodecFactory.nullCodec(), 50, 10);
        List<Integer> ends = markerEnds(file);
        byte[] damaged = file.clone();
        damaged[ends.get(2) - 3] ^= 1;
        List<String> frames = AvroText.frames(damaged);
        assertThat(frames).startsWith(records(0, 10).toArray(String[]::new));
        assertThat(frames.get(10))
                .startsWith("!%d:1 the block is damaged: the sync marker is not"
                        .formatted(ends.get(1)));
        assertThat(frames.subList(11, frames.size())).isEqualTo(records(30, 50));
    }

    @Test
    void a_wrong_length_costs_its_block() {
        byte[] file = AvroText.file(CodecFactory.nullCodec(), 50, 10);
        List<Integer> ends = markerEnds(file);
        for (int value = 0; value < 256; value++) {
            for (int at = 0; at < 2; at++) {
                byte[] damaged = file.clone();
                damaged[ends.get(1) + at] = (byte) value;
                List<String> frames = AvroText.frames(damaged);
                String as = "byte %d, %d".formatted(at, value);
                assertThat(frames).as(as).startsWith(records(0, 10).toArray(String[]::new));
                assertThat(frames).as(as).endsWith(records(20, 50).toArray(String[]::new));
            }
        }
        // bytes that are missing, and bytes too many
        byte[] shorter = AvroText.without(file, ends.get(1) + 20, ends.get(1) + 23);
        assertThat(AvroText.frames(shorter)).endsWith(records(20, 50).toArray(String[]::new));
    }

    @Test
    void the_last_block_waits_if_it_may_still_be_written() {
        byte[] file = AvroText.file(CodecFactory.nullCodec(), 50, 10);
        int last = markerEnds(file).get(4);
        for (int cut = last + 1; cut < file.length; cut++) {
            List<String> expected = new ArrayList<>(records(0, 40));
            expected.add("more");
            assertThat(AvroText.frames(Arrays.copyOf(file, cut))).isEqualTo(expected);
        }
        ObjectFileCutter cutter = AvroText.cutter(Arrays.copyOf(file, file.length - 1), 0);
        assertThat(cutter.readHeader()).isTrue();
        for (int i = 0; i < 40; i++) {
            assertThat(cutter.next()).isTrue();
        }
        assertThat(cutter.next()).isFalse();
        assertThat(cutter.offset()).isEqualTo(last);
        cutter.end();
        assertThat(cutter.next()).isTrue();
        assertThat(cutter.frame().problem()).startsWith("the file ends within a block");
        assertThat(cutter.next()).isFalse();
        assertThat(cutter.isWithinBlock()).isFalse();
    }

    @Test
    void a_record_without_an_end_costs_the_rest_of_its_block() {
        byte[] good = AvroText.datum(AvroText.schema(AvroText.SCHEMA), AvroText.record(1));
        byte[] hugeText = AvroText.numbers(2, Integer.MAX_VALUE);
        byte[] negative = AvroText.numbers(2, -5);
        byte[] file = AvroText.handmade(
                AvroText.SCHEMA,
                AvroText.block(2, join(good, hugeText)),
                AvroText.block(3, join(good, negative, good)),
                AvroText.block(1, join(good, good)),
                AvroText.block(1, good));
        String record = records(1, 2).getFirst();
        List<String> frames = AvroText.frames(file);
        assertThat(frames).hasSize(7);
        assertThat(frames.get(0)).isEqualTo(record);
        assertThat(frames.get(1))
                .contains(":2 record 2 of the 2 in its block can't be decoded")
                .contains("text of 2147483647 bytes, but 0 are left, at byte 6");
        assertThat(frames.get(2)).isEqualTo(record);
        assertThat(frames.get(3)).contains(":2 record 2 of the 3", "text of -5 bytes");
        assertThat(frames.get(4)).isEqualTo(record);
        assertThat(frames.get(5)).contains(":2 4 bytes are left over");
        assertThat(frames.get(6)).isEqualTo(record);
    }

    private static byte[] join(byte[]... parts) {
        int length = Arrays.stream(parts).mapToInt(part -> part.length).sum();
        byte[] joined = new byte[length];
        int at = 0;
        for (byte[] part : parts) {
            System.arraycopy(part, 0, joined, at, part.length);
            at += part.length;
        }
        return joined;
    }

    private static GenericData.Record nested(
            Schema schema, int id, GenericData.@Nullable Record next) {
        GenericData.Record record = new GenericData.Record(schema);
        record.put("id", (long) id);
        record.put("next", next);
        record.put("at", id == 2 ? 86_400_000 : 0);
        return record;
    }

    @Test
    void a_record_that_cant_be_written_costs_itself() {
        String schema = """
                {"type":"record","name":"L","fields":[
                  {"name":"id","type":"long"},
                  {"name":"next","type":["null","L"]},
                  {"name":"at","type":{"type":"int","logicalType":"time-millis"}}]}
                """;
        Schema parsed = AvroText.schema(schema);
        byte[] file = AvroText.file(parsed, CodecFactory.nullCodec(), 4, 4, i -> {
            int depth = i == 1 ? 65 : i == 3 ? 64 : 1;
            GenericData.Record inner = null;
            for (int d = 1; d < depth; d++) {
                inner = nested(parsed, i, inner);
            }
            return nested(parsed, i, inner);
        });
        List<String> frames = AvroText.frames(file);
        assertThat(frames).hasSize(4);
        assertThat(frames.get(0)).isEqualTo("{\"id\":0,\"next\":null,\"at\":\"00:00:00\"}");
        assertThat(frames.get(1)).contains(":2 it is nested deeper than 64");
        assertThat(frames.get(2)).contains(":3 86400000 is no time of a day");
        assertThat(frames.get(3)).startsWith("{\"id\":3,\"next\":{\"id\":3,");
    }

    @Test
    void hostile_counts_and_lengths_are_refused() {
        String items = """
                {"type":"record","name":"R","fields":[
                  {"name":"n","type":{"type":"array","items":"null"}},
                  {"name":"m","type":{"type":"map","values":"null"}},
                  {"name":"b","type":"bytes"}]}
                """;
        String nothing = """
                {"type":"record","name":"N","fields":[{"name":"n","type":"null"}]}
                """;
        long huge = 1L << 62;
        byte[][] datums = {
            AvroText.numbers(huge),
            AvroText.numbers(-huge, 0),
            AvroText.numbers(Long.MIN_VALUE, 0),
            AvroText.numbers(-1, huge),
            AvroText.numbers(-1, -1),
            AvroText.numbers(0, huge),
            AvroText.numbers(0, 0, huge),
            AvroText.numbers(0, 0, -1),
            AvroText.numbers(0, 0, Long.MIN_VALUE),
            {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
            {-1, -1, -1, -1, -1, -1, -1, -1, -1, 2},
        };
        for (byte[] datum : datums) {
            List<String> frames = AvroText.frames(AvroText.handmade(
                    items, AvroText.block(1, datum), AvroText.block(1, new byte[3])));
            assertThat(frames).hasSize(2);
            assertThat(frames.get(0)).contains("record 1 of the 1", "it is no datum of its schema");
            assertThat(frames.get(1)).isEqualTo("{\"n\":[],\"m\":{},\"b\":\"\"}");
        }
        byte[] good = AvroText.block(1, new byte[3]);
        byte[][] blocks = {
            AvroText.block(huge, new byte[0]),
            AvroText.block(huge, new byte[9]),
            AvroText.block(-1, new byte[9]),
            join(AvroText.numbers(1, huge), MARKER),
            join(AvroText.numbers(1, -1), MARKER),
            join(AvroText.numbers(1, Integer.MAX_VALUE), MARKER),
            join(new byte[] {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}, MARKER),
        };
        for (byte[] block : blocks) {
            List<String> frames = AvroText.frames(AvroText.handmade(items, block, good));
            assertThat(frames).hasSize(2);
            assertThat(frames.get(0)).contains("the block is damaged");
            assertThat(frames.get(1)).isEqualTo("{\"n\":[],\"m\":{},\"b\":\"\"}");
        }
        // records without a byte are as many as somebody likes
        assertThat(AvroText.frames(AvroText.handmade(nothing, AvroText.block(huge, new byte[0]))))
                .singleElement()
                .asString()
                .contains("records in 0 bytes");
    }

    @Test
    void a_block_that_unpacks_to_more_than_the_limit_is_refused() {
        byte[] zeros = new byte[ObjectFileCutter.BLOCK_BYTES_MAX + 1];
        Schema bytes = AvroText.schema(
                "{\"type\":\"record\",\"name\":\"B\",\"fields\":[{\"name\":\"b\",\"type\":\"bytes\"}]}");
        for (String codec : List.of("deflate", "snappy", "zstandard")) {
            byte[] file = AvroText.file(bytes, CodecFactory.fromString(codec), 2, 1, i -> {
                GenericData.Record record = new GenericData.Record(bytes);
                record.put("b", ByteBuffer.wrap(i == 0 ? zeros : new byte[1]));
                return record;
            });
            assertThat(AvroText.frames(file))
                    .hasSize(2)
                    .satisfiesExactly(
                            first -> assertThat(first)
                                    .contains("longer than the limit of 67108864 bytes"),
                            second -> assertThat(second).isEqualTo("{\"b\":\"AA==\"}"));
        }
    }

    @Test
    void a_damaged_header_says_what_is_wrong() {
        byte[] file = AvroText.file(CodecFactory.nullCodec(), 10, 10);
        int headerEnd = markerEnds(file).getFirst();
        refused("no".getBytes(StandardCharsets.UTF_8), "no object file of Avro");
        byte[] version = file.clone();
        version[3] = 2;
        refused(version, "no object file of Avro");
        byte[] negative = file.clone();
        negative[4] = 0x7F; // -64 entries
        refused(negative, "");
        String text = new String(file, StandardCharsets.ISO_8859_1);
        refused(text.replace("null", "nill"), "its codec 'nill' is none of null, deflate, snappy");
        refused(text.replace("avro.schema", "avro.schemb"), "its header has no schema");
        refused(text.replace("\"long\"", "\"lung\""), "the schema is none of Avro");
        refused(text.replace("{\"type\"", "{\"type'"), "the schema is none of Avro");
        for (int cut = 0; cut < headerEnd; cut++) {
            assertThat(AvroText.frames(Arrays.copyOf(file, cut))).containsExactly("no header");
        }
    }

    private static void refused(String file, String message) {
        refused(file.getBytes(StandardCharsets.ISO_8859_1), message);
    }

    private static void refused(byte[] file, String message) {
        assertThatThrownBy(() -> AvroText.frames(file))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message);
    }
}
