package io.turbidite.feeds.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;

/** The policy before workers that are numbers: what comes each second, and is done or waits. */
class ElasticPolicyTest {
    private static final long SECOND = 1_000_000_000L;

    /** A run of seconds, each with a load. */
    private static final class Play {
        final ElasticPolicy policy;
        final List<Integer> changedAt = new ArrayList<>();
        int workers;

        /** How many workers more get done no more than this: that many processors. */
        double doneMost = Double.MAX_VALUE;

        int partitions = Integer.MAX_VALUE;
        int second;
        double backlog;

        Play(int workersMin, int workersMax) {
            policy = new ElasticPolicy(workersMin, workersMax);
            workers = policy.workersMin();
        }

        /** @param load of each second, in workers' worth */
        Play go(int seconds, IntToDoubleFunction load) {
            for (int i = 0; i < seconds; i++) {
                second++;
                backlog += load.applyAsDouble(second);
                double done = Math.min(backlog, Math.min(workers, doneMost));
                backlog -= done;
                // what the processors can't do at once is waited for, and looks like work
                double share = backlog > 0 ? 1 : done / workers;
                long[] busy = new long[workers];
                Arrays.fill(busy, (long) (share * SECOND));
                switch (policy.decide(busy, partitions > workers, second * SECOND)) {
                    case ADD -> change(1);
                    case KEEP -> {}
                    case TAKE -> change(-1);
                }
            }
            return this;
        }

        private void change(int by) {
            workers += by;
            changedAt.add(second);
            assertThat(workers).isBetween(policy.workersMin(), policy.workersMax());
            int count = changedAt.size();
            if (count > 2) {
                assertThat(second - changedAt.get(count - 3))
                        .as("seconds from the third last change on")
                        .isGreaterThan(60);
            }
        }

        /** Changes behind that second. */
        long changesBehind(int when) {
            return changedAt.stream().filter(at -> at > when).count();
        }
    }

    @Test
    void aConstantLoadLeadsToANumberOfWorkersThatStays() {
        for (int hundredths = 0; hundredths <= 400; hundredths += 5) {
            double load = hundredths / 100.0;
            for (int least = 1; least <= 5; least++) {
                Play play = new Play(least, 6).go(600, second -> load);
                String as = "load %s from %d workers".formatted(load, least);
                assertThat(play.changesBehind(300)).as(as).isZero();
                assertThat(play.workers - load).as(as).isGreaterThanOrEqualTo(0);
                assertThat(play.workers).as(as).isGreaterThanOrEqualTo(least);
                assertThat(play.backlog).as(as).isLessThan(0.001);
                play.go(3_600, second -> load);
                assertThat(play.changesBehind(300)).as(as).isZero();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"0.5, 1", "0.89, 1", "0.95, 2", "1.5, 2", "1.9, 3", "2.5, 3", "3.5, 5", "9, 6"})
    void aStepUpIsFollowedAndAStepDownToo(double load, int workers) {
        Play play = new Play(1, 6).go(60, second -> 0.1).go(400, second -> load);
        // of 3.5 the fifth came for what had waited meanwhile, and may stay: four would have 0.875
        assertThat(play.workers).isEqualTo(workers);
        if (load <= 6) { // what waited is caught up with
            assertThat(play.backlog).isLessThan(0.001);
        }
        play.backlog = 0;
        play.go(400, second -> 0);
        assertThat(play.workers).isEqualTo(1);
        assertThat(play.changedAt).hasSize(2 * (workers - 1));
    }

    @Test
    void theFirstWorkerMoreIsThereWithinSecondsAndTheFirstLessBehindTen() {
        Play play = new Play(1, 6).go(600, second -> 0.1);
        play.go(10, second -> 3);
        assertThat(play.changedAt).first().isEqualTo(603);
        play.go(200, second -> 3);
        int before = play.changedAt.size();
        int from = play.second;
        play.go(30, second -> 0.1);
        assertThat(play.changedAt.get(before)).isBetween(from + 10, from + 11);
    }

    @Test
    void noiseAndBurstsNeverMakeMoreThanTwoChangesInAMinuteAndNoiseIsNoSwing() {
        for (long seed = 1; seed <= 300; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            double mean = random.nextDouble() * 4;
            double noise = random.nextDouble() * 0.3;
            Play play = new Play(1, 6)
                    .go(3_600, second -> mean * (1 + noise * (2 * random.nextDouble() - 1)));
            String as = "seed %d, load %s and noise %s".formatted(seed, mean, noise);
            // in 50 minutes chance has it high for three seconds, or low for ten, now and then
            assertThat(play.changesBehind(600)).as(as).isLessThanOrEqualTo(5);
            assertThat(play.workers).as(as).isBetween((int) Math.ceil(mean - 0.01), 6);
            Play bursts = new Play(1, 6); // Play asserts the two changes
            int length = 1 + random.nextInt(90);
            bursts.go(3_600, second -> second / length % 2 == 0 ? 4 : random.nextDouble());
            assertThat(bursts.changedAt).as(as).hasSizeLessThanOrEqualTo(2 * 61);
        }
    }

    @Test
    void whereMoreWorkersGetNoMoreDoneTheyStayAndDoNotSwing() {
        Play play = new Play(1, 4);
        play.doneMost = 1.3; // the store, or the processors
        play.go(3_600, second -> 2.0);
        assertThat(play.workers).isEqualTo(4);
        assertThat(play.changedAt).hasSize(3);
    }

    @Test
    void thereAreNoMoreThanPartitionsAndNoneIsTakenBelowTheLeast() {
        Play play = new Play(2, 6);
        play.partitions = 3;
        play.go(600, second -> 9.0);
        assertThat(play.workers).isEqualTo(3);
        play.backlog = 0;
        play.go(600, second -> 0);
        assertThat(play.workers).isEqualTo(2);
    }

    @Test
    void whatIsAskedLateIsCountedForAllThatTime() {
        ElasticPolicy policy = new ElasticPolicy(1, 3);
        assertThat(policy.decide(new long[] {SECOND, SECOND}, true, 5 * SECOND))
                .as("the first time says nothing")
                .isEqualTo(WorkerPolicy.Change.KEEP);
        assertThat(policy.decide(new long[] {SECOND, SECOND}, true, 25 * SECOND))
                .isEqualTo(WorkerPolicy.Change.TAKE);
        ElasticPolicy busy = new ElasticPolicy(1, 3);
        busy.decide(new long[] {0}, true, 0);
        assertThat(busy.decide(new long[] {60 * SECOND}, true, 20 * SECOND))
                .isEqualTo(WorkerPolicy.Change.ADD);
    }

    @Test
    void whatIsAskedTwiceAtOneTimeLosesNothingOfTheSecondsBefore() {
        ElasticPolicy policy = new ElasticPolicy(1, 3);
        policy.decide(new long[] {0}, true, 0);
        long[] busy = {SECOND};
        assertThat(policy.decide(busy, true, SECOND)).isEqualTo(WorkerPolicy.Change.KEEP);
        assertThat(policy.decide(busy, true, 2 * SECOND)).isEqualTo(WorkerPolicy.Change.KEEP);
        assertThat(policy.decide(busy, true, 2 * SECOND))
                .as("no time has passed")
                .isEqualTo(WorkerPolicy.Change.KEEP);
        assertThat(policy.decide(busy, true, 3 * SECOND)).isEqualTo(WorkerPolicy.Change.ADD);
    }

    @Test
    void boundsThatLeaveNoChoiceAreRefused() {
        for (int[] bounds : new int[][] {{0, 2}, {2, 2}, {3, 2}}) {
            assertThatThrownBy(() -> new ElasticPolicy(bounds[0], bounds[1]))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("no bounds of workers");
        }
    }
}
