package io.turbidite.feeds.parse;

import static io.turbidite.feeds.parse.LineFramerTest.input;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

class ElementFramerTest {
    private static final int RECORD_BYTES_MAX = 40;

    /** What a frame was: offset and line, those behind it, content, what is wrong with it. */
    private static List<String> frames(RecordFramer framer) {
        List<String> frames = new ArrayList<>();
        framer.end();
        while (framer.next()) {
            RecordFrame frame = framer.frame();
            assertThat(frame.endOffset()).isEqualTo(framer.nextOffset());
            String content = new String(
                    frame.bytes(), frame.start(), frame.length(), StandardCharsets.UTF_8);
            frames.add("%d:%d-%d:%d %s%s"
                    .formatted(
                            frame.offset(),
                            frame.line(),
                            frame.endOffset(),
                            frame.endLine(),
                            content.replace("\n", "~"),
                            frame.problem() == null ? "" : " !" + frame.problem()));
        }
        assertThat(framer.rest()).isNull();
        return frames;
    }

    private static List<String> frames(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        List<String> whole =
                frames(new ElementFramer(input(bytes, 1 << 20), 0, 1, RECORD_BYTES_MAX));
        for (int readBytes : new int[] {1, 2, 3, 7}) {
            assertThat(frames(new ElementFramer(input(bytes, readBytes), 0, 1, RECORD_BYTES_MAX)))
                    .as("%d bytes a read", readBytes)
                    .isEqualTo(whole);
        }
        return whole;
    }

    @Test
    void elements_stand_on_one_line_or_on_many() {
        assertThat(frames("[{\"a\":1},{\"a\":[2,{}]} , {}]"))
                .containsExactly("1:1-8:1 {\"a\":1}", "9:1-21:1 {\"a\":[2,{}]}", "24:1-26:1 {}");
        assertThat(frames("[\n  {\n    \"a\": 1\r\n  },\n  {\"b\": \"]},{\\\"\"}\n]\n"))
                .containsExactly(
                        "4:2-21:4 {~    \"a\": 1\r~  }", "25:5-40:5 {\"b\": \"]},{\\\"\"}");
        assertThat(frames("[]")).isEmpty();
        assertThat(frames(" [ ]\n")).isEmpty();
        assertThat(frames("\uFEFF[{}]")).containsExactly("4:1-6:1 {}");
    }

    @Test
    void what_is_no_object_is_an_element_too() {
        assertThat(frames("[1, \"a,]\", null,\n{}, true]"))
                .containsExactly(
                        "1:1-2:1 1",
                        "4:1-9:1 \"a,]\"",
                        "11:1-15:1 null",
                        "17:2-19:2 {}",
                        "21:2-25:2 true");
        assertThat(frames("[{}] and more\n{}"))
                .containsExactly("1:1-3:1 {}", "5:1-13:1 and more", "14:2-16:2 {}");
    }

    @Test
    void an_object_that_is_not_closed_takes_no_other_with_it() {
        assertThat(frames("[{\"a\":{\"b\":1},{\"a\":2}]"))
                .containsExactly(
                        "1:1-14:1 {\"a\":{\"b\":1}, !the object is not closed",
                        "14:1-21:1 {\"a\":2}");
        assertThat(frames("[{\"a\":1]"))
                .containsExactly("1:1-7:1 {\"a\":1 !the object is not closed");
        assertThat(frames("[{\"a\":1}},{\"a\":2}]"))
                .containsExactly("1:1-8:1 {\"a\":1}", "8:1-9:1 }", "10:1-17:1 {\"a\":2}");
        assertThat(frames("[{\"a\":\"x,\n\"b\":1},\n{\"c\":2}]"))
                .containsExactly(
                        "1:1-16:2 {\"a\":\"x,~\"b\":1} !a text goes over the end of its line",
                        "18:3-25:3 {\"c\":2}");
        assertThat(frames("[{\"a\":\"x},\n{\"b\":1},\n{\"c\":2}]"))
                .containsExactly(
                        "1:1-11:2 {\"a\":\"x},~ !the object is not closed",
                        "11:2-18:2 {\"b\":1}",
                        "20:3-27:3 {\"c\":2}");
        assertThat(frames("[{\"a\":1},{\"a\":"))
                .containsExactly("1:1-8:1 {\"a\":1}", "9:1-14:1 {\"a\":");
    }

    @Test
    void an_element_over_the_limit_is_refused_and_the_next_one_is_good() {
        String text = "[{\"a\":\"" + "x".repeat(100) + "\"},\n{\"b\":2}]";
        assertThat(frames(text))
                .containsExactly(
                        "1:1-109:1 {\"a\":\"" + "x".repeat(34)
                                + " !the record is longer than the limit of 40 bytes",
                        "111:2-118:2 {\"b\":2}");
        String huge = "[{\"a\":\"" + "x\\\"".repeat(100_000) + "\"},{\"b\":2}]";
        ElementFramer framer = new ElementFramer(
                input(huge.getBytes(StandardCharsets.UTF_8), 1 << 20), 0, 1, RECORD_BYTES_MAX);
        assertThat(framer.next()).isTrue();
        assertThat(framer.frame().fullLength()).isEqualTo(300_008);
        assertThat(framer.next()).isTrue();
        assertThat(framer.frame().text(20)).isEqualTo("{\"b\":2}");
        assertThat(framer.next()).isFalse();
    }

    @Test
    void half_an_element_waits_until_nothing_will_follow() {
        ElementFramer framer =
                new ElementFramer(input("[{}, {\"a\":".getBytes(StandardCharsets.UTF_8), 4), 0, 1);
        assertThat(framer.next()).isTrue();
        assertThat(framer.next()).isFalse();
        assertThat(framer.rest()).isNotNull();
        assertThat(framer.restIsOpen()).isTrue();
        assertThat(framer.next()).isFalse();
        assertThat(framer.nextOffset()).isEqualTo(5);
        framer.end();
        assertThat(framer.next()).isTrue();
        assertThat(framer.frame().text(20)).isEqualTo("{\"a\":");
        assertThat(framer.next()).isFalse();
        assertThat(framer.rest()).isNull();
    }

    @Test
    void any_cut_into_reads_and_any_restart_gives_the_same_elements() {
        long seed = Seeds.of("ElementFramerTest");
        SplittableRandom random = new SplittableRandom(seed);
        String alphabet = "{}[],:\"\\\n a1";
        for (int round = 0; round < 4_000; round++) {
            StringBuilder text = new StringBuilder("[");
            for (int i = random.nextInt(80); i > 0; i--) {
                text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            String as = Seeds.replay("ElementFramerTest", seed) + " text " + text;
            byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
            List<String> whole = frames(text.toString());
            int restart = random.nextInt(whole.size() + 1);
            RecordFramer first = new ElementFramer(input(bytes, 3), 0, 1, RECORD_BYTES_MAX);
            first.end();
            for (int i = 0; i < restart; i++) {
                assertThat(first.next()).isTrue();
            }
            int at = (int) first.nextOffset();
            byte[] rest = Arrays.copyOfRange(bytes, at, bytes.length);
            RecordFramer second =
                    new ElementFramer(input(rest, 3), at, first.nextLine(), RECORD_BYTES_MAX);
            assertThat(frames(second)).as(as).isEqualTo(whole.subList(restart, whole.size()));
        }
    }

    @Test
    void an_array_is_told_by_its_first_two_marks() {
        for (String array : List.of("[{", " \n[ {}]", "[]", "[ ] x", "\uFEFF[\n\t{", "[")) {
            assertThat(peeked(array).beginsArray()).as(array).isTrue();
        }
        for (String other : List.of("", "{}", "[1,2]", "[2013-01-01] started", "[\"a\"]", "a[{")) {
            assertThat(peeked(other).beginsArray()).as(other).isFalse();
        }
        PeekedInput input = peeked("[{}]");
        assertThat(input.beginsArray()).isTrue();
        assertThat(frames(new ElementFramer(input, 0, 1))).containsExactly("1:1-3:1 {}");
    }

    /** The bug: damage behind the first member of a gzip file came before what that member has. */
    @Test
    void it_looks_no_further_than_it_must() {
        byte[] lines = "  {\"a\":1}\n".getBytes(StandardCharsets.UTF_8);
        boolean[] isGiven = {false};
        PeekedInput input = new PeekedInput((target, offset, count) -> {
            assertThat(isGiven[0]).as("a second read").isFalse();
            isGiven[0] = true;
            System.arraycopy(lines, 0, target, offset, lines.length);
            return lines.length;
        });
        assertThat(input.beginsArray()).isFalse();
        byte[] read = new byte[100];
        assertThat(input.read(read, 0, 100)).isEqualTo(lines.length);
    }

    private static PeekedInput peeked(String text) {
        return new PeekedInput(input(text.getBytes(StandardCharsets.UTF_8), 1));
    }
}
