package io.turbidite.ops.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.time.Clock;
import io.turbidite.ops.job.JobParts;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;

/** Members talk with one another, and with nobody else. */
class MemberChannelTest {
    private final Random random = new Random(11);
    private final ClusterAuthority authority =
            ClusterAuthority.create("one", Clock.system(), new SecureRandom());
    private final List<SocketChannel> sockets = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (SocketChannel socket : sockets) {
            socket.close();
        }
    }

    private Members members(ClusterAuthority of, String name) {
        return new Members(of.identity(of.issue(name)), (_, member) -> !member.equals("mallory"));
    }

    /** Two ends of a connection. */
    private record Pair(SocketChannel client, SocketChannel server) {}

    private Pair connect() throws IOException {
        try (ServerSocketChannel listening = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            SocketChannel client = SocketChannel.open(listening.getLocalAddress());
            SocketChannel server = listening.accept();
            client.configureBlocking(false);
            server.configureBlocking(false);
            sockets.add(client);
            sockets.add(server);
            return new Pair(client, server);
        }
    }

    private static boolean shake(MemberChannel client, MemberChannel server) {
        CompletableFuture<Boolean> there = CompletableFuture.supplyAsync(client::handshake);
        boolean here = server.handshake();
        return there.orTimeout(20, TimeUnit.SECONDS).join() && here;
    }

    @Test
    void members_know_one_another_and_bytes_arrive_whatever_the_buffers() throws IOException {
        Members n1 = members(authority, "n1");
        Pair pair = connect();
        MemberChannel client = new MemberChannel(members(authority, "n2"), pair.client(), true);
        MemberChannel server = new MemberChannel(n1, pair.server(), false);
        assertThat(shake(client, server)).isTrue();
        byte[] sent = new byte[300_000];
        random.nextBytes(sent);
        ByteBuffer source = ByteBuffer.wrap(sent);
        ByteBuffer target = ByteBuffer.allocate(sent.length);
        int writes = 0;
        while (target.hasRemaining()) {
            if (source.hasRemaining() && !client.isPendingWrite()) {
                source.limit(Math.min(sent.length, source.position() + 1 + random.nextInt(40_000)));
                client.write(source);
                source.limit(sent.length);
                writes++;
            } else {
                client.completeWrite();
            }
            int room = Math.min(target.remaining(), 1 + random.nextInt(30_000));
            ByteBuffer some = target.slice(target.position(), room);
            int count = server.read(some);
            target.position(target.position() + count);
            // whoever is not given all must find more in the socket, or a buffer that is not full
            assertThat(server.isPendingRead() && some.hasRemaining()).isFalse();
        }
        assertThat(target.array()).isEqualTo(sent);
        assertThat(writes).isGreaterThan(5);
        assertThat(n1.refusedCount()).isZero();
        client.close();
        assertThat(server.read(ByteBuffer.allocate(10))).isEqualTo(-1);
    }

    /** A reader that waits for its socket alone gets everything, also what its buffer cut. */
    @Test
    void what_did_not_fit_is_followed_by_more_in_the_socket() throws IOException {
        Pair pair = connect();
        MemberChannel client = new MemberChannel(members(authority, "n2"), pair.client(), true);
        MemberChannel server = new MemberChannel(members(authority, "n1"), pair.server(), false);
        assertThat(shake(client, server)).isTrue();
        byte[] sent = new byte[10_000];
        client.write(ByteBuffer.wrap(sent));
        ByteBuffer small = ByteBuffer.allocate(sent.length - 1_000);
        while (small.hasRemaining()) {
            server.read(small);
        }
        assertThat(server.isPendingRead()).isTrue();
        // the last byte, in a record of its own
        ByteBuffer raw = ByteBuffer.allocate(100);
        while (raw.position() == 0) {
            pair.server().read(raw);
        }
        assertThat(raw.position()).isPositive();
    }

    @Test
    void strangers_are_closed_and_cost_64_KiB_at_most() throws IOException {
        Members n1 = members(authority, "n1");
        byte[] plain =
                "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        assertThat(allocatedFor(n1, plain)).isPositive(); // with classes to be loaded
        assertThat(allocatedFor(n1, plain)).isLessThan(64 << 10);
        byte[] noise = new byte[1 << 20];
        random.nextBytes(noise);
        noise[0] = 0x17;
        assertThat(allocatedFor(n1, noise)).isLessThan(64 << 10);
        byte[] huge = {22, 3, 3, (byte) 0xFF, (byte) 0xFF, 1, 0, 0, 0};
        assertThat(allocatedFor(n1, huge)).isLessThan(64 << 10);
        byte[] record = new byte[2_000];
        random.nextBytes(record);
        System.arraycopy(new byte[] {22, 3, 1, 4, 0}, 0, record, 0, 5);
        assertThat(allocatedFor(n1, record)).isPositive();
        assertThat(n1.refusedCount()).isEqualTo(5);
    }

    /** What the heap gave while a stranger was turned away. */
    private long allocatedFor(Members members, byte[] says) throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Pair pair = connect();
        pair.client().write(ByteBuffer.wrap(says));
        MemberChannel server = new MemberChannel(members, pair.server(), false);
        long before = threads.getCurrentThreadAllocatedBytes();
        assertThat(server.handshake()).isFalse();
        return threads.getCurrentThreadAllocatedBytes() - before;
    }

    @Test
    void certificates_of_another_authority_another_cluster_and_of_members_that_may_not_are_refused()
            throws IOException {
        ClusterAuthority other = ClusterAuthority.create("one", Clock.system(), new SecureRandom());
        assertThat(met(members(other, "n2"), members(authority, "n1"))).isFalse();
        assertThat(met(members(authority, "mallory"), members(authority, "n1"))).isFalse();
        assertThat(met(members(authority, "n2"), members(authority, "n1"))).isTrue();
        assertThatThrownBy(() -> ClusterIdentity.of(
                        authority.certificate(),
                        other.issue("n2").certificate(),
                        other.issue("n2").key()))
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> members(authority, "n2/CN=controller"))
                .hasMessageContaining("is no name");
        assertThatThrownBy(() -> authority.identity(authority.issue("n2")).checkName("n1"))
                .hasMessage("the certificate is that of 'n2', and not of 'n1'");
    }

    /** Whether both are content; with TLS 1.3 the client is before the server has looked. */
    private boolean met(Members client, Members server) throws IOException {
        Pair pair = connect();
        return shake(
                new MemberChannel(client, pair.client(), true),
                new MemberChannel(server, pair.server(), false));
    }

    /** A process that connects knows who listens there, or asks before it takes anything. */
    @Test
    void who_listens_must_be_who_is_expected() throws IOException {
        Members.Doorman expecting = new Members.Doorman() {
            @Override
            public boolean lets(int port, String member) {
                return true;
            }

            @Override
            public boolean meets(SocketAddress address, String member) {
                return member.equals("n1");
            }
        };
        Members n2 = new Members(authority.identity(authority.issue("n2")), expecting);
        HostedNode node = new HostedNode(
                "n2", () -> JobParts.of(List.of()), JobCheck.none(), RunOptions.defaults());
        node.use(n2);
        Pair pair = connect();
        SocketAddress address = pair.client().getRemoteAddress();
        assertThatThrownBy(() -> node.checkSender(address, "n1"))
                .isInstanceOf(ClusterException.class)
                .hasMessage("node 'n1' is not at %s: nobody is", address);
        MemberChannel client = new MemberChannel(n2, pair.client(), true);
        assertThat(shake(client, new MemberChannel(members(authority, "n1"), pair.server(), false)))
                .isTrue();
        node.checkSender(address, "n1");
        assertThatThrownBy(() -> node.checkSender(address, "n3"))
                .hasMessage("node 'n3' is not at %s: 'n1' is", address);
        assertThat(n2.madeCount()).isOne();
        client.close();
        assertThat(n2.madeCount()).isZero();
        Pair other = connect();
        MemberChannel refusing = new MemberChannel(n2, other.client(), true);
        assertThat(shake(
                        refusing,
                        new MemberChannel(members(authority, "n3"), other.server(), false)))
                .isFalse();
        assertThat(n2.refusedCount()).isOne();
        assertThat(other.client().isOpen()).isFalse();
    }

    @Test
    void those_who_say_nothing_keep_nobody_out_and_the_pool_goes_on() throws IOException {
        Members n1 = members(authority, "n1");
        List<CompletableFuture<Boolean>> silent = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            MemberChannel server = new MemberChannel(n1, connect().server(), false);
            silent.add(CompletableFuture.supplyAsync(server::handshake));
        }
        // those who came first are given up; the others are still waited for
        while (n1.refusedCount() < 100 - Members.PENDING_MAX) {
            Thread.onSpinWait();
        }
        assertThat(met(members(authority, "n2"), n1)).isTrue();
        assertThat(CompletableFuture.supplyAsync(() -> "goes on", ForkJoinPool.commonPool())
                        .orTimeout(5, TimeUnit.SECONDS)
                        .join())
                .isEqualTo("goes on");
        // whoever closes waits for nobody
        n1.close();
        silent.forEach(
                one -> assertThat(one.orTimeout(5, TimeUnit.SECONDS).join()).isFalse());
        assertThat(n1.refusedCount()).isEqualTo(100);
    }
}
