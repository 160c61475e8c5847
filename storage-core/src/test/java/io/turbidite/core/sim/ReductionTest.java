package io.turbidite.core.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

class ReductionTest {
    private static List<Integer> upTo(int count) {
        return IntStream.range(0, count).boxed().toList();
    }

    @Test
    void what_fails_only_together_is_all_that_is_left() {
        SplittableRandom random = new SplittableRandom(Seeds.of("ReductionTest"));
        for (int round = 0; round < 50; round++) {
            Set<Integer> guilty =
                    Set.copyOf(List.of(random.nextInt(700), 700 + random.nextInt(700), 1_999));
            Reduction.Reduced<Integer> reduced =
                    Reduction.of(upTo(2_000), list -> list.containsAll(guilty), 1_000);
            assertThat(reduced.left()).containsExactlyInAnyOrderElementsOf(guilty);
            assertThat(reduced.runCount()).isLessThan(200);
        }
    }

    @Test
    void order_is_kept_and_nothing_can_be_left_out_of_what_is_left() {
        // fails while at least one multiple of 3 comes before three of 5
        Reduction.Reduced<Integer> reduced =
                Reduction.of(upTo(500), ReductionTest::multiplesInOrder, 1_000);
        assertThat(multiplesInOrder(reduced.left())).isTrue();
        for (Integer one : reduced.left()) {
            List<Integer> without = new ArrayList<>(reduced.left());
            without.remove((Object) one);
            assertThat(multiplesInOrder(without)).isFalse();
        }
        assertThat(reduced.left()).isSorted();
    }

    private static boolean multiplesInOrder(List<Integer> list) {
        int first = IntStream.range(0, list.size())
                .filter(i -> list.get(i) % 3 == 0)
                .findFirst()
                .orElse(list.size());
        return list.stream().skip(first).filter(number -> number % 5 == 0).count() >= 3;
    }

    @Test
    void runs_are_bounded_and_what_is_reached_still_fails() {
        List<Integer> asked = new ArrayList<>();
        Reduction.Reduced<Integer> reduced = Reduction.of(
                upTo(1_000),
                list -> {
                    asked.add(list.size());
                    return list.size() >= 900;
                },
                25);
        assertThat(asked).hasSize(25);
        assertThat(reduced.runCount()).isEqualTo(25);
        assertThat(reduced.left()).hasSizeBetween(900, 999);
    }

    @Test
    void what_fails_by_itself_is_reduced_to_nothing() {
        assertThat(Reduction.of(upTo(64), list -> true, 100).left()).isEmpty();
    }
}
