package io.turbidite.core.catalog;

import io.turbidite.core.InvalidRequestException;

import java.util.List;
import java.util.stream.Collectors;

/** A feed's definition can't be used as it is; nothing was changed. */
public final class FeedRefusedException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    private final transient List<Problem> problems;

    /** With every problem that was found, at least one, and what told so. */
    public FeedRefusedException(List<Problem> problems, Throwable cause) {
        super(problems.stream().map(Problem::toString).collect(Collectors.joining("; ")), cause);
        this.problems = List.copyOf(problems);
    }

    /** All that was found. */
    public List<Problem> problems() {
        return problems;
    }

    /**
     * One problem.
     *
     * @param key with the keys above it: {@code dataset.indexes[1].kind}; empty for the whole
     * @param message what is wrong and what would be right
     */
    public record Problem(String key, String message) {
        @Override
        public String toString() {
            return key.isEmpty() ? message : key + " " + message;
        }
    }
}
