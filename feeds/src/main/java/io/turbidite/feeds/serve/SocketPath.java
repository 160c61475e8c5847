package io.turbidite.feeds.serve;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The address of a socket in a directory whose path may be longer than the 107 bytes that the
 * system takes: then it is reached through a symbolic link in a temporary directory of our own,
 * until closed.
 */
final class SocketPath implements AutoCloseable {
    /** The system's 108 bytes end in a zero. */
    private static final int PATH_BYTES_MAX = 107;

    private static final String LINK = "d";

    private final Path path;
    private final Path temporary;

    private SocketPath(Path path, Path temporary) {
        this.path = path;
        this.temporary = temporary;
    }

    /**
     * The address of a file in a directory.
     *
     * @throws IOException if the path is too long and no link can be made
     */
    static SocketPath of(Path directory, String name) throws IOException {
        Path direct = directory.resolve(name);
        if (direct.toString().getBytes(StandardCharsets.UTF_8).length <= PATH_BYTES_MAX) {
            return new SocketPath(direct, directory);
        }
        Path temporary = Files.createTempDirectory("turbidite");
        Path link = temporary.resolve(LINK);
        Files.createSymbolicLink(link, directory.toAbsolutePath());
        Path shortened = link.resolve(name);
        SocketPath made = new SocketPath(shortened, temporary);
        int bytes = shortened.toString().getBytes(StandardCharsets.UTF_8).length;
        if (bytes > PATH_BYTES_MAX) {
            made.close();
            throw new IOException(
                    "the path of the socket has %d bytes, 107 at most are possible; set java.io.tmpdir to a short path"
                            .formatted(bytes));
        }
        return made;
    }

    UnixDomainSocketAddress address() {
        return UnixDomainSocketAddress.of(path);
    }

    @Override
    public void close() throws IOException {
        if (!path.startsWith(temporary.resolve(LINK))) {
            return;
        }
        Files.deleteIfExists(temporary.resolve(LINK));
        Files.deleteIfExists(temporary);
    }
}
