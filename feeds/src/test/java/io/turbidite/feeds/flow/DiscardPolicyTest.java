package io.turbidite.feeds.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;

import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

class DiscardPolicyTest {
    @Test
    void inRandomHistoriesNoMoreThanTheShareIsLeftOutAndNoneWithoutNeed() {
        for (long seed = 1; seed <= 300; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            double share = random.nextInt(1, 100) / 100.0;
            int keptOneIn = random.nextInt(2, 200);
            DiscardPolicy policy = new DiscardPolicy(share, keptOneIn);
            long dropped = 0;
            boolean isBehind = false;
            int run = 0;
            for (int seen = 1; seen <= 5_000; seen++) {
                isBehind = random.nextInt(500) == 0 ? !isBehind : isBehind;
                boolean takes = policy.takesNext(isBehind);
                String at = "seed %d, record %d".formatted(seed, seen);
                dropped += takes ? 0 : 1;
                run = takes ? 0 : run + 1;
                assertThat(takes || isBehind).as(at).isTrue();
                assertThat((double) dropped).as(at).isLessThanOrEqualTo(share * seen);
                assertThat(run).as(at).isLessThan(keptOneIn);
            }
            assertThat(policy.droppedCount()).isEqualTo(dropped);
        }
    }

    @Test
    void aLongBurstIsLeftOutUpToTheShareAndLeavesASample() {
        DiscardPolicy half = new DiscardPolicy(0.5, 100);
        DiscardPolicy nearlyAll = new DiscardPolicy(0.99, 10);
        for (int i = 0; i < 100_000; i++) {
            half.takesNext(true);
            nearlyAll.takesNext(true);
        }
        assertThat(half.droppedCount()).isBetween(49_900L, 50_000L);
        assertThat(nearlyAll.droppedCount()).isBetween(89_900L, 90_000L);
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        for (double share : new double[] {0, 1, -0.1, Double.NaN}) {
            assertThatThrownBy(() -> new DiscardPolicy(share, 2))
                    .isInstanceOf(InvalidRequestException.class);
        }
        assertThatThrownBy(() -> new DiscardPolicy(0.5, 1))
                .isInstanceOf(InvalidRequestException.class);
    }
}
