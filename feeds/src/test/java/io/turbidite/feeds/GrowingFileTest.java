package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.Limits;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;

/** Files that are written while a feed reads them, or between its runs. */
class GrowingFileTest {
    private final SimulatedFeed feed = new SimulatedFeed();

    @Test
    void theUnfinishedLineOfAFileThatIsWrittenWaits() {
        feed.putYoung("a.csv", "id,name\n11,a\n12");
        feed.whileWaiting(() -> feed.putYoung("a.csv", "id,name\n11,a\n1234"));
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.ids).containsExactly(11L);
        assertThat(feed.memory.letters).isEmpty();
        assertThat(feed.run.waiting()).isEqualTo(1);
        assertThat(feed.memory.require("a.csv").offset()).isEqualTo(13);
        feed.putYoung("a.csv", "id,name\n11,a\n1234,b\n");
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.ids).containsExactly(11L, 1234L);
        assertThat(feed.memory.letters).isEmpty();
        assertThat(feed.run.waiting()).isZero();
    }

    @Test
    void theLastLineOfAFileThatRestsNeedsNoEnd() {
        feed.disk.put("a.csv", "id,name\n11,a\n12,b".getBytes(StandardCharsets.UTF_8));
        long before = feed.clock.monotonicNanos();
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.ids).containsExactly(11L, 12L);
        assertThat(feed.clock.monotonicNanos() - before)
                .as("it waits for nothing")
                .isLessThan(SimulatedFeed.SECOND);
        // a young one, that nobody touches while it is looked at
        feed.putYoung("b.csv", "id,name\n13,a\n14,b");
        assertThat(feed.run("b.csv")).isTrue();
        assertThat(feed.memory.ids).containsExactly(11L, 12L, 13L, 14L);
        assertThat(feed.clock.monotonicNanos() - before)
                .isBetween(2 * SimulatedFeed.SECOND, 3 * SimulatedFeed.SECOND);
    }

    @Test
    void aTouchedFileIsStillWritten() {
        feed.putYoung("a.csv", "id,name\n11,a\n12,b");
        feed.whileWaiting(() -> feed.disk.touch("a.csv", feed.clock.wallMicros()));
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.ids).containsExactly(11L);
        assertThat(feed.run.waiting()).isEqualTo(1);
    }

    @Test
    void aFileFromTheFutureIsStillWrittenUntilItRests() {
        feed.putYoung("a.csv", "id,name\n11,a\n12,b");
        feed.disk.touch("a.csv", feed.clock.wallMicros() + 3_600_000_000L);
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.ids).containsExactly(11L, 12L);
        assertThat(feed.clock.monotonicNanos()).isGreaterThan(2 * SimulatedFeed.SECOND);
    }

    /** The bug: an hour old by the wall clock, so half a record was taken for a whole one. */
    @ParameterizedTest
    @ValueSource(longs = {3_600_000_000L, -3_600_000_000L})
    void aFileIsNoOlderBecauseTheClockIsSet(long jumpMicros) {
        feed.putYoung("a.csv", "id,name\n11,a\n12,b");
        feed.whileWaiting(() -> feed.disk.touch("a.csv", feed.clock.wallMicros()));
        boolean[] isSet = {false};
        boolean ended = feed.run("a.csv", () -> {
            if (!isSet[0] && feed.disk.openHandleCount() > 0) {
                feed.clock.jumpWallMicros(jumpMicros);
                isSet[0] = true;
            }
            return false;
        });
        assertThat(ended && isSet[0]).isTrue();
        assertThat(feed.memory.ids).containsExactly(11L);
        assertThat(feed.run.waiting()).isEqualTo(1);
    }

    @Test
    void compressedContentHasAnEnd() {
        feed.disk.put(
                "a.gz", SimulatedFeed.gzip("id,name\n11,a\n12,b".getBytes(StandardCharsets.UTF_8)));
        feed.disk.touch("a.gz", feed.clock.wallMicros());
        assertThat(feed.run("a.gz")).isTrue();
        assertThat(feed.memory.ids).containsExactly(11L, 12L);
        assertThat(feed.clock.monotonicNanos()).isLessThan(SimulatedFeed.SECOND);
    }

    @Test
    void jsonIsWholeAtItsClosingBracket() {
        feed.json = true;
        String whole = "{\"id\":1,\"name\":\"}{\"}\n{\"id\":2,\"name\":\"\\\"}\"}";
        feed.putYoung("a.json", whole);
        assertThat(feed.run("a.json")).isTrue();
        assertThat(feed.memory.ids).containsExactly(1L, 2L);
        assertThat(feed.clock.monotonicNanos()).isLessThan(SimulatedFeed.SECOND);
        feed.putYoung("a.json", whole + " \r\n{\"id\":3,\"name\":\"{}");
        feed.whileWaiting(() -> feed.disk.touch("a.json", feed.clock.wallMicros()));
        assertThat(feed.run("a.json")).isTrue();
        assertThat(feed.memory.ids).containsExactly(1L, 2L);
        assertThat(feed.memory.letters).isEmpty();
        assertThat(feed.events.recent()).isEmpty();
        assertThat(feed.run.waiting()).isEqualTo(1);
    }

    @Test
    void anUnfinishedHeaderWaits() {
        feed.putYoung("a.csv", "id,na");
        feed.whileWaiting(() -> feed.putYoung("a.csv", "id,name\n1"));
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.positions).isEmpty();
        assertThat(feed.run.waiting()).isEqualTo(1);
        feed.putYoung("a.csv", "id,name\n1,a\n");
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.ids).containsExactly(1L);
    }

    @Test
    void aLineOverTheLimitWaitsForItsEndToo() {
        feed.json = true;
        String tooLong = "{\"id\":1,\"name\":\"" + "x".repeat(Limits.RECORD_BYTES_MAX);
        feed.putYoung("a.json", tooLong);
        feed.whileWaiting(() -> feed.disk.touch("a.json", feed.clock.wallMicros()));
        assertThat(feed.run("a.json")).isTrue();
        assertThat(feed.memory.letters).isEmpty();
        assertThat(feed.run.waiting()).isEqualTo(1);
        feed.putYoung("a.json", tooLong + "\"}\n{\"id\":2,\"name\":\"b\"}\n");
        assertThat(feed.run("a.json")).isTrue();
        assertThat(feed.memory.letters.toString().lines()).hasSize(1);
        assertThat(feed.memory.letters.toString())
                .contains("\"rawBytes\":%d,".formatted(tooLong.length() + 2));
        assertThat(feed.memory.ids).containsExactly(2L);
    }

    @Test
    void aStoppedRunWaitsForNoFile() {
        feed.putYoung("a.csv", "id,name\n11,a\n12,b");
        boolean[] stop = {false};
        feed.whileWaiting(() -> stop[0] = true);
        assertThat(feed.run("a.csv", () -> stop[0])).isFalse();
        assertThat(feed.memory.ids).containsExactly(11L);
        assertThat(feed.clock.monotonicNanos()).isLessThan(SimulatedFeed.SECOND);
    }

    /** The file rests in the middle of a line for more than two seconds, and then goes on. */
    private void goesOn(String taken, String now) {
        String head = "id,name\n11,a\n";
        feed.disk.put("a.csv", (head + taken).getBytes(StandardCharsets.UTF_8));
        assertThat(feed.run("a.csv")).isTrue();
        feed.disk.put("a.csv", (head + now).getBytes(StandardCharsets.UTF_8));
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.run("a.csv")).as("and that is all").isTrue();
    }

    private StoreEvent.SourceContinued onlyEvent() {
        assertThat(feed.events.recent()).hasSize(1);
        return (StoreEvent.SourceContinued) feed.events.recent().getFirst();
    }

    @Test
    void aTakenRecordThatGoesOnIsReplaced() {
        goesOn("12,b", "12,bcd\n13,e\n");
        assertThat(feed.memory.ids).containsExactly(11L, 12L, 12L, 13L);
        assertThat(feed.memory.names).containsExactly("a", "b", "bcd", "e");
        assertThat(feed.memory.letters).isEmpty();
        StoreEvent.SourceContinued event = onlyEvent();
        assertThat(event.before()).isEqualTo("12,b");
        assertThat(event.after()).isEqualTo("12,bcd");
        assertThat(event.file()).isEqualTo("a.csv");
        assertThat(event.line()).isEqualTo(3);
        assertThat(event.offset()).isEqualTo(13);
        assertThat(event.outcome()).isEqualTo("replaced");
    }

    @Test
    void aTakenRecordThatGoesOnUnderAnotherKeyLeavesADeadLetter() {
        feed.memory.replacing = false;
        goesOn("12,b", "12,bcd\n13,e\n");
        assertThat(feed.memory.ids).containsExactly(11L, 12L, 13L);
        assertThat(feed.memory.letters.toString().lines()).hasSize(1);
        assertThat(feed.memory.letters.toString())
                .contains("\"line\":3,\"offset\":13", "12,bcd", "went on", "'12,b'");
        assertThat(onlyEvent().outcome()).isEqualTo("rejected");
    }

    @Test
    void whatWasADeadLetterIsTakenWhenItGoesOn() {
        goesOn("12", "1234,b\n13,e\n");
        assertThat(feed.memory.ids).containsExactly(11L, 1234L, 13L);
        assertThat(feed.memory.letters.toString().lines()).hasSize(1);
        assertThat(onlyEvent().outcome()).isEqualTo("taken");
    }

    @Test
    void aLineEndAloneIsNoNews() {
        goesOn("12,b", "12,b\r\n13,e\n");
        assertThat(feed.memory.ids).containsExactly(11L, 12L, 13L);
        assertThat(feed.memory.letters).isEmpty();
        assertThat(feed.events.recent()).isEmpty();
        assertThat(feed.memory.require("a.csv").line()).isEqualTo(5);
    }

    @Test
    void aTakenRecordOfSeveralLinesThatGoesOnIsFoundFromItsStart() {
        goesOn("12,\"b\nc\"", "12,\"b\nc\"\"d\"\n13,e\n");
        assertThat(feed.memory.names).containsExactly("a", "b\nc", "b\nc\"d", "e");
        assertThat(onlyEvent().line()).isEqualTo(3);
    }

    @Test
    void aTakenRecordThatGoesOnAndIsStillUnfinishedWaits() {
        feed.disk.put("a.csv", "id,name\n11,a\n12,b".getBytes(StandardCharsets.UTF_8));
        assertThat(feed.run("a.csv")).isTrue();
        feed.putYoung("a.csv", "id,name\n11,a\n12,bc");
        feed.whileWaiting(() -> feed.disk.touch("a.csv", feed.clock.wallMicros()));
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.run.waiting()).isEqualTo(1);
        assertThat(feed.memory.names).containsExactly("a", "b");
        assertThat(feed.events.recent()).isEmpty();
        feed.putYoung("a.csv", "id,name\n11,a\n12,bcd\n");
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.names).containsExactly("a", "b", "bcd");
        assertThat(onlyEvent().before()).isEqualTo("12,b");
    }

    @Test
    void aFileThatGrowsAnywhereBetweenRunsGivesEachRecordOnce() {
        long seed = Seeds.of("GrowingFileTest");
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 40; round++) {
            String as = Seeds.replay("GrowingFileTest", seed) + " round " + round;
            feed.memory.clear();
            byte[] all = SimulatedFeed.lines(0, 300);
            int length = 0;
            while (length < all.length) {
                length = Math.min(all.length, length + 1 + random.nextInt(900));
                feed.disk.put("a.csv", Arrays.copyOf(all, length));
                feed.disk.touch("a.csv", feed.clock.wallMicros());
                feed.whileWaiting(() -> feed.disk.touch("a.csv", feed.clock.wallMicros()));
                assertThat(feed.run("a.csv")).as(as).isTrue();
            }
            feed.hasAll(300);
            assertThat(feed.events.recent()).isEmpty();
        }
    }
}
