package io.turbidite.feeds.command.server;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.web.FilesRoot;
import io.turbidite.feeds.web.WebServer;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.http.TlsFiles;
import io.turbidite.feeds.web.tcp.TcpDoor;
import io.turbidite.feeds.web.tcp.TcpOptions;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Option;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** How a server listens, and its bounds. <em>Set by the parser.</em> */
final class ServeOptions {
    private static final String LISTEN = "127.0.0.1:8470";

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            description = "Where to listen, once or more often; default: 127.0.0.1:8470.")
    private List<String> listen = List.of(LISTEN);

    @Option(
            names = "--tcp",
            paramLabel = "FEED=HOST:PORT",
            description =
                    "Where a feed with the source tcp takes lines; may be given again. A token in the first line says who sends.")
    private List<String> tcp = List.of();

    @Option(
            names = "--tcp-anybody",
            description =
                    "Whoever can connect to the addresses of --tcp may write; of this machine alone.")
    private boolean tcpAnybody;

    @Option(
            names = "--host-name",
            paramLabel = "NAME",
            description = "A further name under which clients reach this server.")
    private List<String> hostNames = List.of();

    @Option(
            names = "--tokens",
            paramLabel = "FILE",
            description = "Tokens and what they allow; ./turbidite token makes them.")
    private @Nullable String tokens;

    @Option(names = "--token-required", description = "Without a token nobody may read either.")
    private boolean tokenRequired;

    @Option(
            names = "--tls-cert",
            paramLabel = "FILE",
            description = "PEM file of the server's certificate; read anew when it changes.")
    private @Nullable String certificate;

    @Option(
            names = "--tls-key",
            paramLabel = "FILE",
            description = "PEM file of its key, in PKCS 8.")
    private @Nullable String key;

    @Option(
            names = "--insecure",
            description =
                    "Listen at addresses of other machines without TLS: who hears the network has the tokens.")
    private boolean insecure;

    @Option(
            names = "--files",
            paramLabel = "DIR",
            description =
                    "Where files may lie that clients name: sources of feeds, backups; default: nowhere.")
    private @Nullable String files;

    @Option(
            names = "--connections",
            paramLabel = "N",
            description = "Connections at a time; default: 1024.")
    private int connections = HttpOptions.defaults().connectionCountMax();

    @Option(
            names = "--connections-per-peer",
            paramLabel = "N",
            description =
                    "Connections at a time from one address of another machine; default: 256.")
    private int connectionsPerPeer = HttpOptions.defaults().connectionsPerPeerMax();

    @Option(
            names = "--requests",
            paramLabel = "N",
            description = "Requests at work at a time; further ones get 429; default: 32.")
    private int requests = HttpOptions.defaults().requestCountMax();

    @Option(
            names = "--streams",
            paramLabel = "N",
            description = "Event streams at a time; default: 64.")
    private int streams = HttpOptions.defaults().streamCountMax();

    @Option(
            names = "--head-bytes",
            paramLabel = "N",
            description = "Longest headers of a request; default: 16384.")
    private int headBytes = HttpOptions.defaults().headBytesMax();

    @Option(
            names = "--body-bytes",
            paramLabel = "N",
            description = "Longest body of a request; default: 16777216.")
    private long bodyBytes = HttpOptions.defaults().bodyBytesMax();

    @Option(
            names = "--head-millis",
            paramLabel = "N",
            description =
                    "A connection that has sent no whole request for so long is closed; default: 30000.")
    private long headMillis = HttpOptions.defaults().headMillisMax();

    @Option(
            names = "--body-millis",
            paramLabel = "N",
            description =
                    "A request whose body brings nothing for so long is ended; default: 30000.")
    private long bodyMillis = HttpOptions.defaults().bodyMillisMax();

    @Option(
            names = "--write-millis",
            paramLabel = "N",
            description =
                    "A client that takes nothing of its answer for so long is let go; default: 60000.")
    private long writeMillis = HttpOptions.defaults().writeMillisMax();

    @Option(
            names = "--unsent-bytes",
            paramLabel = "N",
            description = "Bytes of an answer that wait for a slow client; default: 262144.")
    private int unsentBytes = HttpOptions.defaults().unsentBytesMax();

    @Option(
            names = "--answer-bytes",
            paramLabel = "N",
            description =
                    "Longest answer, in bytes; one that would be longer tells an error; default: 1073741824.")
    private long answerBytes = HttpOptions.defaults().answerBytesMax();

    @Option(
            names = "--request-millis",
            paramLabel = "N",
            description =
                    "A statement or question that takes so long is ended with 504, whatever its timeoutMs; default: 3600000.")
    private long requestMillis = HttpOptions.defaults().requestMillisMax();

    /**
     * Where lines are taken.
     *
     * @param web what the other options say
     * @throws InvalidRequestException as {@link #toWeb}
     */
    List<TcpDoor> toDoors(WebServer.Options web) {
        List<TcpDoor> doors = new ArrayList<>();
        for (String one : tcp) {
            int sign = one.indexOf('=');
            if (sign < 1) {
                throw new InvalidRequestException("--tcp %s is not FEED=HOST:PORT".formatted(one));
            }
            String feed = one.substring(0, sign);
            if (doors.stream().anyMatch(door -> door.feed().equals(feed))) {
                throw new InvalidRequestException(
                        "--tcp %s: feed %s has a place already, and takes lines at one"
                                .formatted(one, feed));
            }
            InetSocketAddress at = ListenAddress.of(one.substring(sign + 1));
            boolean isLocal = at.getAddress().isLoopbackAddress();
            if (tcpAnybody && !isLocal) {
                throw new InvalidRequestException(
                        "--tcp-anybody: %s can be reached by other machines".formatted(one));
            }
            if (!tcpAnybody && tokens == null) {
                throw new InvalidRequestException(
                        "--tcp: who may write needs --tokens FILE, or --tcp-anybody: any user of this machine");
            }
            if (!isLocal && web.tls() == null && !insecure) {
                throw new InvalidRequestException(
                        "--tcp: an address that other machines reach needs --tls-cert and --tls-key, or --insecure: then who hears the network has the tokens");
            }
            doors.add(new TcpDoor(feed, at, tcpAnybody));
        }
        return doors;
    }

    /** Bounds of all doors together. */
    TcpOptions toTcp() {
        TcpOptions defaults = TcpOptions.defaults();
        return new TcpOptions(
                connections,
                connectionsPerPeer,
                headMillis,
                bodyMillis,
                defaults.retryMillisMax(),
                defaults.heldBytesMax());
    }

    /**
     * What the options say.
     *
     * @throws InvalidRequestException if they make no sense, or would let anybody in
     */
    WebServer.Options toWeb(Clock clock) {
        List<InetSocketAddress> addresses =
                listen.stream().map(ListenAddress::of).toList();
        boolean isLocal = addresses.stream().allMatch(at -> at.getAddress().isLoopbackAddress());
        List<Token> known =
                tokens == null ? List.of() : Gate.read(PathArgument.path("--tokens", tokens));
        TlsFiles tls = tls(clock);
        if (!isLocal && known.isEmpty()) {
            throw new InvalidRequestException(
                    "--listen: an address that other machines reach needs --tokens FILE; ./turbidite token makes one");
        }
        if (!isLocal && tls == null && !insecure) {
            throw new InvalidRequestException(
                    "--listen: an address that other machines reach needs --tls-cert and --tls-key, or --insecure: then who hears the network has the tokens");
        }
        if (tokenRequired && known.isEmpty()) {
            throw new InvalidRequestException("--token-required: there is no token; give --tokens");
        }
        Gate gate = Gate.of(known, isLocal && !tokenRequired);
        return new WebServer.Options(
                addresses,
                hostNames,
                new HttpOptions(
                        connections,
                        connectionsPerPeer,
                        requests,
                        streams,
                        headBytes,
                        bodyBytes,
                        headMillis,
                        bodyMillis,
                        writeMillis,
                        unsentBytes,
                        answerBytes,
                        requestMillis),
                gate,
                tls,
                files == null
                        ? FilesRoot.none()
                        : FilesRoot.of(PathArgument.path("--files", files)));
    }

    private @Nullable TlsFiles tls(Clock clock) {
        if (certificate == null && key == null) {
            return null;
        }
        if (certificate == null || key == null) {
            throw new InvalidRequestException("--tls-cert and --tls-key go together");
        }
        return TlsFiles.read(
                PathArgument.path("--tls-cert", certificate),
                PathArgument.path("--tls-key", key),
                clock);
    }
}
