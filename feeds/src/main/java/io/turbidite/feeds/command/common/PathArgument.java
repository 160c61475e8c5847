package io.turbidite.feeds.command.common;

import io.turbidite.core.InvalidRequestException;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** Arguments that are paths. Static, without state. */
public final class PathArgument {
    private PathArgument() {}

    /**
     * A path as it was given.
     *
     * @param what the argument
     */
    public static Path path(String what, String text) {
        if (text.isEmpty()) {
            throw new InvalidRequestException(what + " is empty; give a path");
        }
        try {
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw new InvalidRequestException(
                    "%s '%s' is not a path: %s".formatted(what, text, e.getReason()), e);
        }
    }
}
