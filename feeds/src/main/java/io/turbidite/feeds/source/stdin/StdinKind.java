package io.turbidite.feeds.source.stdin;

import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.SourceKind;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/**
 * {@code source: {kind: stdin}}: what is piped into the process. One feed of a process reads it, up
 * to its end: a second one would find nothing.
 */
public final class StdinKind implements SourceKind {
    /** In definitions. */
    public static final String NAME = "stdin";

    /** Made by {@link java.util.ServiceLoader}. */
    public StdinKind() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Set<String> required() {
        return Set.of();
    }

    /** Nothing is read before the feed runs. */
    @Override
    public FeedSource open(Map<String, String> options, Path directory) {
        return new StdinSource(System.in);
    }
}
