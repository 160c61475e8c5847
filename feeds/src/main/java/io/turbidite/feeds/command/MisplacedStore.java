package io.turbidite.feeds.command;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.RealDisk;
import io.turbidite.feeds.ShellWord;
import io.turbidite.feeds.log.DirectoryKind;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine;
import picocli.CommandLine.Model.PositionalParamSpec;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;

/** Tells who gave a store behind what belongs behind it. Static, without state. */
final class MisplacedStore {
    private MisplacedStore() {}

    /**
     * What to do; null if that is no such failure.
     *
     * @param directory where relative paths begin
     */
    static @Nullable String advice(Exception failure, CommandLine line, Path directory) {
        CommandLine.ParseResult parsed = line.getParseResult();
        if (!(failure instanceof InvalidRequestException) || parsed == null) {
            return null;
        }
        List<PositionalParamSpec> given = parsed.matchedPositionals();
        if (given.isEmpty() || !given.getFirst().paramLabel().equals("STORE")) {
            return null;
        }
        List<String> values = given.stream()
                .flatMap(one -> one.originalStringValues().stream())
                .toList();
        if (isDirectory(directory, values.getFirst())) {
            return null;
        }
        return values.stream()
                .skip(1)
                .filter(value -> isStore(directory, value))
                .findFirst()
                .map(store -> "the store comes first: ./%s %s …"
                        .formatted(line.getCommandSpec().qualifiedName(" "), ShellWord.of(store)))
                .orElse(null);
    }

    private static boolean isDirectory(Path from, String value) {
        try {
            return RealDisk.isDirectory(from.resolve(value));
        } catch (InvalidPathException noPath) {
            return false;
        }
    }

    private static boolean isStore(Path from, String value) {
        return isDirectory(from, value)
                && DirectoryKind.of(from.resolve(value)) == DirectoryKind.STORE;
    }
}
