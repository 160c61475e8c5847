package io.turbidite.core.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** A reader of JSON that keeps its parser, beside one that makes a parser for each record. */
class JsonReuseTest {
    private static final int TEXTS = Tier.count(3_000, 10_000, 2_000_000);

    private static final RecordType TYPE = RecordType.of(List.of(
            Field.parse("id", "int64"),
            Field.parse("text", "string?"),
            Field.parse("real", "double?"),
            Field.parse("whole", "decimal?"),
            Field.parse("when", "datetime?"),
            Field.parse("truth", "bool?"),
            Field.parse("few", "int8?"),
            Field.parse("place", "point?")));

    private final RecordWriter kept = new RecordWriter(TYPE);
    private final RecordWriter fresh = new RecordWriter(TYPE);
    private final JsonRecordReader alone = new JsonRecordReader(fresh, TYPE);

    private static Slice utf8(String text) {
        return Slice.of(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String byWriter(RecordWriter writer, Slice text) {
        try {
            return writer.writeJson(text).toString();
        } catch (InvalidRequestException e) {
            return "error: " + e.getMessage();
        }
    }

    private String byFresh(Slice text) {
        try {
            var _ = fresh.begin();
            alone.readAlone(text);
            return fresh.finish().toString();
        } catch (InvalidRequestException e) {
            return "error: " + e.getMessage();
        }
    }

    /** What it makes of its first text is not yet ruled by what came before. */
    private void same(Slice text, String at) {
        String wanted = byFresh(text);
        assertThat(byWriter(kept, text)).as(at).isEqualTo(wanted);
        assertThat(byWriter(new RecordWriter(TYPE), text)).as(at).isEqualTo(wanted);
    }

    @Test
    void random_texts_whole_and_broken_are_read_as_by_a_parser_of_their_own() {
        SplittableRandom random = new SplittableRandom(20_261_128);
        int good = 0;
        for (int i = 0; i < TEXTS; i++) {
            byte[] text = object(random, 0).getBytes(StandardCharsets.UTF_8);
            if (random.nextInt(4) == 0) {
                text = broken(random, text);
            }
            String at = "text %d: <%s>".formatted(i, new String(text, StandardCharsets.UTF_8));
            same(Slice.of(text), at);
            good += byFresh(Slice.of(text)).startsWith("error") ? 0 : 1;
        }
        assertThat(good).isBetween(TEXTS / 10, TEXTS * 9 / 10);
    }

    private static String object(SplittableRandom random, int depth) {
        StringBuilder text = new StringBuilder("{");
        int count = random.nextInt(depth == 0 ? 9 : 4);
        boolean hasId = depth == 0 && random.nextInt(8) > 0;
        text.append(hasId ? "\"id\":7" : "");
        for (int i = 0; i < count; i++) {
            String[] names = {
                "id", "text", "real", "whole", "when", "truth", "few", "place", "x", "y", "é\\n", ""
            };
            text.append(i == 0 && !hasId ? "" : ",").append(random.nextInt(5) == 0 ? " " : "");
            String name = names[random.nextInt(names.length)];
            text.append('"').append(name).append(random.nextInt(3) > 0 ? "" : i).append("\":");
            text.append(fitting(random, name, depth));
        }
        return text.append('}').toString();
    }

    private static String fitting(SplittableRandom random, String name, int depth) {
        if (random.nextInt(8) == 0) {
            return value(random, depth);
        }
        return switch (name) {
            case "id" -> Long.toString(random.nextLong() >> random.nextInt(64));
            case "real" -> real(random);
            case "truth" -> random.nextBoolean() ? "true" : "false";
            case "few" -> Integer.toString(random.nextInt(-140, 140));
            case "whole" -> random.nextInt(1_000) + "." + random.nextInt(1_000);
            case "when" -> "\"2026-11-%02dT00:00:00Z\"".formatted(1 + random.nextInt(30));
            case "place" -> "[%d, -1.5e%d]".formatted(random.nextInt(9), random.nextInt(4));
            case "text" -> {
                String of = random.nextBoolean() ? "tü😀\\\"\\u00e9" : "tü😀 plain";
                yield "\"%s\"".formatted(of.repeat(random.nextInt(30)));
            }
            default -> value(random, depth);
        };
    }

    /** Of few digits and of many. */
    private static String real(SplittableRandom random) {
        double number = random.nextDouble() * 1e6 - 5e5;
        return switch (random.nextInt(4)) {
            case 0 -> Double.toString(number);
            case 1 -> "%.3f".formatted(number);
            case 2 -> "%.0f".formatted(number);
            default -> "%s.%s".formatted(random.nextInt(-2, 3), random.nextLong(1L << 50));
        };
    }

    private static String value(SplittableRandom random, int depth) {
        return switch (random.nextInt(depth > 3 ? 7 : 9)) {
            case 0 -> "null";
            case 1 -> "true";
            case 2 -> "-0";
            case 3 -> Long.toString(random.nextLong());
            case 4 -> "12345678901234567890123.5e-3";
            case 5 -> "\"\"";
            case 6 -> "\"%s\"".formatted("a".repeat(random.nextInt(70)));
            case 7 -> "[%s,%s]".formatted(value(random, depth + 1), value(random, depth + 1));
            default -> object(random, depth + 1);
        };
    }

    private static byte[] broken(SplittableRandom random, byte[] text) {
        byte[] other = text.clone();
        switch (random.nextInt(4)) {
            case 0 -> other[random.nextInt(other.length)] = (byte) random.nextInt(128);
            case 1 -> {
                return Arrays.copyOf(other, random.nextInt(other.length));
            }
            case 2 -> {
                other = Arrays.copyOf(other, other.length + 1);
                other[other.length - 1] = (byte) "}1 {,\t".charAt(random.nextInt(6));
            }
            default -> {
                int at = random.nextInt(other.length);
                other[at] = (byte) "{}[]\",:\\0".charAt(random.nextInt(9));
            }
        }
        return other;
    }

    @Test
    void a_mark_of_the_byte_order_is_no_json_however_often_it_comes() {
        for (int i = 0; i < 3; i++) {
            same(utf8("\uFEFF{\"id\":1}"), "with a mark");
            same(utf8("{\"id\":1}"), "without");
            same(utf8(""), "empty");
            same(utf8("{\"id\":1}{\"id\":2}"), "two");
            same(utf8("{\"id\":1} \r\n\t"), "white space");
            same(utf8("{\"id\":1}\u0001"), "a control character is no white space");
        }
    }

    /** Names may seem to be there twice: then it is looked up. */
    @Test
    void many_names_and_names_of_one_hash_are_told_apart() {
        StringBuilder many = new StringBuilder("{\"id\":1");
        StringBuilder alike = new StringBuilder("{\"id\":1");
        for (int i = 0; i < 4_096; i++) {
            many.append(",\"n").append(i).append("\":0");
            StringBuilder name = new StringBuilder();
            for (int bit = 0; bit < 12; bit++) {
                name.append((i >> bit & 1) == 0 ? "Aa" : "BB"); // of one hash
            }
            alike.append(",\"").append(name).append("\":0");
        }
        for (StringBuilder text : List.of(many, alike)) {
            for (int i = 0; i < 3; i++) {
                same(utf8(text + "}"), "once");
                same(utf8(text + ",\"n5\":1,\"" + "Aa".repeat(12) + "\":1}"), "twice");
            }
        }
    }

    /** The parser is replaced now and then, since it remembers all names. */
    @Test
    void names_that_never_come_again_do_not_gather() {
        for (int i = 0; i < 4_000; i++) {
            same(utf8("{\"id\":%d,\"only here %d\":\"%s\"}".formatted(i, i, "x".repeat(900))), "");
        }
    }

    @Test
    void the_table_of_names_finds_what_a_set_finds() {
        SplittableRandom random = new SplittableRandom(3);
        NamesSeen seen = new NamesSeen();
        for (int record = 0; record < 300; record++) {
            seen.begin();
            Set<String> model = new HashSet<>();
            long[] objects = {seen.object(), seen.object(), seen.object()};
            int count = record % 50 == 0 ? 30_000 : random.nextInt(200);
            for (int i = 0; i < count; i++) {
                int object = random.nextInt(3);
                String name = "n" + random.nextInt(count);
                assertThat(seen.add(objects[object], name)).isEqualTo(model.add(object + name));
            }
        }
    }
}
