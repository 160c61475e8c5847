package io.turbidite.feeds.command;

import io.turbidite.core.NearestName;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.UnmatchedArgumentException;

/** Which option was meant by one that a command does not have. Static, without state. */
final class Mistyped {
    private Mistyped() {}

    /** What to say of an unknown option that is like one there is, or null. */
    static @Nullable String told(UnmatchedArgumentException e) {
        if (!e.isUnknownOption()) {
            return null;
        }
        String given = e.getUnmatched().getFirst().replaceFirst("=.*", "");
        String meant = nearest(given, e.getCommandLine().getCommandSpec());
        return meant == null ? null : "Unknown option: '%s'; is %s meant?".formatted(given, meant);
    }

    private static @Nullable String nearest(String given, CommandSpec command) {
        return NearestName.of(
                given,
                command.options().stream()
                        .filter(option -> !option.hidden())
                        .map(OptionSpec::longestName)
                        .toList());
    }
}
