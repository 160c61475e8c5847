package io.turbidite.lsm.merge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.data.Percentage.withPercentage;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BiPredicate;
import java.util.function.LongSupplier;

/**
 * A million flushes on paper under each policy, against the formula in the policy's Javadoc and in
 * {@code docs/merge-policies.md}: exact where it is exact, bounds as bounds, and "about" within the
 * stated share. Prints what it saw, which is the table of that page.
 */
class MergeSimulationTest {
    private static final int MILLION = 1_000_000;
    private static final long FLUSH = 64;

    private static LongSupplier equal(long bytes) {
        return () -> bytes;
    }

    /** Half to one and a half times {@link #FLUSH}. */
    private static LongSupplier uneven(long seed) {
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        return () -> random.nextLong(FLUSH / 2, 3 * FLUSH / 2);
    }

    private static PaperIndex run(MergePolicy policy, long flushes, LongSupplier bytes) {
        PaperIndex index = new PaperIndex(policy).flush(flushes, bytes);
        System.out.printf(
                "%-70s flushes %9d  writes per byte %7.3f  components at most %d, at the end %d%n",
                new MergePolicySpec(policy, false),
                flushes,
                index.writesPerByte(),
                index.componentsMax(),
                index.componentCount());
        return index;
    }

    private static double log(double base, double value) {
        return Math.log(value) / Math.log(base);
    }

    private static long binomial(int n, int k) {
        long value = 1;
        for (int i = 1; i <= k; i++) {
            value = value * (n - k + i) / i;
        }
        return value;
    }

    @Test
    void no_merge_writes_once_and_keeps_all() {
        PaperIndex index = run(new NoMergePolicy(), MILLION, equal(FLUSH));
        assertThat(index.writesPerByte()).isEqualTo(1);
        assertThat(index.componentCount()).isEqualTo(MILLION);
    }

    @ParameterizedTest
    @CsvSource({"1, 1412", "2, 1412", "3, 179", "5, 38", "8, 15", "12, 9"})
    void constant_meets_its_formula_exactly(int k, int generation) {
        long flushes = binomial(generation + k, k);
        PaperIndex index = run(new ConstantMergePolicy(k), flushes, equal(FLUSH));
        assertThat(index.componentsMax()).isLessThanOrEqualTo(k);
        assertThat(index.componentCount()).isEqualTo(1);
        assertThat(index.generationMax()).isEqualTo(generation);
        double g = generation;
        assertThat(index.writesPerByte())
                .isCloseTo(1 + g * k / (k + 1) + g / (g + k), within(1e-9));
        // no byte more often, and not before
        index.flush(binomial(generation + 1 + k, k) - flushes - 1, equal(FLUSH));
        assertThat(index.generationMax()).isEqualTo(generation);
        index.flush(1, equal(FLUSH));
        assertThat(index.generationMax()).isEqualTo(generation + 1);
    }

    @Test
    void constant_takes_uneven_flushes_as_it_takes_equal_ones() {
        PaperIndex index = run(new ConstantMergePolicy(5), binomial(43, 5), uneven(1));
        assertThat(index.componentsMax()).isLessThanOrEqualTo(5);
        assertThat(index.writesPerByte())
                .isCloseTo(1 + 38.0 * 5 / 6 + 38.0 / 43, withPercentage(1));
    }

    /**
     * The exact cost of policies that merge all from some component to the newest as soon as those
     * younger than it are enough; see {@code TieringMergePolicy}. {@code written[n]} and
     * {@code components[n]} are what merges wrote in n flushes, in flushes, and what they left.
     */
    private static final class Recurrence {
        final long[] written;
        final int[] components;
        final List<Integer> full = new ArrayList<>(List.of(1));

        private Recurrence(int flushes) {
            written = new long[flushes + 1];
            components = new int[flushes + 1];
            components[1] = 1;
        }

        static Recurrence upTo(int flushes, int countMin, BiPredicate<Integer, Integer> tips) {
            Recurrence all = new Recurrence(flushes);
            for (int n = 2; n <= flushes; n++) {
                int oldest = all.full.getLast();
                int younger = n - oldest;
                if (tips.test(oldest, younger) && all.components[younger - 1] + 2 >= countMin) {
                    all.written[n] = all.written[oldest] + all.written[younger - 1] + n;
                    all.components[n] = 1;
                    all.full.add(n);
                } else {
                    all.written[n] = all.written[oldest] + all.written[younger];
                    all.components[n] = 1 + all.components[younger];
                }
            }
            return all;
        }

        double writesPerByte(int flushes) {
            return 1 + (double) written[flushes] / flushes;
        }

        int componentsMax() {
            return Arrays.stream(components).max().orElseThrow();
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.5, 1.0, 1.2, 2.0, 3.0, 4.0})
    void tiering_meets_its_recurrence_exactly_and_stays_within_its_bounds(double ratio) {
        Recurrence exact = Recurrence.upTo(MILLION, 2, (old, young) -> young >= ratio * old);
        PaperIndex index =
                run(new TieringMergePolicy(ratio, 2, Long.MAX_VALUE), MILLION, equal(FLUSH));
        assertThat(index.writesPerByte()).isCloseTo(exact.writesPerByte(MILLION), within(1e-9));
        assertThat(index.componentsMax()).isEqualTo(exact.componentsMax());
        assertThat(index.componentCount()).isEqualTo(exact.components[MILLION]);

        assertThat(index.componentsMax())
                .isLessThanOrEqualTo((int) (2 + log(1 + 1 / ratio, MILLION)));
        assertThat(index.writesPerByte())
                .isLessThanOrEqualTo(1 + log(1 + Math.min(ratio, 1 / ratio), MILLION));
    }

    @ParameterizedTest
    @ValueSource(ints = {1_000, 4_096, 10_000, 100_000, MILLION})
    void the_standard_tiering_writes_two_fifths_of_the_binary_logarithm(int flushes) {
        Recurrence exact = Recurrence.upTo(flushes, 2, (old, young) -> young >= 3 * old);
        assertThat(exact.writesPerByte(flushes))
                .isCloseTo(1 + 0.4 * log(2, flushes), withPercentage(25));
    }

    @Test
    void tiering_as_in_the_paper_writes_two_thirds_of_the_binary_logarithm() {
        Recurrence exact = Recurrence.upTo(MILLION, 2, (old, young) -> young >= 1.2 * old);
        for (int flushes : new int[] {1_000, 10_000, 100_000, MILLION}) {
            assertThat(exact.writesPerByte(flushes))
                    .isCloseTo(1 + 0.65 * log(2, flushes), withPercentage(10));
        }
        PaperIndex uneven = run(new TieringMergePolicy(1.2, 2, Long.MAX_VALUE), MILLION, uneven(2));
        assertThat(uneven.writesPerByte())
                .isCloseTo(1 + 0.65 * log(2, MILLION), withPercentage(10));
    }

    @Test
    void tiering_leaves_large_components_alone() {
        int capFlushes = 1 << 12;
        Recurrence exact = Recurrence.upTo(16_384, 2, (old, young) -> young >= 1.2 * old);
        int full = exact.full.stream().filter(n -> n >= capFlushes).findFirst().orElseThrow();
        int times = MILLION / full;
        PaperIndex index = run(
                new TieringMergePolicy(1.2, 2, FLUSH * capFlushes),
                (long) times * full,
                equal(FLUSH));
        assertThat(index.writesPerByte()).isCloseTo(exact.writesPerByte(full), within(1e-9));
        assertThat(index.componentCount()).isEqualTo(times);
    }

    @ParameterizedTest
    @CsvSource({"3, 12", "5, 12", "10, 14"})
    void prefix_stays_within_its_bounds_and_near_its_recurrence(int tolerance, int shift) {
        int capFlushes = 1 << shift;
        Recurrence exact =
                Recurrence.upTo(capFlushes, tolerance, (old, young) -> old <= 1.2 * young);
        PaperIndex index =
                run(new PrefixMergePolicy(FLUSH * capFlushes, tolerance), MILLION, uneven(3));
        assertThat(index.writesPerByte())
                .isCloseTo(1 + exact.writesPerByte(capFlushes), withPercentage(10))
                .isLessThanOrEqualTo(2 + log(1 + 1 / 1.2, capFlushes));
        assertThat(index.componentsMax()).isLessThanOrEqualTo((int)
                ((double) MILLION / capFlushes + tolerance + log(2.2, capFlushes)));
    }

    @ParameterizedTest
    @CsvSource({"2, 19", "4, 10", "10, 6"})
    void leveling_meets_its_formula_exactly(int ratio, int levels) {
        int flushes = Math.toIntExact(Math.round(Math.pow(ratio, levels)));
        PaperIndex index = run(new LevelingMergePolicy(ratio), flushes, equal(ratio));
        double t = ratio;
        assertThat(index.writesPerByte()).isCloseTo(2 + levels * (t - 1) / 2 - 1 / t, within(1e-9));
        assertThat(index.componentCount()).isEqualTo(1);
        assertThat(index.componentsMax()).isEqualTo(levels);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4, 10})
    void leveling_takes_uneven_flushes_nearly_as_equal_ones(int ratio) {
        PaperIndex index = run(new LevelingMergePolicy(ratio), MILLION, uneven(4));
        double levels = log(ratio, MILLION);
        assertThat(index.writesPerByte())
                .isCloseTo(2 + levels * (ratio - 1) / 2 - 1.0 / ratio, withPercentage(15));
        assertThat(index.componentsMax()).isLessThanOrEqualTo((int) levels + 2);
    }

    @ParameterizedTest
    @CsvSource({"2, 19", "4, 10", "10, 6"})
    void lazy_leveling_meets_its_sum_exactly(int ratio, int levels) {
        int flushes = Math.toIntExact(Math.round(Math.pow(ratio, levels)));
        PaperIndex index = run(new LazyLevelingMergePolicy(ratio), flushes, equal(ratio));
        double t = ratio;
        // while the oldest component grows from T^i to T^(i+1), it takes T^i at a time
        double merged = (flushes - 1) * (t + 2) / 2;
        for (int i = 2; i < levels; i++) {
            merged += (Math.pow(t, i + 1) - Math.pow(t, i)) * (i - 1) * (t - 1) / t;
        }
        assertThat(index.writesPerByte()).isCloseTo(1 + merged / flushes, within(1e-9));
        assertThat(index.writesPerByte())
                .isCloseTo(1 + (t + 2) / 2 + (levels - 2) * (t - 1) / t - 1 / t, withPercentage(1));
        assertThat(index.componentsMax()).isLessThanOrEqualTo(1 + (ratio - 1) * levels);
    }

    @Test
    void lazy_leveling_takes_uneven_flushes_no_worse() {
        PaperIndex index = run(new LazyLevelingMergePolicy(4), MILLION, uneven(5));
        assertThat(index.writesPerByte()).isLessThanOrEqualTo(9.75);
        assertThat(index.componentsMax()).isLessThanOrEqualTo(1 + 3 * 11);
    }

    @ParameterizedTest
    @CsvSource({
        "1.2, 3, 100, 1e-9",
        "1.2, 3, 10, 0.001",
        "1.0, 3, 10, 0.1",
        "1.2, 2, 4, 0.11",
        "0.5, 4, 8, 0.11"
    })
    void concurrent_meets_its_recurrence_where_no_merge_is_cut_short(
            double ratio, int countMin, int countMax, double tolerance) {
        Recurrence exact = Recurrence.upTo(MILLION, countMin, (old, young) -> old <= ratio * young);
        PaperIndex index =
                run(new ConcurrentMergePolicy(ratio, countMin, countMax), MILLION, equal(FLUSH));
        assertThat(index.writesPerByte())
                .isCloseTo(exact.writesPerByte(MILLION), withPercentage(100 * tolerance))
                .isLessThanOrEqualTo(1 + log(1 + Math.min(ratio, 1 / ratio), MILLION));
        assertThat(index.componentsMax())
                .isLessThanOrEqualTo((int) (countMin + log(1 + ratio, MILLION)));
    }
}
