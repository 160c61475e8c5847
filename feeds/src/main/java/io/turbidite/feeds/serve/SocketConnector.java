package io.turbidite.feeds.serve;

import io.turbidite.ops.jdbc.HolderChannel;
import io.turbidite.ops.jdbc.HolderConnector;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/** Reaches the process that holds a store by the socket in its directory. */
public final class SocketConnector implements HolderConnector {
    /** For {@link java.util.ServiceLoader}. */
    public SocketConnector() {}

    @Override
    public @Nullable HolderChannel connect(Path directory) throws IOException {
        SocketChannel socket = SocketClient.connect(directory);
        if (socket == null) {
            return null;
        }
        SocketSession made = null;
        try {
            made = SocketSession.begin(socket);
            return made;
        } finally {
            if (made == null) {
                socket.close();
            }
        }
    }
}
