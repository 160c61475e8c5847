package io.turbidite.lsm.merge;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A list of components cut at those that are being merged. A policy whose rule is about neighbours
 * looks at each piece by itself, as if it were the whole list. Stateless.
 */
final class FreeRuns {
    private FreeRuns() {}

    /**
     * What the rule chooses from the newest run of free components from which it chooses anything.
     *
     * @param rule gets a run of at least two, newest first, and answers with a range in it or null
     */
    static Optional<MergeRange> choose(
            List<ComponentSize> newestFirst,
            Function<List<ComponentSize>, @Nullable MergeRange> rule) {
        int first = 0;
        while (first < newestFirst.size()) {
            int end = first;
            while (end < newestFirst.size() && !newestFirst.get(end).isMerging()) {
                end++;
            }
            MergeRange range = end - first < 2 ? null : rule.apply(newestFirst.subList(first, end));
            if (range != null) {
                return Optional.of(
                        new MergeRange(first + range.firstIndex(), first + range.lastIndex()));
            }
            first = end + 1;
        }
        return Optional.empty();
    }
}
