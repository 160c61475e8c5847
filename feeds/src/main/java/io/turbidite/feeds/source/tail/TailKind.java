package io.turbidite.feeds.source.tail;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.RealDisk;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.SourceKind;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * {@code source: {kind: tail, path: DIRECTORY/PATTERN}}: files that grow, for ever. The pattern is
 * of the file's name alone.
 */
public final class TailKind implements SourceKind {
    /** In definitions. */
    public static final String NAME = "tail";

    /** Made by {@link java.util.ServiceLoader}. */
    public TailKind() {}

    /**
     * Follows the files in the root of a disk whose names fit a pattern ({@code *}, {@code ?},
     * {@code [a-z]}, {@code {a,b}}).
     *
     * @throws InvalidRequestException if it is no pattern
     */
    public static FeedSource follow(Disk disk, String pattern) {
        return TailSource.open(disk, pattern);
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Set<String> required() {
        return Set.of("path");
    }

    @Override
    public FeedSource open(Map<String, String> options, Path directory) {
        Path path =
                directory.resolve(Objects.requireNonNull(options.get("path"))).toAbsolutePath();
        Path parent = path.getParent();
        if (parent == null || path.getFileName() == null) {
            throw new InvalidRequestException("there is no file name in " + path);
        }
        Path real;
        try {
            real = parent.toRealPath();
        } catch (NoSuchFileException e) {
            throw away(
                    parent.toString(),
                    "there is no such directory; a pattern may be in the file's name alone",
                    e);
        } catch (IOException e) {
            throw new InvalidRequestException(
                    "the directory %s can't be looked at: %s".formatted(parent, e.getMessage()), e);
        }
        return follow(RealDisk.open(real), path.getFileName().toString());
    }

    /** That a directory is not there for now. */
    static StorageIoException away(String directory, String reason, Throwable cause) {
        return new StorageIoException(
                        StorageIoException.Kind.NOT_FOUND, "list", directory, reason, cause)
                .asOfReading();
    }
}
