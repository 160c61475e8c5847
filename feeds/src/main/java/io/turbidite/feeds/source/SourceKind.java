package io.turbidite.feeds.source;

import io.turbidite.core.InvalidRequestException;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A kind of source, found by {@link java.util.ServiceLoader}: {@code source: {kind: NAME, …}} in
 * a definition chooses the one of that name. <em>Thread-safe.</em>
 */
public interface SourceKind {
    /** The word in definitions: small letters, digits and {@code -}. */
    String name();

    /** The keys that a definition must have beside {@code kind}. */
    Set<String> required();

    /** The keys that it may have beside those. */
    default Set<String> optional() {
        return Set.of();
    }

    /**
     * Looks at one option when a definition is read, before it is kept anywhere.
     *
     * @throws InvalidRequestException saying what is wrong with it, without repeating a secret
     */
    default void check(String key, String value) {}

    /**
     * The files that options name, beside {@code path}: those of a definition that came over the
     * network must lie where the server's operator allows it. Relative to the definition.
     *
     * @throws InvalidRequestException if such a definition may not ask for what these do
     */
    default List<String> files(Map<String, String> options) {
        return List.of();
    }

    /**
     * Opens a source. What it needs may be away for now if it comes back by itself; then the
     * source has nothing to read, or this fails with a {@link
     * io.turbidite.core.StorageIoException}: the feed is tried again.
     *
     * @param options the definition's keys and their values, but for {@code kind}
     * @param directory to which paths in options are relative
     * @throws InvalidRequestException saying what is wrong with the options
     */
    FeedSource open(Map<String, String> options, Path directory);
}
