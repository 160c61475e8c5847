package io.turbidite.feeds.source.file;

import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.SourceKind;

import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** {@code source: {kind: file, path: …}}: a file, or the files of a directory. */
public final class FileKind implements SourceKind {
    /** Made by {@link java.util.ServiceLoader}. */
    public FileKind() {}

    @Override
    public String name() {
        return "file";
    }

    @Override
    public Set<String> required() {
        return Set.of("path");
    }

    @Override
    public FeedSource open(Map<String, String> options, Path directory) {
        return FileSource.open(directory.resolve(Objects.requireNonNull(options.get("path"))));
    }
}
