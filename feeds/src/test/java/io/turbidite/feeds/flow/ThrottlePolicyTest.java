package io.turbidite.feeds.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Xxh3;

import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

class ThrottlePolicyTest {
    private static final long SECOND = 1_000_000_000L;

    @Test
    void inRandomHistoriesNoWindowTakesMoreThanItsShareAndNoneIsLeftOutWithoutNeed() {
        for (long seed = 1; seed <= 200; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            int rate = 1 + (int) Math.exp(random.nextDouble() * 9); // to 8,000 a second
            boolean isFine = rate >= 100;
            long windowNanos = isFine ? SECOND / 10 : SECOND;
            long shareMax = isFine ? (rate + 9) / 10 : rate;
            long shareMin = isFine ? rate / 10 : rate;
            ThrottlePolicy policy = new ThrottlePolicy(rate);
            long start = random.nextLong(SECOND) - SECOND / 2;
            long now = start;
            long gap = 1;
            long window = -1;
            long seenBefore = 0;
            long seen = 0;
            long taken = 0;
            long dropped = 0;
            for (int i = 0; i < 8_000; i++) {
                if (random.nextInt(800) == 0) { // another speed, up to 20 times the rate
                    gap = (long) ((double) SECOND / rate * Math.exp(random.nextDouble() * 5 - 3));
                }
                now += random.nextLong(2 * gap + 1);
                long at = (now - start) / windowNanos;
                if (at != window) {
                    seenBefore = at == window + 1 ? seen : 0;
                    window = at;
                    seen = 0;
                    taken = 0;
                }
                seen++;
                boolean takes = policy.takes(Xxh3.hash(random.nextLong(500), 0), now);
                taken += takes ? 1 : 0;
                dropped += takes ? 0 : 1;
                String which = "seed %d, record %d, rate %d".formatted(seed, i, rate);
                assertThat(taken).as(which).isLessThanOrEqualTo(shareMax);
                assertThat(takes || seen > shareMin || seenBefore > shareMin)
                        .as(which)
                        .isTrue();
            }
            assertThat(policy.droppedCount()).isEqualTo(dropped);
        }
    }

    @Test
    void aSteadyExcessIsBroughtToTheRateAndEachKeyHasItsShare() {
        ThrottlePolicy policy = new ThrottlePolicy(1_000);
        SplittableRandom random = new SplittableRandom(7);
        int[] ofKey = new int[20];
        long takenInAll = 0;
        int seconds = 60;
        for (int i = 0; i < seconds * 4_000; i++) {
            int key = random.nextInt(20);
            if (policy.takes(Xxh3.hash(key, 1), i * (SECOND / 4_000))) {
                ofKey[key]++;
                takenInAll++;
            }
        }
        assertThat(takenInAll).isBetween(45_000L, 60_000L);
        for (int taken : ofKey) { // of 12,000 that each sends, 3,000 at most on the average
            assertThat(taken).isBetween(1_200, 4_800);
        }
    }

    @Test
    void recordsOfAKeyStayTogether() {
        ThrottlePolicy policy = new ThrottlePolicy(1_000);
        int kept = 0;
        int torn = 0;
        for (int window = 0; window < 100; window++) {
            Map<Integer, Integer> ofKey = new HashMap<>();
            for (int i = 0; i < 400; i++) {
                long now = window * (SECOND / 10) + i * (SECOND / 4_000);
                if (policy.takes(Xxh3.hash(i % 40, 3), now)) {
                    ofKey.merge(i % 40, 1, Integer::sum);
                }
            }
            if (window % 10 > 1) { // the first ones of a second do not know its keys yet
                kept += ofKey.size();
                torn += (int)
                        ofKey.values().stream().filter(count -> count < 10).count();
            }
        }
        assertThat(kept).isGreaterThan(500);
        assertThat(torn).isLessThan(kept / 3);
    }

    @Test
    void aRateBelowOneIsRefused() {
        assertThatThrownBy(() -> new ThrottlePolicy(0))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("1 at least");
    }
}
