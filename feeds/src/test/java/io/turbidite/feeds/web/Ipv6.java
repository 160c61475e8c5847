package io.turbidite.feeds.web;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Whether this machine has IPv6, and who answers there. */
public final class Ipv6 {
    private Ipv6() {}

    /** Skips the test, and says so, where {@code ::1} can't be listened at. */
    public static void assumeThere() {
        InetAddress loopback = InetAddress.ofLiteral("::1");
        boolean isThere;
        try (ServerSocket socket = new ServerSocket(0, 1, loopback)) {
            isThere = socket.isBound();
        } catch (IOException none) {
            isThere = false;
        }
        assumeTrue(isThere, "this machine has no IPv6: nobody could be refused there");
    }

    /**
     * Connects and leaves.
     *
     * @throws java.net.ConnectException if nobody listens there
     */
    public static void knock(String host, int port) throws IOException {
        new Socket(InetAddress.ofLiteral(host), port).close();
    }
}
