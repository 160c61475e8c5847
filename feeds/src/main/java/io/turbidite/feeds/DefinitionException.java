package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.stream.Collectors;

/**
 * An unusable feed definition; nothing was created. Carries every problem found, at least one. The
 * message has all of them, each on its own line.
 */
public final class DefinitionException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    private final transient List<Problem> problems;

    /** With all problems that were found, at least one. */
    public DefinitionException(List<Problem> problems) {
        super(summary(problems));
        this.problems = List.copyOf(problems);
    }

    /** With what was found out by failing. */
    DefinitionException(List<Problem> problems, @Nullable Throwable cause) {
        super(summary(problems), cause);
        this.problems = List.copyOf(problems);
    }

    /** In the order of their lines. */
    public List<Problem> problems() {
        return problems;
    }

    /** The same problems, of a definition whose text lies in this file. */
    public DefinitionException inFile(String file) {
        List<Problem> named = problems.stream()
                .map(one -> new Problem(file, one.line(), one.key(), one.message()))
                .toList();
        return new DefinitionException(named, this);
    }

    private static String summary(List<Problem> problems) {
        return problems.stream().map(Problem::toString).collect(Collectors.joining("\n"));
    }

    /**
     * One problem.
     *
     * @param file the definition
     * @param line from 1
     * @param key with the keys above it: {@code dataset.indexes[1].kind}; empty for the whole file
     * @param message what is wrong and what would be right
     */
    public record Problem(String file, int line, String key, String message) {
        @Override
        public String toString() {
            return key.isEmpty()
                    ? "%s:%d: %s".formatted(file, line, message)
                    : "%s:%d: %s %s".formatted(file, line, key, message);
        }
    }
}
