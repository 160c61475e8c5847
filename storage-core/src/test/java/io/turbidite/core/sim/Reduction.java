package io.turbidite.core.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Makes a list that fails a check as short as it gets: leaves out halves, quarters and so on down
 * to single elements, and keeps what still fails (delta debugging; Zeller, Hildebrandt 2002). What
 * is left fails, and as a rule no longer does without any one of its elements.
 *
 * <p>Elements must mean something whatever is left out around them. <em>Confined to one
 * thread.</em>
 */
public final class Reduction<T> {
    private final Predicate<List<T>> fails;
    private final int runCountMax;
    private int runCount;

    private Reduction(Predicate<List<T>> fails, int runCountMax) {
        this.fails = fails;
        this.runCountMax = runCountMax;
    }

    /**
     * What is left of a list.
     *
     * @param runCount how often the check was asked
     */
    public record Reduced<T>(List<T> left, int runCount) {
        public Reduced {
            left = List.copyOf(left);
        }
    }

    /**
     * Reduces a list that fails.
     *
     * @param fails whether a list fails, in the way in which the given one does
     * @param runCountMax how often it is asked at most; then what has been reached is given
     */
    public static <T> Reduced<T> of(List<T> failing, Predicate<List<T>> fails, int runCountMax) {
        Reduction<T> reduction = new Reduction<>(fails, runCountMax);
        List<T> left = reduction.reduce(failing);
        return new Reduced<>(left, reduction.runCount);
    }

    private List<T> reduce(List<T> failing) {
        List<T> left = failing;
        int chunk = Math.max(1, left.size() / 2);
        while (!left.isEmpty()) {
            int before = left.size();
            left = withoutChunks(left, Math.min(chunk, before));
            boolean ended = chunk == 1 && left.size() == before;
            if (ended || runCount >= runCountMax) {
                break;
            }
            chunk = Math.max(1, chunk / 2);
        }
        return left;
    }

    /** One pass, from the end: what comes after the failure goes first. */
    private List<T> withoutChunks(List<T> failing, int chunk) {
        List<T> left = failing;
        int end = left.size();
        while (end > 0 && runCount < runCountMax) {
            int start = Math.max(0, end - chunk);
            List<T> candidate = new ArrayList<>(left.subList(0, start));
            candidate.addAll(left.subList(end, left.size()));
            runCount++;
            if (fails.test(candidate)) {
                left = candidate;
            }
            end = start;
        }
        return left;
    }
}
