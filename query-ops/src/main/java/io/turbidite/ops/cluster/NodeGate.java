package io.turbidite.ops.cluster;

import org.apache.hyracks.control.common.ipc.CCNCFunctions;
import org.apache.hyracks.ipc.api.IIPCHandle;
import org.apache.hyracks.ipc.api.IIPCI;
import org.apache.hyracks.ipc.impl.IPCSystem;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The controller's port for nodes. The engine believes what a message says of who has sent it. Here
 * the certificate of the connection is asked:
 *
 * <ol>
 *   <li>A message that names another node than its sender is not handed to the engine, and its
 *       connection is closed, so that nobody joins, leaves or fails in the name of another.
 *   <li>The controller connects to a node at the address that this node has told, and to nobody
 *       else who may be there.
 *   <li>Messages that a job has no need of are not handed over. Those of ours stop here: the engine
 *       would make Java objects of their bytes.
 * </ol>
 *
 * <em>Thread-safe.</em>
 */
final class NodeGate implements IIPCI, Members.Doorman {
    private static final String ENGINE = "ipci";

    private final int nodePort;
    private final Predicate<String> isNode;
    private final JobEnds ends;
    private final ClusterMessages messages;

    /** By the name in its certificate: where a node says that it listens for orders. */
    private final Map<String, SocketAddress> addresses = new ConcurrentHashMap<>();

    /** Null: the engine is not there yet. */
    private volatile @Nullable IIPCI engine;

    private @Nullable Members members;
    private Consumer<String> left = _ -> {};

    /**
     * @param isNode whether somebody of this name may be a node
     * @param ends told on which node a task has failed
     * @param messages takes those that nodes send beside
     */
    NodeGate(int nodePort, Predicate<String> isNode, JobEnds ends, ClusterMessages messages) {
        this.nodePort = nodePort;
        this.isNode = isNode;
        this.ends = ends;
        this.messages = messages;
    }

    /**
     * Stands before the engine from now on; until now nobody is let in.
     *
     * @param leaves told that a node leaves
     */
    void guard(IPCSystem system, Members of, Consumer<String> leaves)
            throws ReflectiveOperationException {
        members = of;
        left = leaves;
        engine = (IIPCI) Objects.requireNonNull(Engine.get(IPCSystem.class, system, ENGINE));
        Engine.set(IPCSystem.class, system, ENGINE, this);
    }

    @Override
    public boolean lets(int port, String member) {
        return engine != null && port == nodePort && isNode.test(member);
    }

    @Override
    public boolean meets(SocketAddress address, String member) {
        return address.equals(addresses.get(member));
    }

    @Override
    public void deliverIncomingMessage(IIPCHandle handle, long id, long requestId, Object message) {
        String member = Members.memberOf(handle);
        String named = senderOf(message);
        if (named == null || !Members.certified(named).equals(member)) {
            Objects.requireNonNull(members).refuse();
            // the engine closes the connection
            throw new IllegalStateException("'%s' has sent %s, as '%s'"
                    .formatted(member, message.getClass().getSimpleName(), named));
        }
        if (message instanceof CCNCFunctions.SendApplicationMessageFunction ours) {
            messages.arrived(member, ours.getMessage());
            return;
        }
        InetSocketAddress address = addressIn(message);
        if (address != null) {
            addresses.put(member, address);
        }
        if (message instanceof CCNCFunctions.NotifyTaskFailureFunction failure) {
            ends.failedOn(failure.getJobId(), named);
        }
        if (message instanceof CCNCFunctions.ShutdownResponseFunction
                && handle.getRemoteAddress().equals(addresses.get(member))) {
            // the engine would wait until the node was silent for long enough
            left.accept(named);
        }
        Objects.requireNonNull(engine).deliverIncomingMessage(handle, id, requestId, message);
    }

    /** The node that a message says it is from; null: it is none that nodes send. */
    private static @Nullable String senderOf(Object message) {
        return switch (message) {
            case CCNCFunctions.RegisterNodeFunction of ->
                of.getNodeRegistration().getNodeId();
            case CCNCFunctions.UnregisterNodeFunction of -> of.getNodeId();
            case CCNCFunctions.NodeHeartbeatFunction of -> of.getNodeId();
            case CCNCFunctions.NotifyTaskCompleteFunction of -> of.getNodeId();
            case CCNCFunctions.NotifyTaskFailureFunction of -> of.getNodeId();
            case CCNCFunctions.NotifyJobletCleanupFunction of -> of.getNodeId();
            case CCNCFunctions.RegisterPartitionProviderFunction of ->
                of.getPartitionDescriptor().getNodeId();
            case CCNCFunctions.RegisterPartitionRequestFunction of ->
                of.getPartitionRequest().getNodeId();
            case CCNCFunctions.ShutdownResponseFunction of -> of.getNodeId();
            case CCNCFunctions.SendApplicationMessageFunction of -> of.getNodeId();
            default -> null;
        };
    }

    private static @Nullable InetSocketAddress addressIn(Object message) {
        return switch (message) {
            case CCNCFunctions.RegisterNodeFunction of ->
                of.getNodeRegistration().getNodeControllerAddress().resolveInetSocketAddress();
            case CCNCFunctions.NodeHeartbeatFunction of -> of.getNcAddress();
            default -> null;
        };
    }

    @Override
    public void onError(IIPCHandle handle, long id, long requestId, Exception failure) {
        Objects.requireNonNull(engine).onError(handle, id, requestId, failure);
    }
}
