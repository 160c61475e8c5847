package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;

/** Clients that come while a server closes. */
public final class LateClients {
    private static final int COUNT_MAX = 50;
    private static final int WAIT_MILLIS = 5_000;

    private LateClients() {}

    /** Closes a server after a moment, while clients come, and checks that each is let go. */
    public static void areLetGo(InetSocketAddress at, int momentMillis, AutoCloseable server)
            throws Exception {
        List<Socket> clients = new ArrayList<>();
        Thread coming = Thread.ofPlatform().start(() -> {
            try {
                while (clients.size() < COUNT_MAX) {
                    clients.add(new Socket(at.getAddress(), at.getPort()));
                }
            } catch (IOException refused) {
                // nobody listens any more
            }
        });
        Thread.sleep(momentMillis);
        server.close();
        coming.join();
        for (Socket client : clients) {
            try (client) {
                client.setSoTimeout(WAIT_MILLIS); // that it hears nothing is the failure
                client.getOutputStream().write('\n'); // one may not have been taken in
                assertThat(client.getInputStream().read()).isEqualTo(-1);
            } catch (SocketException reset) {
                // which says so too
            }
        }
        server.close();
    }
}
