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
            bytes[i] = Long.parseLong(words[i].replaceAll("[\\[\\]]", ""));
        }
        List<ComponentSize> components = sizes(bytes);
        for (int i = 0; i < words.length; i++) {
            if (words[i].startsWith("[")) {
                components.set(i, components.get(i).merging());
            }
        }
        return components;
    }

    private static String chosen(MergePolicy policy, String newestFirst) {
        return text(policy.choose(parse(newestFirst)));
    }

    private static String text(Optional<MergeRange> range) {
        return range.map(r -> r.firstIndex() + ".." + r.lastIndex()).orElse("none");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "5", "1 1 1 1 1 1 1 1 1 1"})
    void no_merge_never_merges(String newestFirst) {
        assertThat(chosen(new NoMergePolicy(), newestFirst)).isEqualTo("none");
    }

    /** Components of these generations, newest first, all of one size. */
    private static String chosenByGeneration(int countMax, int... newestFirst) {
        List<ComponentSize> components = new ArrayList<>();
        for (int i = 0; i < newestFirst.length; i++) {
            long timestamp = (long) newestFirst.length - i;
            components.add(new ComponentSize(10, timestamp, timestamp, newestFirst[i], false));
        }
        return text(new ConstantMergePolicy(countMax).choose(components));
    }

    @Test
    void constant_merges_a_flush_with_all_of_its_neighbours_generation() {
        assertThat(chosenByGeneration(3)).isEqualTo("none");
        assertThat(chosenByGeneration(3, 0, 0, 0)).isEqualTo("none");
        assertThat(chosenByGeneration(3, 0, 0, 0, 0)).isEqualTo("0..3");
        assertThat(chosenByGeneration(3, 0, 0, 0, 1)).isEqualTo("0..2");
        assertThat(chosenByGeneration(3, 0, 0, 1, 1)).isEqualTo("0..1");
        assertThat(chosenByGeneration(3, 0, 1, 1, 1)).isEqualTo("0..3");
        assertThat(chosenByGeneration(3, 0, 1, 1, 4)).isEqualTo("0..2");
        // a list that another policy left behind: what was written less often goes along
        assertThat(chosenByGeneration(3, 0, 3, 2, 4)).isEqualTo("0..2");
        assertThat(chosenByGeneration(1, 0, 7)).isEqualTo("0..1");
    }

    /** T is 10: levels are the numbers of digits. */
    @ParameterizedTest
    @CsvSource({
        "'', none",
        "500, none",
        "1 10 100, none",
        "1 1, 0..1",
        "5 4 20 300, 0..1",
        // 5 + 5 is of the next level, and 10 + 95 of the one after: one merge
        "5 5 20 300, 0..2",
        "5 5 95 300 9000, 0..3",
        // an older one of a lower level is merged too
        "20 3 400, 0..1",
        "1 20 30 400, 1..2",
        "0 0, 0..1",
    })
    void leveling_keeps_one_component_a_level(String newestFirst, String range) {
        assertThat(chosen(new LevelingMergePolicy(10), newestFirst)).isEqualTo(range);
    }

    /** T is 4: levels begin at 4, 16, 64, 256. */
    @ParameterizedTest
    @CsvSource({
        "'', none",
        "500, none",
        "1 1 1 300, none",
        "1 1 1 1 300, 0..3",
        // the four make a fourth of the next level, and those make one of the level after
        "1 1 1 1 4 4 4 300, 0..6",
        "1 1 1 1 4 4 300, 0..3",
        "1 1 4 4 4 4 300, 2..5",
        // what reaches the last level goes into the oldest
        "1 1 1 1 4 4 4 16 16 16 70, 0..10",
        "300 300, 0..1",
        "1 300 300, 1..2",
        "1 1, 0..1",
    })
    void lazy_leveling_tiers_above_the_oldest(String newestFirst, String range) {
        assertThat(chosen(new LazyLevelingMergePolicy(4), newestFirst)).isEqualTo(range);
    }

    /** Ratio 1.2, 3 to 5 at a time. */
    @ParameterizedTest
    @CsvSource({
        "'', none",
        "10 10, none",
        "10 10 10, 0..2",
        "10 10 30, none",
        // 24 is 1.2 times 20
        "10 10 24, 0..2",
        "10 10 25, none",
        "10 10 10 30, 0..3",
        // the oldest first, with the four before it
        "10 10 10 10 10 10 10, 2..6",
        "1 1 1 1 50 50 50 900, 2..6",
        "1 1 1 1 1 900, 0..4",
    })
    void concurrent_merges_a_bounded_number_oldest_first(String newestFirst, String range) {
        assertThat(chosen(new ConcurrentMergePolicy(1.2, 3, 5), newestFirst)).isEqualTo(range);
    }

    /** Marked ones in brackets. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "constant(componentCountMax=3) | 1 1 [1] [1] | 0..1",
                "constant(componentCountMax=3) | 1 [1] [1] 1 | none",
                "tiering(sizeRatio=1.2) | 1 1 1 [3] [3] 7 | 0..2",
                "tiering(sizeRatio=1.2) | 1 [3] [3] 7 20 | none",
                "tiering(sizeRatio=1.2) | [1] [1] 3 3 3 | 2..4",
                "prefix(toleranceCount=3) | [1] [1] 3 3 3 [9] | 2..4",
                "leveling | 1 1 [10] [10] 100 | 0..1",
                "leveling | 1 [10] [10] 100 | none",
                "leveling | 1 [10] [10] 100 200 | 3..4",
                "lazy-leveling | 1 1 1 1 [16] [16] [90] | 0..3",
                "lazy-leveling | 1 1 [90] | none",
                "concurrent | 1 1 1 [9] [9] [9] 30 30 30 | 0..2",
                "concurrent | 1 1 [9] [9] [9] 30 30 30 | 5..7",
                "concurrent | 1 1 [9] [9] [9] 30 80 | none",
            })
    void what_is_being_merged_is_left_alone(String policy, String newestFirst, String range) {
        assertThat(text(MergePolicySpec.parse(policy).policy().choose(parse(newestFirst))))
                .isEqualTo(range);
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

    private static List<ComponentSize> randomList(SplittableRandom random) {
        long[] bytes = new long[random.nextInt(12)];
        for (int j = 0; j < bytes.length; j++) {
            // sums of a few exbibytes would wrap around: files are smaller
            bytes[j] = (random.nextLong() >>> random.nextInt(1, 64)) >>> 8;
        }
        List<ComponentSize> components = sizes(bytes);
        for (int i = 0; i < bytes.length; i++) {
            ComponentSize plain = components.get(i);
            components.set(
                    i,
                    new ComponentSize(
                            plain.bytes(),
                            plain.minTimestamp(),
                            plain.maxTimestamp(),
                            random.nextInt(3),
                            false));
        }
        return components;
    }

    private static List<MergePolicy> randomPolicies(SplittableRandom random) {
        long cap = 1 + (random.nextLong() >>> random.nextInt(1, 64));
        int countMin = random.nextInt(2, 5);
        return List.of(
                new NoMergePolicy(),
                new ConstantMergePolicy(random.nextInt(1, 6)),
                new PrefixMergePolicy(cap, random.nextInt(2, 6)),
                new TieringMergePolicy(random.nextDouble(0.1, 4), random.nextInt(2, 5), cap),
                new LevelingMergePolicy(random.nextInt(2, 12)),
                new LazyLevelingMergePolicy(random.nextInt(2, 6)),
                new ConcurrentMergePolicy(
                        random.nextDouble(0.1, 4), countMin, countMin + random.nextInt(4)));
    }

    private static void mergeAll(MergePolicy policy, List<ComponentSize> components) {
        Optional<MergeRange> choice = policy.choose(components);
        while (choice.isPresent()) {
            assertThat(policy.choose(List.copyOf(components))).isEqualTo(choice);
            MergeRange range = choice.get();
            List<ComponentSize> inputs =
                    components.subList(range.firstIndex(), range.lastIndex() + 1);
            ComponentSize merged = PaperIndex.merged(inputs);
            inputs.clear();
            components.add(range.firstIndex(), merged);
            choice = policy.choose(components);
        }
    }

    /** Lists that no policy would leave: after a change of policy, say. */
    @Test
    void any_list_is_merged_until_it_is_well() {
        SplittableRandom random = new SplittableRandom(8);
        for (int i = 0; i < 5_000; i++) {
            List<ComponentSize> list = randomList(random);
            for (MergePolicy policy : randomPolicies(random)) {
                mergeAll(policy, new ArrayList<>(list));
            }
        }
    }

    @Test
    void marks_only_take_answers_away() {
        SplittableRandom random = new SplittableRandom(10);
        for (int i = 0; i < 300; i++) {
            for (MergePolicy policy : randomPolicies(random)) {
                List<ComponentSize> components = new ArrayList<>();
                for (int flush = 1; flush <= 60; flush++) {
                    components.addFirst(
                            new ComponentSize(random.nextLong(50, 150), flush, flush, 0, false));
                    mergeAll(policy, components);
                    List<ComponentSize> marked = new ArrayList<>(components);
                    marked.replaceAll(c -> random.nextInt(3) == 0 ? c.merging() : c);
                    assertThat(policy.choose(marked))
                            .as("%s of %s", policy, marked)
                            .isEmpty();
                }
            }
        }
    }

    /** As a scheduler uses a policy: merges start while others run, and end in any order. */
    @Test
    void merges_that_run_side_by_side_are_disjoint_and_come_to_rest() {
        SplittableRandom random = new SplittableRandom(9);
        for (int i = 0; i < 300; i++) {
            for (MergePolicy policy : randomPolicies(random)) {
                List<ComponentSize> components = new ArrayList<>();
                List<List<ComponentSize>> running = new ArrayList<>();
                for (int step = 1; step <= 60; step++) {
                    components.addFirst(
                            new ComponentSize(random.nextLong(50, 150), step, step, 0, false));
                    start(policy, components, running);
                    while (!running.isEmpty() && random.nextInt(3) == 0) {
                        end(components, running.remove(random.nextInt(running.size())));
                        start(policy, components, running);
                    }
                }
                while (!running.isEmpty()) {
                    end(components, running.remove(random.nextInt(running.size())));
                    start(policy, components, running);
                }
                assertThat(policy.choose(components)).isEmpty();
                assertThat(components.getFirst().maxTimestamp()).isEqualTo(60);
                assertThat(components.getLast().minTimestamp()).isEqualTo(1);
            }
        }
    }

    private static void start(
            MergePolicy policy, List<ComponentSize> components, List<List<ComponentSize>> running) {
        Optional<MergeRange> choice = policy.choose(components);
        while (choice.isPresent()) {
            List<ComponentSize> inputs =
                    components.subList(choice.get().firstIndex(), choice.get().lastIndex() + 1);
            running.add(List.copyOf(inputs));
            inputs.replaceAll(ComponentSize::merging);
            choice = policy.choose(components);
        }
    }

    private static void end(List<ComponentSize> components, List<ComponentSize> inputs) {
        int first = components.indexOf(inputs.getFirst().merging());
        components.subList(first, first + inputs.size()).clear();
        components.add(first, PaperIndex.merged(inputs));
    }

    @Test
    void a_spec_reads_back_what_it_prints() {
        List<String> texts = List.of(
                "no-merge",
                "constant(componentCountMax=5)",
                "prefix(mergeableBytesMax=1GiB, toleranceCount=5)",
                "correlated-prefix(mergeableBytesMax=64MiB, toleranceCount=3)",
                "correlated-no-merge",
                "tiering(sizeRatio=3.0, mergeCountMin=2, mergeableBytesMax=1GiB)",
                "correlated-tiering(sizeRatio=3.0, mergeCountMin=4, mergeableBytesMax=12345)",
                "leveling(sizeRatio=10)",
                "correlated-lazy-leveling(sizeRatio=4)",
                "concurrent(sizeRatio=1.2, mergeCountMin=3, mergeCountMax=10)");
        for (String text : texts) {
            MergePolicySpec spec = MergePolicySpec.parse(text);
            assertThat(spec.toString()).isEqualTo(text);
            assertThat(MergePolicySpec.parse(spec.toString())).isEqualTo(spec);
            assertThat(MergePolicySpec.parse(spec.kind(), spec.parameters())).isEqualTo(spec);
            assertThat(spec.isCorrelated()).isEqualTo(text.startsWith("correlated-"));
        }
        assertThat(MergePolicySpec.standard())
                .isEqualTo(MergePolicySpec.parse(" tiering( ) "))
                .hasToString("tiering(sizeRatio=3.0, mergeCountMin=2, mergeableBytesMax=1GiB)");
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
                "leveling(sizeRatio=1) | sizeRatio: 1 must be from 2 to 1000",
                "leveling(sizeRatio=1.5) | sizeRatio: '1.5' is not a whole number",
                "lazy-leveling(sizeRatio=1001) | sizeRatio: 1001 must be from 2 to 1000",
                "lazy-leveling(mergeCountMax=3) | mergeCountMax: merge policy lazy-leveling has no",
                "concurrent(sizeRatio=0) | sizeRatio: 0.0 must be above 0 and at most 1000",
                "concurrent(sizeRatio=Infinity) | sizeRatio: Infinity must be above 0 and at most",
                "concurrent(mergeCountMin=1) | mergeCountMin: 1 must be at least 2",
                "correlated-concurrent(mergeCountMax=2) | mergeCountMax: 2 must be at least 3,"
                        + " mergeCountMin",
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
        assertThatThrownBy(() -> new MergeRange(2, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new MergeRange(-1, 2))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ComponentSize(-1, 0, 0, 0, false))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ComponentSize(1, 5, 4, 0, false))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
