package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;

/** The loop over files and positions: runs that end, are killed, stopped and begun again. */
class FeedRunTest {
    private final SimulatedFeed feed = new SimulatedFeed();

    @Test
    void aRunDeliversEveryRecordAndLetter() {
        feed.disk.put("a.csv", SimulatedFeed.lines(0, 3_000));
        assertThat(feed.run("a.csv")).isTrue();
        feed.hasAll(3_000);
        assertThat(feed.memory.letters.toString().lines().findFirst().orElseThrow())
                .isEqualTo("{\"source\":\"a.csv\",\"line\":6,\"offset\":36,\"reason\":\"field 'id':"
                        + " 'bad3' is not of type int64; expected an"
                        + " integer\",\"raw\":\"bad3,x\"}");
    }

    @Test
    void runningAFinishedFeedAgainDoesNothing() {
        feed.disk.put("a.csv", SimulatedFeed.lines(0, 1_000));
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.run("a.csv")).isTrue();
        feed.hasAll(1_000);
    }

    @Test
    void aRunThatWasKilledAnywhereIsGoneOnWith() {
        long seed = Seeds.of("FeedRunTest");
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 12; round++) {
            String as = Seeds.replay("FeedRunTest", seed) + " round " + round;
            feed.memory.clear();
            byte[] bytes = SimulatedFeed.lines(0, 6_000);
            feed.disk.put(
                    "a.csv",
                    switch (random.nextInt(3)) {
                        case 0 -> bytes;
                        case 1 -> SimulatedFeed.gzip(bytes);
                        default ->
                            SimulatedFeed.join(SimulatedFeed.members(bytes, random.nextInt(2, 40)));
                    });
            int kills = 0;
            for (boolean finished = false; !finished && kills < 100; kills++) {
                feed.memory.killIn = random.nextInt(1, 9);
                feed.memory.killAfterCommit = random.nextBoolean();
                int stopAfter = random.nextInt(3_000);
                int[] asked = {0};
                try {
                    finished = feed.run("a.csv", () -> ++asked[0] > stopAfter);
                } catch (IllegalStateException e) {
                    assertThat(e).as(as).hasMessage("killed");
                }
            }
            feed.memory.killIn = Integer.MAX_VALUE;
            assertThat(feed.run("a.csv")).as(as).isTrue();
            feed.hasAll(6_000);
        }
    }

    /** The bug: the position was behind it, and what came before it was delivered with that. */
    @Test
    void a_record_whose_making_fails_is_read_again() {
        feed.disk.put("a.csv", SimulatedFeed.lines(0, 3_000));
        for (int failAt : new int[] {1, 700, 1_024, 1_500}) {
            feed.failAt = failAt;
            assertThatThrownBy(() -> feed.run("a.csv")).isInstanceOf(StorageIoException.class);
            feed.failAt = 0;
        }
        assertThat(feed.run("a.csv")).isTrue();
        feed.hasAll(3_000);
    }

    @Test
    void stoppingKeepsWhatWasRead() {
        feed.disk.put("a.csv", SimulatedFeed.lines(0, 3_000));
        int[] asked = {0};
        assertThat(feed.run("a.csv", () -> ++asked[0] == 700)).isFalse();
        assertThat(feed.memory.ids).hasSizeBetween(690, 700);
        assertThat(feed.run("a.csv")).isTrue();
        feed.hasAll(3_000);
    }

    @Test
    void aDirectoryIsReadFileByFileAndNewFilesAreFound() {
        feed.disk.createDirectories("in");
        feed.disk.put("in/b.csv", SimulatedFeed.lines(1_000, 2_000));
        feed.disk.put("in/a.csv", SimulatedFeed.gzip(SimulatedFeed.lines(0, 1_000)));
        assertThat(feed.run("in")).isTrue();
        assertThat(feed.memory.ids).hasSize(2_000).isSorted();
        feed.disk.put("in/aa.csv", SimulatedFeed.lines(2_000, 2_500));
        feed.disk.put("in/empty.csv", new byte[0]);
        assertThat(feed.run("in")).isTrue();
        assertThat(feed.run("in")).isTrue();
        assertThat(feed.memory.ids).hasSize(2_500).isSorted();
    }

    @Test
    void aFileThatHasGrownIsGoneOnWith() {
        byte[] all = SimulatedFeed.lines(0, 2_000);
        feed.disk.put(
                "a.csv", Arrays.copyOf(all, all.length - 5)); // in the middle of the last line
        assertThat(feed.run("a.csv")).isTrue();
        int before = feed.memory.ids.size();
        byte[] more = Arrays.copyOf(all, all.length + 9);
        System.arraycopy("\n2000,new".getBytes(StandardCharsets.UTF_8), 0, more, all.length - 5, 9);
        feed.disk.put("a.csv", Arrays.copyOf(more, all.length + 4));
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.ids).hasSize(before + 1).endsWith(2_000L);
    }

    @Test
    void anotherFileUnderTheNameIsRefused() {
        feed.disk.put("a.csv", SimulatedFeed.lines(0, 1_000));
        assertThat(feed.run("a.csv")).isTrue();
        feed.disk.put("a.csv", SimulatedFeed.lines(0, 500));
        assertThatThrownBy(() -> feed.run("a.csv"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "a.csv is not the file that feed f has read up to line 1023: it has only 4483 bytes of the 9063 that were read; put that one back, or load this one by a feed of another name");
        feed.disk.put("a.csv", SimulatedFeed.lines(7, 2_000));
        assertThatThrownBy(() -> feed.run("a.csv")).hasMessageContaining("it begins otherwise");
    }

    @Test
    void aHeaderThatDoesNotFitEndsTheRunWithTheFilesName() {
        feed.disk.put("a.csv", "id,nome\n1,x\n".getBytes(StandardCharsets.UTF_8));
        assertThatThrownBy(() -> feed.run("a.csv"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContainingAll("a.csv", "required field 'name'", "id, nome");
        assertThat(feed.memory.positions).isEmpty();
    }

    @Test
    void aBrokenQuoteCostsOneLine() {
        feed.disk.put(
                "a.csv",
                "id,name\n0,a\n1,\"b\n2,c\n3,\"d\"e\n4,f\n".getBytes(StandardCharsets.UTF_8));
        assertThat(feed.run("a.csv")).isTrue();
        assertThat(feed.memory.ids).containsExactly(0L, 2L, 4L);
        assertThat(feed.memory.letters.toString().lines()).hasSize(2);
    }
}
