package io.turbidite.feeds.parse;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;
import io.turbidite.feeds.parse.RecordFramer.Quotes;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;

class LineFramerTest {
    /** What a frame was, in text: offset, line, content, and what is wrong with it. */
    private static List<String> frames(Quotes quotes, String text, int readBytes, int recordMax) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return frames(new LineFramer(input(bytes, readBytes), quotes, ',', 0, 1, recordMax));
    }

    private static List<String> frames(RecordFramer framer) {
        List<String> frames = new ArrayList<>();
        long behind = 0;
        for (int pass = 1; pass <= 2; pass++) {
            while (framer.next()) {
                RecordFrame frame = framer.frame();
                assertThat(frame.offset()).isGreaterThanOrEqualTo(behind);
                behind = frame.endOffset();
                frames.add(describe(frame));
            }
            RecordFrame rest = framer.rest();
            assertThat(rest == null || rest.offset() == behind || pass == 1).isTrue();
            framer.end();
        }
        assertThat(framer.rest()).isNull();
        return frames;
    }

    private static String describe(RecordFrame frame) {
        String content =
                new String(frame.bytes(), frame.start(), frame.length(), StandardCharsets.UTF_8);
        return "%d:%d-%d:%d %s%s"
                .formatted(
                        frame.offset(),
                        frame.line(),
                        frame.endOffset(),
                        frame.endLine(),
                        content.replace("\n", "\\n"),
                        frame.problem() == null ? "" : " !" + frame.problem());
    }

    /** Gives so many bytes a read. */
    static RecordFramer.Input input(byte[] bytes, int readBytes) {
        int[] at = {0};
        return (target, offset, count) -> {
            int step = Math.min(Math.min(readBytes, count), bytes.length - at[0]);
            if (step == 0) {
                return -1;
            }
            System.arraycopy(bytes, at[0], target, offset, step);
            at[0] += step;
            return step;
        };
    }

    private static List<String> csv(String text) {
        List<String> whole = frames(Quotes.RFC_4180, text, 1 << 20, 1 << 20);
        assertThat(frames(Quotes.RFC_4180, text, 1, 1 << 20))
                .as("read byte by byte")
                .isEqualTo(whole);
        return whole;
    }

    @Test
    void aRecordIsALineWithItsOffsetAndNumber() {
        assertThat(csv("a,b\nc,d\n")).containsExactly("0:1-4:2 a,b", "4:2-8:3 c,d");
    }

    @Test
    void theLastLineNeedsNoEndAndEmptyLinesAreNoRecords() {
        assertThat(csv("\na\n\r\n\nb")).containsExactly("1:2-3:3 a", "6:5-7:6 b");
        assertThat(csv("")).isEmpty();
        assertThat(csv("\n\n")).isEmpty();
    }

    @Test
    void aLineWithoutAnEndIsHeldBackUntilTheSourceHasEnded() {
        for (String text : List.of("a\nbc", "a\nbc\r", "a\n\"b\nc\n", "a\n" + "b".repeat(11))) {
            RecordFramer framer = new LineFramer(
                    input(text.getBytes(StandardCharsets.UTF_8), 2),
                    Quotes.RFC_4180,
                    ',',
                    0,
                    1,
                    10);
            assertThat(framer.next()).isTrue();
            assertThat(framer.next()).as(text).isFalse();
            assertThat(framer.next()).as(text).isFalse();
            RecordFrame rest = Objects.requireNonNull(framer.rest(), text);
            assertThat(rest.offset()).isEqualTo(2);
            assertThat(rest.line()).isEqualTo(2);
            framer.end();
            assertThat(framer.next()).as(text).isTrue();
            assertThat(framer.frame().offset()).isEqualTo(2);
            assertThat(framer.frame().length()).isLessThanOrEqualTo(10);
        }
        RecordFramer blank = new LineFramer(
                input("a\n\r".getBytes(StandardCharsets.UTF_8), 9), Quotes.NONE, ',', 0, 1);
        assertThat(blank.next()).isTrue();
        assertThat(blank.next()).isFalse();
        assertThat(blank.rest()).as("half a line end is no record").isNull();
    }

    @Test
    void carriageReturnsBeforeLineEndsAreLeftOut() {
        assertThat(csv("a\r\nb\r\n")).containsExactly("0:1-3:2 a", "3:2-6:3 b");
    }

    @Test
    void aByteOrderMarkIsPassedOver() {
        assertThat(csv("\uFEFFa\nb")).containsExactly("3:1-5:2 a", "5:2-6:3 b");
    }

    @Test
    void aQuotedFieldMayHoldLineEndsAndQuotes() {
        assertThat(csv("1,\"x\ny\",z\n2,\"a\"\"\nb\"\n3"))
                .containsExactly(
                        "0:1-10:3 1,\"x\\ny\",z", "10:3-20:5 2,\"a\"\"\\nb\"", "20:5-21:6 3");
    }

    @Test
    void aQuoteInsideAnUnquotedFieldIsACharacter() {
        assertThat(csv("5\" pipe,1\n6,2\n"))
                .containsExactly("0:1-10:2 5\" pipe,1", "10:2-14:3 6,2");
    }

    @Test
    void linesOfJsonKnowNoQuotes() {
        assertThat(frames(Quotes.NONE, "{\"a\n\"}\n", 3, 100))
                .containsExactly("0:1-4:2 {\"a", "4:2-7:3 \"}");
    }

    @Test
    void aQuoteThatIsNeverClosedCostsItsFirstLineOnly() {
        assertThat(csv("1,a\n2,\"b\n3,c\n4,d"))
                .containsExactly(
                        "0:1-4:2 1,a",
                        "4:2-9:3 2,\"b !a quoted field is not closed",
                        "9:3-13:4 3,c",
                        "13:4-16:5 4,d");
        assertThat(csv("\"")).containsExactly("0:1-1:2 \" !a quoted field is not closed");
    }

    @Test
    void cuttingAFrameGoesOnInTheSecondLine() {
        byte[] bytes = "1,\"a\nb\"x\nc\n".getBytes(StandardCharsets.UTF_8);
        RecordFramer framer = new LineFramer(input(bytes, 4), Quotes.RFC_4180, ',', 0, 1);
        assertThat(framer.next()).isTrue();
        assertThat(framer.frame().spansLines()).isTrue();
        framer.cutToFirstLine();
        assertThat(describe(framer.frame())).isEqualTo("0:1-5:2 1,\"a");
        assertThat(frames(framer)).containsExactly("5:2-9:3 b\"x", "9:3-11:4 c");
    }

    @Test
    void aRecordOverTheLimitIsOneFrameAndTheRestGoesOn() {
        String text =
                "ok\n" + "x".repeat(200_000) + "\nok\n" + "y".repeat(101) + "\n" + "z".repeat(100);
        String tooLong = " !the record is longer than the limit of 100 bytes";
        for (int readBytes : new int[] {1, 7, 1 << 20}) {
            assertThat(frames(Quotes.NONE, text, readBytes, 100))
                    .containsExactly(
                            "0:1-3:2 ok",
                            "3:2-200004:3 " + "x".repeat(100) + tooLong,
                            "200004:3-200007:4 ok",
                            "200007:4-200109:5 " + "y".repeat(100) + tooLong,
                            "200109:5-200209:6 " + "z".repeat(100));
        }
        assertThat(frames(Quotes.NONE, "x".repeat(300), 50, 100))
                .containsExactly("0:1-300:2 " + "x".repeat(100) + tooLong);
    }

    @Test
    void aFileOfOpenQuotesTakesTimeInProportionToItsLength() {
        // Each line opens a quoted field both as a record's first line and inside a quoted field.
        int lines = 10_000;
        byte[] bytes = "a\",\"\n".repeat(lines).getBytes(StandardCharsets.UTF_8);
        int count = 0;
        RecordFramer.Input input = input(bytes, 1 << 16);
        LineFramer framer = new LineFramer(input, Quotes.RFC_4180, ',', 0, 1);
        framer.end();
        while (framer.next()) {
            count++;
        }
        assertThat(count).isEqualTo(lines);
        assertThat(framer.scannedBytes()).isLessThan((2L << 20) + lines * 4_500L);
    }

    @Test
    void anyCutIntoReadsAndAnyRestartGivesTheSameFrames() {
        long seed = Seeds.of("LineFramerTest");
        SplittableRandom random = new SplittableRandom(seed);
        String alphabet = "a,\"\"\n\n\rbé";
        for (int round = 0; round < 2_000; round++) {
            StringBuilder text = new StringBuilder();
            for (int i = random.nextInt(60); i > 0; i--) {
                text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
            List<String> whole = frames(Quotes.RFC_4180, text.toString(), 1 << 20, 1 << 20);
            String as = Seeds.replay("LineFramerTest", seed) + " text " + text;
            assertThat(frames(Quotes.RFC_4180, text.toString(), 1 + random.nextInt(5), 1 << 20))
                    .as(as)
                    .isEqualTo(whole);
            int restart = whole.isEmpty() ? 0 : random.nextInt(whole.size());
            RecordFramer first =
                    new LineFramer(input(bytes, 3), Quotes.RFC_4180, ',', 0, 1, 1 << 20);
            first.end();
            for (int i = 0; i < restart; i++) {
                assertThat(first.next()).isTrue();
            }
            int at = (int) first.nextOffset();
            byte[] rest = java.util.Arrays.copyOfRange(bytes, at, bytes.length);
            RecordFramer second = new LineFramer(
                    input(rest, 3), Quotes.RFC_4180, ',', at, first.nextLine(), 1 << 20);
            assertThat(frames(second)).as(as).isEqualTo(whole.subList(restart, whole.size()));
        }
    }

    @Test
    void aTextThatStaysWhereItLiesHasTheSameFrames() {
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < 300; i++) {
            StringBuilder text = new StringBuilder();
            for (int line = random.nextInt(30); line > 0; line--) {
                text.append("a".repeat(random.nextInt(40)))
                        .append(random.nextInt(3) == 0 ? "\r\n" : "\n");
            }
            byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
            byte[] longer = Arrays.copyOf(bytes, bytes.length + random.nextInt(100));
            Arrays.fill(longer, bytes.length, longer.length, (byte) '\n');
            List<String> copied =
                    frames(new LineFramer(input(bytes, 1 << 16), Quotes.NONE, ',', 1, 5, 25));
            assertThat(frames(new LineFramer(longer, bytes.length, 1, 5, 25))).isEqualTo(copied);
            assertThat(Arrays.copyOf(longer, bytes.length)).isEqualTo(bytes);
        }
    }

    @Test
    void aBufferThatWasAnotherFramersChangesNothing() {
        byte[] buffer = new byte[16];
        Arrays.fill(buffer, (byte) '\n');
        byte[] text = ("a".repeat(40) + "\nb\nc").getBytes(StandardCharsets.UTF_8);
        for (int readBytes = 1; readBytes < 20; readBytes++) {
            assertThat(frames(
                            new LineFramer(input(text, readBytes), Quotes.NONE, ',', 0, 1, buffer)))
                    .containsExactly("0:1-41:2 " + "a".repeat(40), "41:2-43:3 b", "43:3-44:4 c");
        }
    }

    /** What comes in pieces, with nothing between them, is cut as what is there at once. */
    @Test
    void whereTheInputHadNoMoreItGoesOn() {
        long seed = Seeds.of("LineFramerTest");
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 3_000; round++) {
            StringBuilder text = new StringBuilder(random.nextInt(10) == 0 ? "\uFEFF" : "");
            for (int i = random.nextInt(80); i > 0; i--) {
                text.append("ab,\"\"\n\r\n".charAt(random.nextInt(8)));
            }
            byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
            Quotes quotes = random.nextBoolean() ? Quotes.NONE : Quotes.RFC_4180;
            int recordMax = random.nextInt(5, 40);
            List<String> whole = frames(quotes, text.toString(), 1 << 20, recordMax);
            assertThat(framesInPieces(bytes, quotes, recordMax, random))
                    .as("%s: %s", Seeds.replay("LineFramerTest", seed), text)
                    .isEqualTo(whole);
        }
    }

    private static List<String> framesInPieces(
            byte[] bytes, Quotes quotes, int recordMax, SplittableRandom random) {
        int[] at = {0};
        LineFramer framer = new LineFramer(
                (target, offset, count) -> {
                    if (at[0] == bytes.length || random.nextBoolean()) {
                        return -1;
                    }
                    int step = Math.min(count, random.nextInt(1, bytes.length - at[0] + 1));
                    System.arraycopy(bytes, at[0], target, offset, step);
                    at[0] += step;
                    return step;
                },
                quotes,
                ',',
                0,
                1,
                recordMax);
        List<String> frames = new ArrayList<>();
        int passes = 0;
        for (boolean isLast = false; !isLast; ) {
            isLast = at[0] == bytes.length;
            assertThat(++passes).as("it stands still").isLessThan(100 * (bytes.length + 1));
            if (isLast) {
                framer.end();
            } else {
                framer.goOn();
            }
            while (framer.next()) {
                frames.add(describe(framer.frame()));
            }
        }
        return frames;
    }
}
