package io.turbidite.ops.cluster;

import io.turbidite.core.Cleanup;

import org.apache.hyracks.control.nc.NodeControllerService;
import org.apache.hyracks.control.nc.net.NetworkManager;
import org.apache.hyracks.control.nc.net.ResultNetworkManager;
import org.apache.hyracks.net.protocols.muxdemux.MuxDemux;
import org.apache.hyracks.net.protocols.tcp.TCPEndpoint;
import org.jspecify.annotations.Nullable;

import java.io.Closeable;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Closes the ports of a node for rows and results, which the engine never does: their threads run
 * for ever, and catch every exception. What they don't catch is an {@link Error}, which our sockets
 * throw once they are closed ({@link Members#close}). Static, without state.
 */
final class EngineSockets {
    private static final long THREAD_WAIT_MILLIS = TimeUnit.SECONDS.toMillis(5);

    private EngineSockets() {}

    /** Thrown in a thread of the engine that is to end. */
    static final class Closed extends Error {
        private static final long serialVersionUID = 1L;

        Closed() {
            super("the sockets of this process are closed", null, false, false);
        }
    }

    /** Closes the ports of a node whose sockets make no connection any more. */
    static void close(NodeControllerService service) {
        Cleanup cleanup = new Cleanup();
        NetworkManager rows = service.getNetworkManager();
        if (rows != null) {
            cleanup.add(() -> close(rows.getMuxDemux()));
        }
        ResultNetworkManager results = service.getResultNetworkManager();
        if (results != null) {
            cleanup.add(() -> Engine.call("close the port for results", () -> {
                close((MuxDemux) Engine.get(ResultNetworkManager.class, results, "md"));
                return results;
            }));
        }
        cleanup.run();
    }

    private static void close(@Nullable MuxDemux connections) {
        Engine.call("close a port", () -> {
            Object endpoint = connections == null
                    ? null
                    : Engine.get(MuxDemux.class, connections, "tcpEndpoint");
            if (endpoint == null) {
                return "";
            }
            Object threads = Engine.get(TCPEndpoint.class, endpoint, "ioThreads");
            if (threads != null) {
                for (Object thread : (Object[]) threads) {
                    end((Thread) thread);
                }
            }
            closeAll((ServerSocketChannel)
                    Engine.get(TCPEndpoint.class, endpoint, "serverSocketChannel"));
            return "";
        });
    }

    /** Hands a socket to a thread, of which it asks us to make a connection. */
    private static void end(Thread thread) throws ReflectiveOperationException, IOException {
        Selector selector = (Selector) Engine.get(thread.getClass(), thread, "selector");
        try (SocketChannel none = SocketChannel.open()) {
            Method add = thread.getClass()
                    .getDeclaredMethod("addIncomingConnection", SocketChannel.class);
            add.setAccessible(true);
            add.invoke(thread, none);
            thread.join(THREAD_WAIT_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (selector != null) {
            for (SelectionKey key : List.copyOf(selector.keys())) {
                closeAll(key.channel());
            }
            closeAll(selector);
        }
    }

    private static void closeAll(@Nullable Closeable open) throws IOException {
        if (open != null) {
            open.close();
        }
    }
}
