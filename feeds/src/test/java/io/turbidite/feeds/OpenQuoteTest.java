package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.Limits;
import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Quotes that are open where a file ends: they wait for what closes them, or are broken. */
class OpenQuoteTest {
    private final SimulatedFeed feed = new SimulatedFeed();

    @Test
    void anOpenQuoteOfAFileThatIsWrittenWaitsWithItsLines() {
        feed.putYoung("a.csv", "id,name\n1,a\n2,\"b\nb\n");
        feed.whileWaiting(() -> feed.disk.touch("a.csv", feed.clock.wallMicros()));
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.ids).containsExactly(1L);
        feed.putYoung("a.csv", "id,name\n1,a\n2,\"b\nb\n\"\n");
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.ids).containsExactly(1L, 2L);
        assertThat(feed.memory.letters).isEmpty();
    }

    /** A file that nobody has touched for long. */
    private void putRested(String text) {
        feed.disk.put("a.csv", text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aQuotedFieldThatGrowsOverThreeRunsWaitsThoughTheFileRests() {
        StringBuilder text = new StringBuilder("id,name\n1,a\n2,\"b");
        for (String more : List.of("\nDear Sir,\n", "yours\n\n", "3,", "\"\"x\"\"\nend")) {
            text.append(more);
            putRested(text.toString());
            assertThat(feed.run("a.csv")).isTrue();
            assertThat(feed.memory.ids).containsExactly(1L);
            assertThat(feed.memory.letters).isEmpty();
            assertThat(feed.run.waiting()).isEqualTo(1);
            assertThat(feed.memory.require("a.csv").offset()).isEqualTo(12);
            assertThat(feed.memory.require("a.csv").ended()).isFalse();
        }
        putRested(text + "\"\n4,d\n");
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.ids).containsExactly(1L, 2L, 4L);
        assertThat(feed.memory.names)
                .containsExactly("a", "b\nDear Sir,\nyours\n\n3,\"x\"\nend", "d");
        assertThat(feed.memory.letters).isEmpty();
        assertThat(feed.events.recent()).isEmpty();
        assertThat(feed.run.waiting()).isZero();
    }

    @Test
    void anOpenQuoteIsWaitedForFromItsRecordAndNotFromTheStartOfTheFile() {
        StringBuilder text = new StringBuilder("id,name\n");
        for (int i = 0; i < 200_000; i++) {
            text.append(i).append(",name\n");
        }
        text.append("-1,\"two\n");
        putRested(text.toString());
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.ids).hasSize(200_000);
        long[] steps = {0};
        feed.disk.onOperation(operation -> steps[0]++);
        putRested(text.append("lines\n").toString());
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(steps[0]).as("calls to the disk").isLessThan(20);
        putRested(text.append("\"\n").toString());
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.names).hasSize(200_001).endsWith("two\nlines\n");
    }

    @Test
    void killsWhileAQuotedFieldGrowsLoseAndRepeatNothing() {
        long seed = Seeds.of("OpenQuoteTest");
        SplittableRandom random = new SplittableRandom(seed);
        byte[] all = SimulatedFeed.lines(0, 300);
        List<Integer> ends = new ArrayList<>(); // of lines, within quotes or not
        for (int i = 8; i < all.length; i++) {
            if (all[i - 1] == '\n') {
                ends.add(i);
            }
        }
        for (int round = 0; round < 40; round++) {
            String as = Seeds.replay("OpenQuoteTest", seed) + " round " + round;
            feed.memory.clear();
            for (int at = 0; at < ends.size(); at += 1 + random.nextInt(40)) {
                putRested(new String(all, 0, ends.get(at), StandardCharsets.UTF_8));
                feed.memory.killIn = random.nextInt(1, 4);
                feed.memory.killAfterCommit = random.nextBoolean();
                try {
                    feed.run("a.csv");
                } catch (IllegalStateException e) {
                    assertThat(e).as(as).hasMessage("killed");
                }
            }
            feed.memory.killIn = Integer.MAX_VALUE;
            putRested(new String(all, StandardCharsets.UTF_8));
            assertThat(feed.run("a.csv")).as(as).isTrue();
            feed.hasAll(300);
            assertThat(feed.events.recent()).as(as).isEmpty();
        }
    }

    @Test
    void aQuoteThatIsNeverClosedWaitsForAsLongAsARecordMayBe() {
        String line = "no record at all, this,\n";
        StringBuilder text = new StringBuilder("id,name\n1,\"a\n");
        text.append(line.repeat(Limits.RECORD_BYTES_MAX / line.length() - 1));
        putRested(text.toString());
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.letters).isEmpty();
        assertThat(feed.run.waiting()).isEqualTo(1);
        putRested(text.append(line).append(line).append("2,b\n").toString());
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.ids).containsExactly(2L);
        assertThat(feed.run.waiting()).isZero();
        assertThat(feed.memory.letters.toString().lines().findFirst().orElseThrow())
                .isEqualTo(
                        "{\"source\":\"a.csv\",\"line\":2,\"offset\":8,\"reason\":\"a quoted field is"
                                + " not closed, and a record can't be longer than 16777216 bytes\","
                                + "\"raw\":\"1,\\\"a\"}");
    }

    @Test
    void anOpenQuoteWithRecordsBehindItIsBrokenAndHoldsNothingBack() {
        putRested("id,name\n1,\"a\n2,b\nbad\n3,c\n4,\"d\n");
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.letters.toString().lines()).hasSize(2);
        assertThat(feed.memory.ids).containsExactly(2L, 3L);
        assertThat(feed.run.waiting()).as("the last one may still be closed").isEqualTo(1);
        putRested("id,name\n1,\"a\n2,b\nbad\n3,c\n4,\"d\ne\"\n");
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.names).containsExactly("b", "c", "d\ne");
        assertThat(feed.memory.letters.toString().lines()).hasSize(2);
    }

    @Test
    void oneLineThatLooksLikeARecordMayBeTextOfAnOpenField() {
        putRested("id,name\n1,\"a\n2,b\n");
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.ids).isEmpty();
        assertThat(feed.run.waiting()).isEqualTo(1);
        putRested("id,name\n1,\"a\n2,b\n\"\n");
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.names).containsExactly("a\n2,b\n");
    }

    @Test
    void anOpenQuoteAtTheEndOfCompressedContentIsADeadLetter() {
        feed.disk.put(
                "a.csv",
                SimulatedFeed.gzip("id,name\n1,a\n2,\"b\nb\n".getBytes(StandardCharsets.UTF_8)));
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.ids).containsExactly(1L);
        assertThat(feed.memory.letters.toString().lines()).hasSize(2);
        assertThat(feed.memory.require("a.csv").ended()).isTrue();
    }

    @Test
    void anOpenQuoteInTheHeaderWaitsThoughTheFileRests() {
        putRested("id,\"na");
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.run.waiting()).isEqualTo(1);
        putRested("id,\"name\"\n1,a\n");
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.ids).containsExactly(1L);
    }
}
