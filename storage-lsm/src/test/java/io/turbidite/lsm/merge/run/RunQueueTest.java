package io.turbidite.lsm.merge.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;
import io.turbidite.lsm.schedule.MergeScheduler;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;

class RunQueueTest {
    private static final class Work implements RunQueue.Job {
        final String name;
        final long bytes;
        long left;

        Work(String name, long bytes) {
            this.name = name;
            this.bytes = bytes;
            this.left = bytes;
        }

        @Override
        public long remainingBytes() {
            return left;
        }
    }

    private static Work taken(RunQueue<Work> queue) {
        return Objects.requireNonNull(queue.take());
    }

    @Test
    void fair_gives_each_the_same_share_at_any_time() {
        RunQueue<Work> queue = new RunQueue<>(MergeScheduler.FAIR, 2);
        List<Work> works = List.of(new Work("a", 400), new Work("b", 1_000), new Work("c", 700));
        works.forEach(queue::add);
        for (int step = 1; step <= 300; step++) {
            Work work = taken(queue);
            work.left--;
            queue.giveBack(work);
            for (Work one : works) {
                assertThat(one.bytes - one.left).isBetween(step / 3L, step / 3L + 1);
            }
        }
    }

    @Test
    void fair_shares_stay_even_with_several_workers() {
        long seed = Seeds.of("RunQueueTest");
        SplittableRandom random = new SplittableRandom(seed);
        RunQueue<Work> queue = new RunQueue<>(MergeScheduler.FAIR, 3);
        List<Work> works = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            works.add(new Work("w" + i, 1_000_000));
            queue.add(works.get(i));
        }
        List<Work> held = new ArrayList<>();
        for (int step = 0; step < 10_000; step++) {
            Work next = random.nextBoolean() ? queue.take() : null;
            if (next != null) {
                held.add(next);
            } else if (!held.isEmpty()) {
                Work done = held.removeFirst();
                done.left--;
                queue.giveBack(done);
            }
            assertThat(held.size()).isLessThanOrEqualTo(3);
        }
        long most = works.stream().mapToLong(work -> work.left).max().orElseThrow();
        long least = works.stream().mapToLong(work -> work.left).min().orElseThrow();
        assertThat(most - least).as(Seeds.replay("RunQueueTest", seed)).isLessThanOrEqualTo(3);
    }

    @Test
    void greedy_finishes_the_smallest_first_and_lets_a_smaller_one_overtake() {
        RunQueue<Work> queue = new RunQueue<>(MergeScheduler.GREEDY, 1);
        Work large = new Work("large", 100);
        queue.add(large);
        queue.add(new Work("middle", 30));
        List<String> finished = new ArrayList<>();
        for (int step = 0; queue.size() > 0; step++) {
            if (step == 20) {
                // larger than what is left of "middle"
                queue.add(new Work("late", 15));
            }
            if (step == 50) {
                queue.add(new Work("small", 5));
            }
            Work work = taken(queue);
            assertThat(queue.take()).isNull();
            work.left--;
            if (work.left == 0) {
                queue.remove(work);
                finished.add(work.name);
            } else {
                queue.giveBack(work);
            }
        }
        assertThat(finished).containsExactly("middle", "late", "small", "large");
    }

    @Test
    void several_workers_take_the_smallest_ones() {
        RunQueue<Work> queue = new RunQueue<>(MergeScheduler.GREEDY, 2);
        for (int bytes : new int[] {50, 10, 40, 20}) {
            queue.add(new Work("w", bytes));
        }
        assertThat(taken(queue).bytes).isEqualTo(10);
        assertThat(taken(queue).bytes).isEqualTo(20);
        assertThat(queue.take()).isNull();
        assertThat(queue.size()).isEqualTo(4);
        assertThat(queue.jobs()).hasSize(4);
    }
}
