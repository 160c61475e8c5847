package io.turbidite.lsm.merge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

class MergePolicyTest {
    /** Components of these sizes, newest first, with one timestamp each. */
    private static List<ComponentSize> sizes(long... newestFirst) {
        List<ComponentSize> components = new ArrayList<>();
        for (int i = 0; i < newestFirst.length; i++) {
            long timestamp = (long) newestFirst.length - i;
            components.add(new ComponentSize(newestFirst[i], timestamp, timestamp, 0, false));
        }
        return components;
    }

    private static List<ComponentSize> parse(String newestFirst) {
        String[] words = newestFirst.isBlank() ? new String[0] : newestFirst.split(" ", -1);
        long[] bytes = new long[words.length];
        for (int i = 0; i < words.length; i++) {
            bytes[i] = Long.parseLong(words[i]);
        }
        return sizes(bytes);
    }

    private static String chosen(MergePolicy policy, String newestFirst) {
        Optional<MergeRange> range = policy.choose(parse(newestFirst));
        return range.map(r -> r.firstIndex() + ".." + r.lastIndex()).orElse("none");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "5", "1 1 1 1 1 1 1 1 1 1"})
    void no_merge_never_merges(String newestFirst) {
        assertThat(chosen(new NoMergePolicy(), newestFirst)).isEqualTo("none");
    }

    @ParameterizedTest
    @CsvSource({"'', none", "7, none", "1 2 3, none", "1 2 3 4, 0..3", "0 0 0 0 99, 0..4"})
    void constant_merges_all_when_there_is_one_too_many(String newestFirst, String range) {
        assertThat(chosen(new ConstantMergePolicy(3), newestFirst)).isEqualTo(range);
    }

    /** Ratio 1.2, from two components on, up to 1000 bytes. */
    @ParameterizedTest
    @CsvSource({
        "'', none",
        "10, none",
        // equal ones: 10 is not 1.2 times 10, but 20 is
        "10 10, none",
        "10 10 10, 0..2",
        "12 10, 0..1",
        "11 10, none",
        // 30 + 10 is 1.2 times 30, and 10 + 30 + 30 is 1.2 times 40: the longest is taken
        "10 30 30 40, 0..3",
        "10 30 30 90, 0..2",
        // each older one is too large for those before it
        "10 20 40 80 160, none",
        // an empty component costs nothing to merge
        "10 0, 0..1",
        "0 10, none",
        "0 0, 0..1",
        // from 1000 bytes on it ends the list
        "900 1000, none",
        "500 500 1000 1 1 1, none",
        "500 500 400 1000 1, 0..2",
        "1000 1 1 1, none",
    })
    void tiering_merges_up_to_the_oldest_that_the_younger_outweigh(
            String newestFirst, String range) {
        assertThat(chosen(new TieringMergePolicy(1.2, 2, 1_000), newestFirst)).isEqualTo(range);
    }

    @Test
    void tiering_waits_for_the_fewest_that_are_worth_it() {
        MergePolicy policy = new TieringMergePolicy(1.2, 4, 1_000);
        assertThat(chosen(policy, "10 10 10")).isEqualTo("none");
        assertThat(chosen(policy, "10 10 10 10")).isEqualTo("0..3");
        assertThat(chosen(policy, "12 10 900")).isEqualTo("none");
    }

    /** Up to 1000 bytes, 4 tolerated. */
    @ParameterizedTest
    @CsvSource({
        "'', none",
        "10, none",
        "10 10 10, none",
        "10 10 10 10, 0..3",
        // together above 1000: merged at once, though there are but two
        "600 600, 0..1",
        "500 500, none",
        // the shortest sequence from the oldest on that exceeds the sum
        "300 400 400 400, 1..3",
        "10 10 400 400 400, 2..4",
        // too large to be merged again, wherever it is
        "10 10 10 2000, none",
        "10 10 10 10 2000, 0..3",
        "10 10 10 10 2000 600 600, 5..6",
        "10 10 10 2000 600 100, none",
        // the oldest is more than 1.2 times the rest: left for later, the rest is looked at alone
        "10 10 10 10 900, 0..3",
        "10 10 10 900, none",
        "100 200 300 300 990, 0..4",
        "100 200 200 200 990, 0..3",
        // all of the same size as one flush
        "0 0 0 0, 0..3",
    })
    void prefix_merges_what_becomes_large_enough_or_is_too_many(String newestFirst, String range) {
        assertThat(chosen(new PrefixMergePolicy(1_000, 4), newestFirst)).isEqualTo(range);
    }

    /** The example that AsterixDB's source explains: 1 GiB | 192, 32, 32 MiB with 3 tolerated. */
    @Test
    void prefix_keeps_the_ratio_that_the_example_lacked() {
        MergePolicy policy = new PrefixMergePolicy(1_023, 3);
        assertThat(chosen(policy, "32 32 192 1024")).isEqualTo("none");
        assertThat(chosen(policy, "32 32 32 192 1024")).isEqualTo("0..2");
        assertThat(chosen(policy, "96 32 32 192 1024")).isEqualTo("0..3");
    }

    /** What a policy does to a long run of flushes. */
    private record Outcome(int componentsMax, int componentsAtEnd, double writesPerByte) {}

    private static Outcome run(MergePolicy policy, int flushes, SplittableRandom random) {
        List<ComponentSize> components = new ArrayList<>();
        long flushed = 0;
        long written = 0;
        int most = 0;
        for (int flush = 1; flush <= flushes; flush++) {
            long bytes = 64L + random.nextInt(64);
            components.addFirst(new ComponentSize(bytes, flush, flush, 0, false));
            flushed += bytes;
            written += bytes;
            int merges = 0;
            while (true) {
                List<ComponentSize> before = List.copyOf(components);
                Optional<MergeRange> choice = policy.choose(before);
                assertThat(policy.choose(before)).as("a pure function").isEqualTo(choice);
                if (choice.isEmpty()) {
                    break;
                }
                MergeRange range = choice.get();
                assertThat(range.lastIndex()).isLessThan(components.size());
                List<ComponentSize> inputs =
                        components.subList(range.firstIndex(), range.lastIndex() + 1);
                long sum = inputs.stream().mapToLong(ComponentSize::bytes).sum();
                ComponentSize merged = new ComponentSize(
                        sum,
                        inputs.getLast().minTimestamp(),
                        inputs.getFirst().maxTimestamp(),
                        1,
                        false);
                inputs.clear();
                components.add(range.firstIndex(), merged);
                written += sum;
                assertThat(++merges).as("merging comes to an end").isLessThan(100);
            }
            most = Math.max(most, components.size());
        }
        // nothing lost, nothing out of order
        assertThat(components.stream().mapToLong(ComponentSize::bytes).sum()).isEqualTo(flushed);
        for (int i = 1; i < components.size(); i++) {
            assertThat(components.get(i).maxTimestamp())
                    .isEqualTo(components.get(i - 1).minTimestamp() - 1);
        }
        return new Outcome(most, components.size(), (double) written / flushed);
    }

    @Test
    void thousands_of_flushes_leave_few_components_and_bounded_writes() {
        SplittableRandom random = new SplittableRandom(42);
        long uncapped = 1L << 40;
        Outcome tiering = run(new TieringMergePolicy(1.2, 2, uncapped), 4_096, random);
        assertThat(tiering.componentsMax()).isLessThanOrEqualTo(16);
        assertThat(tiering.writesPerByte()).isBetween(4.0, 14.0);

        Outcome capped = run(new TieringMergePolicy(1.2, 2, 8_192), 4_096, random);
        assertThat(capped.writesPerByte()).isLessThan(tiering.writesPerByte());
        // 393 KB in components of 8 KB and more, and a tail
        assertThat(capped.componentsAtEnd()).isBetween(15, 60);

        Outcome prefix = run(new PrefixMergePolicy(8_192, 5), 4_096, random);
        assertThat(prefix.componentsAtEnd()).isBetween(15, 80);
        assertThat(prefix.writesPerByte()).isBetween(2.0, 12.0);

        Outcome constant = run(new ConstantMergePolicy(5), 400, random);
        assertThat(constant.componentsMax()).isLessThanOrEqualTo(5);

        Outcome none = run(new NoMergePolicy(), 400, random);
        assertThat(none.componentsAtEnd()).isEqualTo(400);
        assertThat(none.writesPerByte()).isEqualTo(1);
    }

    @Test
    void any_list_gets_a_range_inside_it() {
        SplittableRandom random = new SplittableRandom(8);
        for (int i = 0; i < 20_000; i++) {
            long[] bytes = new long[random.nextInt(12)];
            for (int j = 0; j < bytes.length; j++) {
                bytes[j] = random.nextLong() >>> random.nextInt(1, 64);
            }
            // sums of a few exbibytes would wrap around: files are smaller
            for (int j = 0; j < bytes.length; j++) {
                bytes[j] >>>= 8;
            }
            long cap = 1 + (random.nextLong() >>> random.nextInt(1, 64));
            List<MergePolicy> policies = List.of(
                    new ConstantMergePolicy(random.nextInt(1, 6)),
                    new PrefixMergePolicy(cap, random.nextInt(2, 6)),
                    new TieringMergePolicy(random.nextDouble(0.1, 4), random.nextInt(2, 5), cap));
            for (MergePolicy policy : policies) {
                Optional<MergeRange> choice = policy.choose(sizes(bytes));
                choice.ifPresent(range -> {
                    assertThat(range.count()).isGreaterThanOrEqualTo(2);
                    assertThat(range.lastIndex()).isLessThan(bytes.length);
                });
            }
        }
    }

    @Test
    void a_spec_reads_back_what_it_prints() {
        List<String> texts = List.of(
                "no-merge",
                "constant(componentCountMax=5)",
                "prefix(mergeableBytesMax=1GiB, toleranceCount=5)",
                "correlated-prefix(mergeableBytesMax=64MiB, toleranceCount=3)",
                "correlated-no-merge",
                "tiering(sizeRatio=1.2, mergeCountMin=2, mergeableBytesMax=1GiB)",
                "correlated-tiering(sizeRatio=3.0, mergeCountMin=4, mergeableBytesMax=12345)");
        for (String text : texts) {
            MergePolicySpec spec = MergePolicySpec.parse(text);
            assertThat(spec.toString()).isEqualTo(text);
            assertThat(MergePolicySpec.parse(spec.toString())).isEqualTo(spec);
            assertThat(MergePolicySpec.parse(spec.kind(), spec.parameters())).isEqualTo(spec);
            assertThat(spec.isCorrelated()).isEqualTo(text.startsWith("correlated-"));
        }
        assertThat(MergePolicySpec.standard())
                .isEqualTo(MergePolicySpec.parse(" tiering( ) "))
                .hasToString("tiering(sizeRatio=1.2, mergeCountMin=2, mergeableBytesMax=1GiB)");
        for (String kind : MergePolicySpec.kinds()) {
            assertThat(MergePolicySpec.parse(kind).kind()).isEqualTo(kind);
            assertThat(MergePolicySpec.parse("correlated-" + kind).isCorrelated())
                    .isTrue();
        }
    }

    @Test
    void the_sample_of_the_feed_definition_is_read() {
        MergePolicySpec spec = MergePolicySpec.parse(
                "correlated-prefix", Map.of("mergeableBytesMax", "1GiB", "toleranceCount", 5));
        assertThat(spec).isEqualTo(new MergePolicySpec(new PrefixMergePolicy(1L << 30, 5), true));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "steady | kind: there is no merge policy 'steady'",
                "correlated- | kind: there is no merge policy 'correlated-'",
                "leveling | kind: merge policy 'leveling' is not available in this release",
                "correlated-concurrent | kind: merge policy 'correlated-concurrent' is not avail",
                "prefix(sizeRatio=1) | sizeRatio: merge policy prefix has no such parameter (it takes"
                        + " mergeableBytesMax, toleranceCount)",
                "no-merge(x=1) | x: merge policy no-merge has no such parameter (it takes none)",
                "prefix(toleranceCount=1) | toleranceCount: 1 must be at least 2",
                "prefix(toleranceCount=two) | toleranceCount: 'two' is not a whole number",
                "prefix(mergeableBytesMax=1GB) | mergeableBytesMax: '1GB' is not a number of bytes",
                "prefix(mergeableBytesMax=0) | mergeableBytesMax: 0 must be at least 1",
                "tiering(sizeRatio=NaN) | sizeRatio: NaN must be above 0",
                "tiering(sizeRatio=much) | sizeRatio: 'much' is not a number",
                "tiering(mergeCountMin=1) | mergeCountMin: 1 must be at least 2",
                "constant(componentCountMax=0) | componentCountMax: 0 must be at least 1",
                "constant(componentCountMax=1, componentCountMax=2) | componentCountMax: given twice",
                "constant(5) | kind: '5' in merge policy 'constant(5)' is not of the form name=value",
                "constant(componentCountMax=1 | kind: merge policy 'constant(componentCountMax=1'"
                        + " lacks the closing parenthesis",
            })
    void a_wrong_spec_says_what_is_wrong(String text, String message) {
        assertThatThrownBy(() -> MergePolicySpec.parse(text))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith(message);
    }

    @Test
    void ranges_and_sizes_are_checked() {
        assertThatThrownBy(() -> new MergeRange(2, 2)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new MergeRange(-1, 2))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ComponentSize(-1, 0, 0, 0, false))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ComponentSize(1, 5, 4, 0, false))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
