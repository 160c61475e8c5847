package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.sim.Seeds;
import io.turbidite.feeds.source.file.FilePosition;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;

/** Gzip sources: damage, files that are mended, and files that are others. */
class DamagedMemberTest {
    private final SimulatedFeed feed = new SimulatedFeed();

    /** Runs into the damage; false if the flipped bit says nothing. */
    private boolean meetsDamage() {
        try {
            assertThat(feed.run("a.gz")).isTrue();
            return false;
        } catch (CorruptionException e) {
            assertThat(e).hasMessageContaining("a.gz");
            return true;
        }
    }

    @Test
    void nothingOfADamagedMemberIsDeliveredAndTheMendedFileGoesOn() {
        long seed = Seeds.of("DamagedMemberTest");
        SplittableRandom random = new SplittableRandom(seed);
        byte[] content = SimulatedFeed.lines(0, 6_000);
        byte[] good = SimulatedFeed.gzip(content);
        for (int round = 0; round < 40; round++) {
            String as = Seeds.replay("DamagedMemberTest", seed) + " round " + round;
            feed.memory.clear();
            byte[] bad = good.clone();
            int at = round < 20 ? random.nextInt(4_096) : random.nextInt(bad.length);
            bad[at] ^= (byte) (1 << random.nextInt(8));
            feed.disk.put("a.gz", round % 7 == 3 ? Arrays.copyOf(good, at + 1) : bad);
            if (meetsDamage()) {
                assertThat(feed.memory.ids).as(as).isEmpty();
                assertThat(feed.memory.letters).as(as).isEmpty();
                assertThat(feed.memory.positions).as(as).isEmpty();
                feed.disk.put("a.gz", good);
                assertThat(feed.run("a.gz")).as(as).isTrue();
            }
            feed.hasAll(6_000);
        }
    }

    @Test
    void membersBeforeADamagedOneAreDeliveredAndTheMendedFileGoesOnBehindThem() {
        long seed = Seeds.of("DamagedMemberTest");
        SplittableRandom random = new SplittableRandom(seed);
        byte[] content = SimulatedFeed.lines(0, 8_000);
        for (int round = 0; round < 25; round++) {
            String as = Seeds.replay("DamagedMemberTest", seed) + " round " + round;
            feed.memory.clear();
            List<byte[]> members = SimulatedFeed.members(content, random.nextInt(2, 9));
            int damaged = random.nextInt(members.size());
            List<byte[]> bad = new ArrayList<>(members);
            byte[] one = members.get(damaged).clone();
            one[random.nextInt(one.length)] ^= (byte) (1 << random.nextInt(8));
            bad.set(damaged, one);
            feed.disk.put("a.gz", SimulatedFeed.join(bad));
            if (meetsDamage()) {
                int proven = content.length * damaged / members.size();
                String before = new String(content, 0, proven, StandardCharsets.UTF_8);
                assertThat(feed.memory.ids.size() + feed.memory.rejected)
                        .as(as)
                        .isLessThanOrEqualTo(before.lines().count());
                assertThat(feed.memory.positions.containsKey("a.gz")).as(as).isEqualTo(damaged > 0);
                if (damaged > 0) {
                    // all lines that end before the damaged member but one, which quotes may hold
                    // open
                    assertThat(feed.memory.require("a.gz").offset())
                            .as(as)
                            .isBetween(proven - 40L, (long) proven);
                }
                feed.disk.put("a.gz", SimulatedFeed.join(members));
                assertThat(feed.run("a.gz")).as(as).isTrue();
            }
            feed.hasAll(8_000);
        }
    }

    @Test
    void aMendedFileIsTheSameFileThoughTheDamageWasNearItsBeginning() {
        byte[] head = SimulatedFeed.gzip(SimulatedFeed.lines(0, 3));
        byte[] rest = SimulatedFeed.gzip("3,name\n4,name\n".getBytes(StandardCharsets.UTF_8));
        byte[] bad = rest.clone();
        bad[bad.length - 6] ^= 1;
        feed.disk.put("a.gz", SimulatedFeed.join(head, bad, new byte[100]));
        assertThatThrownBy(() -> feed.run("a.gz")).isInstanceOf(CorruptionException.class);
        assertThat(feed.memory.ids).containsExactly(0L, 1L, 2L);
        feed.disk.put("a.gz", SimulatedFeed.join(head, rest)); // shorter than the damaged one
        assertThat(feed.run("a.gz")).isTrue();
        assertThat(feed.memory.ids).containsExactly(0L, 1L, 2L, 3L, 4L);
        feed.disk.put(
                "a.gz", SimulatedFeed.join(SimulatedFeed.gzip(SimulatedFeed.lines(0, 4)), rest));
        assertThatThrownBy(() -> feed.run("a.gz")).hasMessageContaining("it begins otherwise");
    }

    @Test
    void aFileOfWhichNoRecordWasTakenMayBeReplaced() {
        feed.json = true;
        byte[] good =
                SimulatedFeed.gzip("{\"id\":0,\"name\":\"a\"}\n".getBytes(StandardCharsets.UTF_8));
        byte[] bad = good.clone();
        bad[0] ^= 1; // no gzip any more, by its name neither
        feed.disk.put("a.json", SimulatedFeed.join(bad, new byte[1_000]));
        feed.disk.touch("a.json", 0);
        assertThat(feed.run("a.json")).isTrue();
        assertThat(feed.memory.ids).isEmpty();
        assertThat(feed.memory.rejected).isPositive();
        feed.disk.put("a.json", good);
        assertThat(feed.run("a.json")).isTrue();
        assertThat(feed.memory.ids).containsExactly(0L);
        assertThat(Objects.requireNonNull(feed.memory.taken("a.json")).records())
                .isEqualTo(1);
        feed.disk.put("a.json", bad);
        assertThatThrownBy(() -> feed.run("a.json")).hasMessageContaining("it begins otherwise");
    }

    @Test
    void sizesOfAFileAndOfItsContentAreNotMixed() {
        byte[] content =
                SimulatedFeed.lines(0, 20_000); // more than is looked at to know a file again
        byte[] first = SimulatedFeed.gzip(content);
        byte[] second = SimulatedFeed.gzip("20000,name\n".getBytes(StandardCharsets.UTF_8));
        byte[] bad = second.clone();
        bad[bad.length - 6] ^= 1;
        feed.disk.put("a.gz", SimulatedFeed.join(first, second, bad));
        assertThatThrownBy(() -> feed.run("a.gz")).isInstanceOf(CorruptionException.class);
        FilePosition position = feed.memory.require("a.gz");
        feed.disk.put("a.gz", SimulatedFeed.gzip("id,name\n".getBytes(StandardCharsets.UTF_8)));
        assertThatThrownBy(() -> feed.run("a.gz"))
                .hasMessageContaining("it has only %d bytes of the %d that were read"
                        .formatted(
                                SimulatedFeed.gzip("id,name\n".getBytes(StandardCharsets.UTF_8))
                                        .length,
                                first.length + second.length));
        byte[] filler = SimulatedFeed.gzip(new byte[0]);
        feed.disk.put("a.gz", SimulatedFeed.join(first, filler, filler, filler, filler));
        assertThatThrownBy(() -> feed.run("a.gz"))
                .hasMessageContaining("uncompressed it has only %d bytes of the %d that were read"
                        .formatted(content.length, position.offset()));
    }

    @Test
    void aCheckOfAMemberThatIsStoppedDeliversNothingAndIsDoneAgain() {
        feed.disk.put("a.gz", SimulatedFeed.gzip(SimulatedFeed.lines(0, 100_000)));
        int[] asked = {0};
        assertThat(feed.run("a.gz", () -> ++asked[0] > 3)).isFalse();
        assertThat(asked[0]).isLessThan(10);
        assertThat(feed.memory.ids).isEmpty();
        assertThat(feed.run("a.gz")).isTrue();
        feed.hasAll(100_000);
        // passing over what is delivered may take as long
        feed.disk.put(
                "a.gz",
                SimulatedFeed.join(
                        SimulatedFeed.gzip(SimulatedFeed.lines(0, 100_000)),
                        SimulatedFeed.gzip(new byte[] {'x', '\n'})));
        asked[0] = 0;
        assertThat(feed.run("a.gz", () -> ++asked[0] > 3)).isFalse();
        assertThat(asked[0]).isLessThan(10);
    }

    @Test
    void aLaterMemberWithoutItsHeaderEndsTheFeedThereAndNotSilently() {
        byte[] one = SimulatedFeed.gzip(SimulatedFeed.lines(0, 100));
        feed.disk.put("a.gz", SimulatedFeed.join(one, Arrays.copyOf(one, 5)));
        assertThatThrownBy(() -> feed.run("a.gz")).isInstanceOf(CorruptionException.class);
        feed.hasAll(100);
        assertThat(feed.memory.require("a.gz").ended()).isFalse();
    }
}
