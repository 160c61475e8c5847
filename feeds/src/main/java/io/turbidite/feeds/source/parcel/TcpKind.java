package io.turbidite.feeds.source.parcel;

import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.SourceKind;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/** {@code source: {kind: tcp}}: lines that clients send to a port of a server. */
public final class TcpKind implements SourceKind {
    /** In definitions. */
    public static final String NAME = "tcp";

    /** Made by {@link java.util.ServiceLoader}. */
    public TcpKind() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Set<String> required() {
        return Set.of();
    }

    @Override
    public FeedSource open(Map<String, String> options, Path directory) {
        return new ParcelSource();
    }
}
