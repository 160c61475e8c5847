package io.turbidite.lsm.merge;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What to merge for the garbage that it takes away, by tables. */
class GarbageRangeTest {
    private static final long[] SIZES = {10, 20, 30, 1_000};

    private static double[][] pairs(int newer, int older, double count) {
        double[][] pairs = new double[4][4];
        pairs[newer][older] = count;
        return pairs;
    }

    @Test
    void little_garbage_is_left_alone() {
        assertThat(GarbageRange.cheapest(pairs(0, 1, 5), SIZES, 5)).isNull();
        assertThat(GarbageRange.cheapest(new double[1][1], new long[] {10}, 0)).isNull();
        assertThat(GarbageRange.cheapest(new double[0][0], new long[0], 0)).isNull();
    }

    @Test
    void a_pair_meets_where_both_its_components_are_merged() {
        assertThat(GarbageRange.cheapest(pairs(0, 1, 6), SIZES, 5)).isEqualTo(new MergeRange(0, 1));
        assertThat(GarbageRange.cheapest(pairs(1, 2, 6), SIZES, 5)).isEqualTo(new MergeRange(1, 2));
        assertThat(GarbageRange.cheapest(pairs(1, 3, 6), SIZES, 5)).isEqualTo(new MergeRange(1, 3));
    }

    @Test
    void the_fewest_bytes_after_which_little_enough_is_left_are_merged() {
        double[][] both = pairs(0, 2, 6);
        both[1][3] = 6;
        assertThat(GarbageRange.cheapest(both, SIZES, 6)).isEqualTo(new MergeRange(0, 2));
        assertThat(GarbageRange.cheapest(both, SIZES, 5)).isEqualTo(new MergeRange(0, 3));
    }
}
