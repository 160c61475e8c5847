package io.turbidite.feeds.source.kafka;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.feeds.source.file.FileSource;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a definition says in the place of a value that it does not hold. <em>Immutable.</em> */
sealed interface Reference {
    /** A variable of the process' environment: {@code ${env:NAME}}. */
    record Variable(String name) implements Reference {}

    /** The text of a file, without white space at its end: {@code ${file:PATH}}. */
    record Content(String path) implements Reference {}

    /** A private key of 16,384 bits has 13 kB as PEM. */
    int FILE_BYTES_MAX = 64 << 10;

    /** Which variables a definition may name that came over the network. */
    String OPEN_VARIABLES = "TURBIDITE_";

    Pattern FORM = Pattern.compile("\\$\\{(env|file):([^{}]+)}");

    /** Null if the value is no reference, but a value. */
    static @Nullable Reference of(String value) {
        Matcher matcher = FORM.matcher(value);
        if (!matcher.matches()) {
            return null;
        }
        return matcher.group(1).equals("env")
                ? new Variable(matcher.group(2))
                : new Content(matcher.group(2));
    }

    /**
     * What it stands for.
     *
     * @param directory that paths are relative to
     * @throws InvalidRequestException if there is no such thing
     */
    default String resolve(String setting, Path directory) {
        return switch (this) {
            case Variable(String name) -> {
                String value = System.getenv(name);
                if (value == null) {
                    throw new InvalidRequestException(
                            "%s: the environment has no variable %s".formatted(setting, name));
                }
                yield value;
            }
            case Content(String path) -> {
                try {
                    byte[] bytes = FileSource.readSmall(directory.resolve(path), FILE_BYTES_MAX);
                    yield new String(bytes, StandardCharsets.UTF_8).stripTrailing();
                } catch (InvalidPathException | StorageException e) {
                    throw new InvalidRequestException("%s: %s".formatted(setting, e.getMessage()));
                }
            }
        };
    }
}
