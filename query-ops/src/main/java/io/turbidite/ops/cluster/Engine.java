package io.turbidite.ops.cluster;

import io.turbidite.core.InvalidRequestException;

import org.apache.hyracks.control.common.ipc.NodeControllerRemoteProxy;
import org.apache.hyracks.ipc.api.IIPCHandle;

import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.Callable;

/** What the engine's controller and nodes have in common. Static, without state. */
final class Engine {
    /** Nobody else reaches it (decision 0006). */
    static final String LOOPBACK = "127.0.0.1";

    /** Frames of a channel that are on their way, at each of its ends. */
    static final int BUFFERS_A_CHANNEL = 2;

    /** The field of both services that makes their sockets; they have no setter for it. */
    private static final String SECURITY = "networkSecurityManager";

    /** The connection of a proxy; it has no getter. */
    private static final String HANDLE = "ipcHandle";

    private Engine() {}

    /** Calls the engine; what it throws is told as ours. */
    static <T> T call(String what, Callable<T> call) {
        try {
            return call.call();
        } catch (InvalidRequestException | ClusterException e) {
            throw e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException("can't %s: interrupted".formatted(what), e);
        } catch (Exception e) {
            throw new ClusterException(
                    "can't %s: %s"
                            .formatted(
                                    what, Objects.requireNonNullElse(e.getMessage(), e.toString())),
                    e);
        }
    }

    /** Gives a service our sockets, before it starts. */
    static void secure(Class<?> type, Object service, Members members)
            throws ReflectiveOperationException {
        Field security = type.getDeclaredField(SECURITY);
        security.setAccessible(true);
        security.set(service, members);
    }

    /** The address at which the engine's controller reaches a node that has just registered. */
    static InetSocketAddress addressOf(NodeControllerRemoteProxy node)
            throws ReflectiveOperationException {
        Field handle = NodeControllerRemoteProxy.class.getDeclaredField(HANDLE);
        handle.setAccessible(true);
        return ((IIPCHandle) handle.get(node)).getRemoteAddress();
    }
}
