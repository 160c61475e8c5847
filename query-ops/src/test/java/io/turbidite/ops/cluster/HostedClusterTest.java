package io.turbidite.ops.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.time.Clock;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.job.HostedCluster;
import io.turbidite.ops.job.HostedJobException;
import io.turbidite.ops.job.JobFixture;
import io.turbidite.ops.job.JobGraph;
import io.turbidite.ops.job.JobParts;
import io.turbidite.ops.run.RunOptions;

import org.apache.hyracks.api.comm.NetworkAddress;
import org.apache.hyracks.api.job.JobId;
import org.apache.hyracks.api.job.resource.NodeCapacity;
import org.apache.hyracks.api.result.IResultManager;
import org.apache.hyracks.control.common.controllers.NCConfig;
import org.apache.hyracks.control.common.controllers.NodeRegistration;
import org.apache.hyracks.control.common.heartbeat.HeartbeatSchema;
import org.apache.hyracks.control.common.ipc.CCNCFunctions;
import org.apache.hyracks.control.nc.Joblet;
import org.apache.hyracks.control.nc.NodeControllerService;
import org.apache.hyracks.ipc.api.IIPCHandle;
import org.apache.hyracks.ipc.api.IIPCI;
import org.apache.hyracks.ipc.impl.IPCSystem;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;

/** A cluster at its ports: who is let in, what a start that fails leaves, and who is away. */
@LeaksOnPurpose("the cluster of the class is there from its first test to its last")
class HostedClusterTest {
    private static HostedCluster two;

    @TempDir
    Path directory;

    @BeforeAll
    static void start(@TempDir Path directory) throws IOException {
        two = new HostedCluster(directory, 2, 300, RunOptions.defaults());
    }

    @AfterAll
    static void stop() {
        two.close();
    }

    private static JobGraph groups() {
        return JobFixture.groups(JobFixture.parts(10), 2, 2);
    }

    private static long run() {
        try (QueryResult rows = JobQuery.of(groups()).on(two.controller).run()) {
            return rows.count();
        }
    }

    private static void await(String what, BooleanSupplier condition) {
        long end = Clock.system().monotonicNanos() + TimeUnit.SECONDS.toNanos(20);
        CountDownLatch never = new CountDownLatch(1);
        try {
            while (!condition.getAsBoolean()) {
                assertThat(Clock.system().monotonicNanos()).as(what).isLessThan(end);
                assertThat(never.await(10, TimeUnit.MILLISECONDS)).isFalse();
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    // ---- jobs -----------------------------------------------------------------------------------

    /** What the engine does where a node has an older version: it fails before it has the job. */
    @Test
    void a_node_that_cant_read_a_job_is_named_to_its_reader() throws Exception {
        NodeControllerService service = service(two.nodes.getFirst());
        Object jobs = Engine.get(NodeControllerService.class, service, "jobletMap");
        Map<JobId, Joblet> none = new ConcurrentHashMap<>() {
            private static final long serialVersionUID = 1L;

            @Override
            public Joblet put(JobId id, Joblet job) {
                throw new IllegalStateException("there is no such class");
            }
        };
        Engine.set(NodeControllerService.class, service, "jobletMap", none);
        long before = Clock.system().monotonicNanos();
        try {
            assertThatThrownBy(HostedClusterTest::run)
                    .isInstanceOf(HostedJobException.class)
                    .hasMessage("node 'n0': IllegalStateException: there is no such class");
        } finally {
            Engine.set(
                    NodeControllerService.class,
                    service,
                    "jobletMap",
                    Objects.requireNonNull(jobs));
        }
        assertThat(Duration.ofNanos(Clock.system().monotonicNanos() - before))
                .isLessThan(Duration.ofSeconds(8));
        assertThat(run()).isEqualTo(13);
    }

    private static NodeControllerService service(ClusterNode node)
            throws ReflectiveOperationException {
        Object engine = Objects.requireNonNull(Engine.get(ClusterNode.class, node, "node"));
        return (NodeControllerService)
                Objects.requireNonNull(Engine.get(EngineNode.class, engine, "service"));
    }

    private static EngineController engine() throws ReflectiveOperationException {
        return (EngineController) Objects.requireNonNull(
                Engine.get(ClusterController.class, two.controller, "service"));
    }

    @Test
    void the_engine_keeps_no_record_of_jobs_that_have_ended() throws Exception {
        for (int i = 0; i < 3; i++) {
            assertThat(run()).isEqualTo(13);
        }
        IResultManager results = engine().getResultDirectoryService();
        await("the end of all jobs", () -> results.getJobIds().isEmpty());
    }

    /** The engine orders the process of a node to exit that was silent for too long. */
    @Test
    void nodes_that_were_silent_join_again_when_they_speak() throws Exception {
        assertThat(run()).isEqualTo(13);
        engine().failSilent(0);
        await("all nodes", () -> engine0().getNodeManager().getAllNodeIds().size() == 3);
        assertThat(run()).isEqualTo(13);
    }

    private static EngineController engine0() {
        try {
            return engine();
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    // ---- who is let in --------------------------------------------------------------------------

    /** A member that speaks for another: neither joins, nor does the other one leave. */
    @Test
    void a_node_does_not_register_or_leave_in_the_name_of_another() throws Exception {
        Members n1 = new Members(two.authority.identity(two.authority.issue("n1")), (_, _) -> true);
        IPCSystem system = new IPCSystem(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                n1,
                new Nothing(),
                new CCNCFunctions.SerializerDeserializer());
        system.start();
        try {
            for (Object message : new Object[] {
                new CCNCFunctions.RegisterNodeFunction(
                        registration("n0", system.getSocketAddress()), 77),
                new CCNCFunctions.UnregisterNodeFunction("n0"),
                new CCNCFunctions.ShutdownResponseFunction("door")
            }) {
                long before = two.controller.refusedCount();
                IIPCHandle handle = system.getHandle(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), two.port), 3);
                handle.send(-1, message, null);
                await("a refusal", () -> two.controller.refusedCount() > before);
                await("the end of the connection", () -> !handle.isConnected());
                assertThat(two.controller.nodes()).contains("n0", "n1");
            }
            assertThat(run()).isEqualTo(13);
        } finally {
            system.stop();
            n1.close();
        }
    }

    private static final class Nothing implements IIPCI {
        @Override
        public void deliverIncomingMessage(
                IIPCHandle handle, long id, long requestId, Object message) {
            throw new AssertionError("the controller answered " + message);
        }

        @Override
        public void onError(IIPCHandle handle, long id, long requestId, Exception failure) {
            throw new AssertionError(failure);
        }
    }

    private static NodeRegistration registration(String name, InetSocketAddress at) {
        NetworkAddress address = new NetworkAddress("127.0.0.1", at.getPort());
        return new NodeRegistration(
                address,
                name,
                new NCConfig(name),
                address,
                address,
                new HeartbeatSchema(new HeartbeatSchema.GarbageCollectorInfo[0]),
                address,
                new NodeCapacity(1 << 20, 1));
    }

    @Test
    void strangers_at_the_ports_are_closed_and_counted() throws Exception {
        ClusterAuthority other =
                ClusterAuthority.create("other", Clock.system(), new SecureRandom());
        ClusterAuthority longAgo =
                ClusterAuthority.of(two.authority.certified(), new LongAgo(), new SecureRandom());
        NodeControllerService node = service(two.nodes.getFirst());
        int orders = node.getIpcSystem().getSocketAddress().getPort();
        int rows = node.getNetworkManager().getLocalNetworkAddress().getPort();
        long before = refused(node);
        try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), rows)) {
            for (int port : new int[] {two.port, orders, rows}) {
                checkClosed(port, null);
                checkClosed(port, other.issue("n1"));
                checkClosed(port, longAgo.issue("n1"));
            }
            // members, but not there
            checkClosed(two.port, two.authority.issue("n9"));
            checkClosed(orders, two.authority.issue("n1"));
            silent.setSoTimeout(20_000);
            assertThat(silent.getInputStream().read()).isEqualTo(-1);
        }
        await("all refusals", () -> refused(node) == before + 4 + 8);
        assertThat(run()).isEqualTo(13);
    }

    private static long refused(NodeControllerService node) {
        try {
            Members of = (Members) Engine.get(NodeControllerService.class, node, Engine.SECURITY);
            return two.controller.refusedCount() + Objects.requireNonNull(of).refusedCount();
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    /** With TLS 1.3 a client takes itself for welcome before the server has looked. */
    private static void checkClosed(int port, ClusterAuthority.@Nullable Certified own)
            throws IOException, GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(keys(own), new TrustManager[] {new Trusting()}, null);
        try (SSLSocket socket = (SSLSocket)
                context.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(20_000);
            assertThat(isClosed(socket)).isTrue();
        }
    }

    private static boolean isClosed(SSLSocket socket) throws SocketTimeoutException {
        try {
            socket.startHandshake();
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException e) {
            throw e;
        } catch (IOException e) {
            return true;
        }
    }

    private static KeyManager @Nullable [] keys(ClusterAuthority.@Nullable Certified own)
            throws IOException, GeneralSecurityException {
        if (own == null) {
            return null;
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("own", own.key(), new char[0], new X509Certificate[] {own.certificate()});
        KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
        keys.init(store, new char[0]);
        // whatever authority the server asks for
        X509ExtendedKeyManager found = (X509ExtendedKeyManager) keys.getKeyManagers()[0];
        return new KeyManager[] {new Showing(found)};
    }

    // ---- what is left ---------------------------------------------------------------------------

    @Test
    void what_fails_to_start_and_what_stops_leaves_no_port_and_no_thread() throws Exception {
        Set<Thread> before = threads();
        ClusterAuthority authority =
                ClusterAuthority.create("left", Clock.system(), new SecureRandom());
        int port = HostedCluster.freePort();
        int idlePort = HostedCluster.freePort();
        ClusterIdentity controller =
                authority.identity(authority.issue(ClusterIdentity.CONTROLLER));
        assertThatThrownBy(() -> ClusterNode.start(
                        new ClusterNode.Settings(
                                "n0",
                                directory.toString(),
                                "127.0.0.1",
                                port,
                                authority.identity(authority.issue("n0"))),
                        JobParts.of(List.of()),
                        RunOptions.defaults()))
                .isInstanceOf(ClusterException.class)
                .hasMessageContaining("can't start node 'n0'");
        try (ServerSocket _ = new ServerSocket(idlePort, 1, InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(() -> start(directory, port, idlePort, controller))
                    .isInstanceOf(ClusterException.class)
                    .hasMessage("can't start the controller: port %d is in use", idlePort);
        }
        // the second port can't be opened when the first one is
        assertThatThrownBy(() -> start(directory, port, port, controller))
                .isInstanceOf(ClusterException.class)
                .hasMessageContaining("can't start the controller");
        // no door has its files there
        Path file = Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> start(file, port, idlePort, controller))
                .isInstanceOf(ClusterException.class)
                .hasMessageContaining("can't start node 'door'");
        start(Files.createDirectory(directory.resolve("whole")), port, idlePort, controller)
                .close();
        for (int free : new int[] {port, idlePort}) {
            new ServerSocket(free, 1, InetAddress.getLoopbackAddress()).close();
        }
        await("the end of all threads", () -> before.containsAll(threads()));
        assertThat(Thread.currentThread().getUncaughtExceptionHandler())
                .isSameAs(Thread.currentThread().getThreadGroup());
    }

    private static ClusterController start(
            Path directory, int port, int idlePort, ClusterIdentity identity) {
        return ClusterController.start(
                new ClusterController.Settings(directory.toString(), port, idlePort, identity),
                () -> new Placement(List.of(new Placement.Node("n0", Map.of()))));
    }

    /** Without those of the common pool, and those of the cluster that stays, which come and go. */
    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !thread.getName().startsWith("ForkJoinPool.")
                        && !thread.getName().matches("cluster (node (n|door)|controller).*")
                        && !thread.getName().equals("Attach Listener"))
                .collect(Collectors.toSet());
    }

    // ---- who is there ---------------------------------------------------------------------------

    /** Eleven years ago. */
    private static final class LongAgo implements Clock {
        @Override
        public long wallMicros() {
            return Clock.system().wallMicros() - TimeUnit.DAYS.toMicros(11 * 366);
        }

        @Override
        public long monotonicNanos() {
            return Clock.system().monotonicNanos();
        }
    }

    /** Takes any server. */
    private static final class Trusting extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }

    /** Shows its certificate to anybody. */
    private static final class Showing extends X509ExtendedKeyManager {
        private final X509ExtendedKeyManager keys;

        Showing(X509ExtendedKeyManager keys) {
            this.keys = keys;
        }

        @Override
        public String[] getClientAliases(String type, Principal[] issuers) {
            return new String[] {"own"};
        }

        @Override
        public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
            return "own";
        }

        @Override
        public String[] getServerAliases(String type, Principal[] issuers) {
            return new String[0];
        }

        @Override
        public @Nullable String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
            return null;
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return keys.getCertificateChain("own");
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return keys.getPrivateKey("own");
        }
    }
}
