package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Files that are one JSON array. */
class ArrayFileTest {
    private final SimulatedFeed feed = new SimulatedFeed();

    ArrayFileTest() {
        feed.json = true;
    }

    /** Elements of several lines, from {@code from} to {@code to}; every hundredth is none. */
    private static String array(int from, int to) {
        StringBuilder text = new StringBuilder("[");
        for (int id = from; id < to; id++) {
            text.append(id == from ? "\n" : ",\n")
                    .append(id % 100 == 99 ? "\"none\",\n" : "")
                    .append("  {\n    \"id\": ")
                    .append(id)
                    .append(",\n    \"name\": \"n}]\\\"\"\n  }");
        }
        return text.append("\n]\n").toString();
    }

    private void hasAll(int count) {
        assertThat(feed.memory.ids)
                .containsExactlyElementsOf(
                        IntStream.range(0, count).mapToObj(Long::valueOf).toList());
        assertThat(feed.memory.letters.toString().lines()).hasSize(count / 100);
    }

    @Test
    void each_element_is_a_record_or_a_dead_letter_with_its_place() {
        feed.disk.put("a.json", array(0, 2_000).getBytes(StandardCharsets.UTF_8));
        assertThat(feed.run("a.json")).isTrue();
        hasAll(2_000);
        assertThat(feed.memory.letters.toString().lines().findFirst().orElseThrow())
                .contains("\"line\":398,")
                .contains("\"raw\":\"\\\"none\\\"\"");
        assertThat(feed.run("a.json")).isTrue();
        hasAll(2_000);
    }

    @Test
    void a_run_that_was_killed_anywhere_is_gone_on_with() {
        long seed = Seeds.of("ArrayFileTest");
        SplittableRandom random = new SplittableRandom(seed);
        byte[] bytes = array(0, 3_000).getBytes(StandardCharsets.UTF_8);
        for (int round = 0; round < 10; round++) {
            String as = Seeds.replay("ArrayFileTest", seed) + " round " + round;
            feed.memory.clear();
            feed.disk.put(
                    "a.json",
                    round % 2 == 0
                            ? bytes
                            : SimulatedFeed.join(
                                    SimulatedFeed.members(bytes, random.nextInt(2, 20))));
            int kills = 0;
            for (boolean finished = false; !finished && kills < 100; kills++) {
                feed.memory.killIn = random.nextInt(1, 6);
                feed.memory.killAfterCommit = random.nextBoolean();
                int stopAfter = random.nextInt(2_000);
                int[] asked = {0};
                try {
                    finished = feed.run("a.json", () -> ++asked[0] > stopAfter);
                } catch (IllegalStateException e) {
                    assertThat(e).as(as).hasMessage("killed");
                }
            }
            feed.memory.killIn = Integer.MAX_VALUE;
            assertThat(feed.run("a.json")).as(as).isTrue();
            hasAll(3_000);
        }
    }

    /** Its closing bracket was taken for the end of what it has. */
    @Test
    void an_array_that_was_closed_and_then_grew_is_refused() {
        String closed = "[{\"id\":0,\"name\":\"a\"}";
        feed.disk.put("a.json", (closed + "]").getBytes(StandardCharsets.UTF_8));
        assertThat(feed.run("a.json")).isTrue();
        assertThat(feed.memory.ids).containsExactly(0L);
        feed.disk.put(
                "a.json",
                (closed + ",{\"id\":1,\"name\":\"b\"}]").getBytes(StandardCharsets.UTF_8));
        assertThatThrownBy(() -> feed.run("a.json"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("a.json is not the file that feed f has read");
        assertThat(feed.memory.ids).containsExactly(0L);
    }

    /** Half of it would be a dead letter, and what follows might look like a record. */
    @Test
    void half_an_element_waits_however_long_the_file_rests() {
        String half = "[{\"id\":1,\"name\":\"a\",\"more\":";
        String rest = "{\"id\":7,\"name\":\"x\"}},{\"id\":2,\"name\":\"b\"}]";
        feed.disk.put("a.json", half.getBytes(StandardCharsets.UTF_8));
        assertThat(feed.run("a.json")).isTrue();
        assertThat(feed.memory.ids).isEmpty();
        assertThat(feed.memory.letters).isEmpty();
        assertThat(feed.run.waiting()).isEqualTo(1);
        feed.disk.put("a.json", (half + rest).getBytes(StandardCharsets.UTF_8));
        assertThat(feed.run("a.json")).isTrue();
        assertThat(feed.memory.ids).containsExactly(1L, 2L);
        assertThat(feed.memory.letters).isEmpty();

        byte[] packed = SimulatedFeed.gzip(half.getBytes(StandardCharsets.UTF_8));
        feed.disk.put("b.gz", packed);
        assertThat(feed.run("b.gz")).isTrue();
        assertThat(feed.run.waiting()).isEqualTo(1);
        feed.disk.put(
                "b.gz",
                SimulatedFeed.join(List.of(
                        packed, SimulatedFeed.gzip(rest.getBytes(StandardCharsets.UTF_8)))));
        assertThat(feed.run("b.gz")).isTrue();
        assertThat(feed.memory.ids).containsExactly(1L, 2L, 1L, 2L);
        assertThat(feed.memory.letters).isEmpty();
    }

    @Test
    void half_an_element_of_a_file_that_is_written_waits() {
        feed.putYoung("a.json", "[{\"id\":0,\"name\":\"a\"},{\"id\":1,");
        feed.whileWaiting(() -> feed.disk.touch("a.json", feed.clock.wallMicros()));
        assertThat(feed.run("a.json")).isTrue();
        assertThat(feed.memory.ids).containsExactly(0L);
        assertThat(feed.run.waiting()).isEqualTo(1);
        feed.putYoung("a.json", "[{\"id\":0,\"name\":\"a\"},{\"id\":1,\"name\":\"b\"}]");
        assertThat(feed.run("a.json")).isTrue();
        assertThat(feed.memory.ids).containsExactly(0L, 1L);
        assertThat(feed.memory.letters).isEmpty();
    }
}
