package io.turbidite.hashlog.parse;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.Utf8;
import io.turbidite.core.expr.FieldPath;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * {@link JsonSuite} as the value of a member that is wanted, and of one that is not, at several
 * distances from the record's start so that it lies across blocks and windows; by vectors, by
 * words, and by Jackson.
 */
class JsonConformanceTest {
    /** Bytes before the value: across blocks of 64 and the windows of 256 and 1024. */
    private static final int[] SHIFTS = {0, 40, 52, 61, 64, 243, 1_260};

    /**
     * What is wanted of the value, down to members and elements, and what is never there: all of it
     * is read.
     */
    private static final String[] PATHS = {"w", "w[0]", "w[1]", "w.a", "w.a.b", "never"};

    private static final List<FieldPath> FIELDS = Parsed.paths(PATHS);

    private final RecordParser words = Parsed.json(ScanMode.WORDS, PATHS);
    private final RecordParser best = Parsed.json(ScanMode.best(), PATHS);

    private static byte[] around(JsonSuite.Case text, int shift, String name) {
        byte[] head = ("{\"" + "p".repeat(shift) + "\":0,\"" + name + "\":")
                .getBytes(StandardCharsets.UTF_8);
        byte[] tail = ",\"w\":7}".getBytes(StandardCharsets.UTF_8);
        int end = name.equals("w") ? 1 : tail.length;
        byte[] record = Arrays.copyOf(head, head.length + text.bytes().length + end);
        System.arraycopy(text.bytes(), 0, record, head.length, text.bytes().length);
        System.arraycopy(tail, tail.length - end, record, record.length - end, end);
        return record;
    }

    @Test
    void the_suite_is_large() {
        assertThat(JsonSuite.valid()).hasSizeGreaterThan(700);
        assertThat(JsonSuite.invalid()).hasSizeGreaterThan(600);
        assertThat(JsonSuite.disputed()).hasSizeGreaterThan(25);
    }

    @Test
    void whatever_is_valid_is_taken_and_read_as_jackson_reads_it() {
        for (JsonSuite.Case text : JsonSuite.valid()) {
            for (int shift : SHIFTS) {
                byte[] record = around(text, shift, "w");
                Map<?, ?> expected = Reference.read(record);
                assertThat(expected).as("%s by Jackson", text).isNotNull();
                for (RecordParser parser : List.of(words, best)) {
                    assertThat(Parsed.parse(parser, record, shift % 7))
                            .as("%s at %d", text, shift)
                            .isTrue();
                    checkFields(parser, expected, text + " at " + shift);
                }
            }
        }
    }

    private static void checkFields(
            RecordParser parser, @Nullable Map<?, ?> expected, String what) {
        for (int f = 0; f < FIELDS.size(); f++) {
            Object found = Reference.found(parser.values(), f);
            Object wanted = Reference.at(expected, FIELDS.get(f));
            if (found == null || !found.equals(wanted)) {
                assertThat(found).as("%s of %s", PATHS[f], what).isEqualTo(wanted);
            }
        }
    }

    @Test
    void whatever_is_invalid_in_a_wanted_value_is_refused_with_its_place() {
        List<String> taken = new ArrayList<>();
        for (JsonSuite.Case text : JsonSuite.invalid()) {
            for (int shift : SHIFTS) {
                byte[] record = around(text, shift, "w");
                String outcome = Parsed.outcome(words, record);
                assertThat(Parsed.outcome(best, record)).as("%s", text).isEqualTo(outcome);
                if (!outcome.startsWith("the record")) {
                    taken.add(text + ": " + outcome);
                    continue;
                }
                int at = words.values().rejection().offset();
                int start = record.length - 1 - text.bytes().length;
                assertThat(at).as("%s: %s", text, outcome).isBetween(start, record.length);
                if (Utf8.isValid(Slice.of(record))) {
                    assertThat(Reference.read(record)).as("%s by Jackson", text).isNull();
                }
            }
        }
        assertThat(taken).isEmpty();
    }

    /**
     * Jumping over is partial parsing: what is taken may be malformed there, what is refused always
     * is.
     */
    @Test
    void what_nobody_wants_is_jumped_over_alike_and_refused_only_if_it_is_malformed() {
        List<JsonSuite.Case> all = new ArrayList<>(JsonSuite.valid());
        all.addAll(JsonSuite.invalid());
        JsonSuite.disputed().forEach(d -> all.add(d.text()));
        int refused = 0;
        for (JsonSuite.Case text : all) {
            for (int shift : SHIFTS) {
                byte[] record = around(text, shift, "x");
                String outcome = Parsed.outcome(words, record);
                assertThat(Parsed.outcome(best, record)).as("%s", text).isEqualTo(outcome);
                if (outcome.startsWith("the record")) {
                    refused++;
                    assertThat(Reference.read(record))
                            .as("%s by Jackson, here %s", text, outcome)
                            .isNull();
                } else if (text.name().startsWith("y_") || text.name().startsWith("i_")) {
                    assertThat(outcome).as("%s", text).startsWith("INTEGER 7|");
                }
            }
        }
        assertThat(refused).isGreaterThan(200);
    }

    @Test
    void what_readers_disagree_about_is_decided() {
        for (JsonSuite.Disputed disputed : JsonSuite.disputed()) {
            for (int shift : SHIFTS) {
                byte[] record = around(disputed.text(), shift, "w");
                for (RecordParser parser : List.of(words, best)) {
                    assertThat(Parsed.parse(parser, record, 0))
                            .as("%s: %s", disputed.text(), disputed.reason())
                            .isEqualTo(disputed.taken());
                }
            }
        }
        assertThat(Parsed.outcome(
                        best, "{\"w\":{\"a\":1,\"a\":2}}".getBytes(StandardCharsets.UTF_8)))
                .contains("INTEGER 1|");
        // a byte order mark before a record: whoever writes files with one strips it first
        assertThat(Parsed.outcome(best, "\uFEFF{\"w\":1}".getBytes(StandardCharsets.UTF_8)))
                .startsWith("the record");
    }
}
