package io.turbidite.feeds.source.parcel;

import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.SourceKind;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/** {@code source: {kind: http}}: what clients send to {@code POST /v1/feeds/{feed}}. */
public final class HttpKind implements SourceKind {
    /** In definitions. */
    public static final String NAME = "http";

    /** Made by {@link java.util.ServiceLoader}. */
    public HttpKind() {}

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
