package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.sim.SimClock;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.feeds.web.http.TlsFiles;
import io.turbidite.feeds.web.tcp.TcpDoor;
import io.turbidite.feeds.web.tcp.TcpOptions;
import io.turbidite.feeds.web.tcp.TcpServer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/** A server that speaks TLS. */
@Timeout(60)
class TlsTest {
    private static final char[] PASSWORD = "changeit".toCharArray();

    @TempDir
    private Path directory;

    /** What keytool made, and the two files that a server reads. */
    private record Pair(X509Certificate certificate, Path pem, Path key) {}

    private Pair pair(String name, String algorithm, String... more) throws Exception {
        Path file = directory.resolve(name + ".p12");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-J-XX:TieredStopAtLevel=1",
                "-genkeypair",
                "-alias",
                "one",
                "-keyalg",
                algorithm,
                "-dname",
                "CN=" + name,
                "-ext",
                "san=ip:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-keystore",
                file.toString(),
                "-storepass",
                new String(PASSWORD)));
        command.addAll(List.of(more));
        Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(keytool.waitFor()).as(said).isZero();
        KeyStore made = KeyStore.getInstance(file.toFile(), PASSWORD);
        X509Certificate certificate = (X509Certificate) made.getCertificate("one");
        return new Pair(
                certificate,
                pem(name + ".cert.pem", "CERTIFICATE", certificate.getEncoded()),
                pem(
                        name + ".key.pem",
                        "PRIVATE KEY",
                        made.getKey("one", PASSWORD).getEncoded()));
    }

    private Path pem(String name, String kind, byte[] bytes) throws IOException {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return Files.writeString(
                directory.resolve(name),
                "-----BEGIN %s-----%n%s%n-----END %s-----%n".formatted(kind, text, kind));
    }

    private static SSLContext trusting(X509Certificate... certificates)
            throws GeneralSecurityException, IOException {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        for (X509Certificate one : certificates) {
            trusted.setCertificateEntry(one.getSubjectX500Principal().getName(), one);
        }
        TrustManagerFactory managers =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }

    @Test
    void answers_one_request_after_the_other_over_tls() throws Exception {
        Pair pair = pair("server", "EC");
        TlsFiles files = TlsFiles.read(pair.pem(), pair.key(), new SimClock());
        try (ServedStore served = ServedStore.open(directory.resolve("stores"), files);
                HttpClient client = HttpClient.newBuilder()
                        .sslContext(trusting(pair.certificate()))
                        .build()) {
            URI origin = URI.create("https://127.0.0.1:" + served.port());
            for (int i = 0; i < 10; i++) {
                HttpResponse<String> record = client.send(
                        HttpRequest.newBuilder(
                                        origin.resolve("/v1/stores/one/datasets/T/records/" + i))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
                assertThat(record.body()).contains("\"text\":\"text of " + i + "\"");
                HttpResponse<String> rows = client.send(
                        HttpRequest.newBuilder(origin.resolve("/v1/stores/one/sql"))
                                .POST(HttpRequest.BodyPublishers.ofString(
                                        "{\"statement\":\"select id, text from T\"}"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
                assertThat(rows.body().lines()).hasSize(ServedStore.RECORD_COUNT + 1);
            }
            assertThat(whatPlainTextGets(served.port())).doesNotContain("HTTP/1.1 200");
        }
    }

    @Test
    void takes_lines_over_tls_and_none_in_plain_text() throws Exception {
        Pair pair = pair("lines", "EC");
        TlsFiles files = TlsFiles.read(pair.pem(), pair.key(), new SimClock());
        Token.Made token =
                Token.make("sender", EnumSet.of(Right.WRITE), List.of("*"), List.of("*"));
        try (ServedStore served = ServedStore.open(directory.resolve("stores"), files)) {
            FeedManager feeds = Objects.requireNonNull(served.feeds.get("one"));
            feeds.start("""
                    feed: lines
                    dataset: { name: Lines, type: { id: int64 }, primaryKey: id }
                    source: { kind: tcp }
                    parser: { kind: json }
                    """, directory);
            TcpServer.Parts parts = new TcpServer.Parts(
                    TcpOptions.defaults(),
                    Map.of("one", feeds),
                    Gate.of(List.of(token.kept()), false),
                    files,
                    new Meters(new SimClock()));
            InetSocketAddress anywhere = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            try (TcpServer server =
                            TcpServer.start(parts, List.of(new TcpDoor("lines", anywhere, false)));
                    Socket client = trusting(pair.certificate())
                            .getSocketFactory()
                            .createSocket(InetAddress.getLoopbackAddress(), portOf(server))) {
                client.setSoTimeout(20_000);
                client.getOutputStream()
                        .write("{\"token\":\"%s\"}\n{\"id\":1}\n{\"id\":2}\n"
                                .formatted(token.text())
                                .getBytes(StandardCharsets.UTF_8));
                BufferedReader in = new BufferedReader(
                        new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8));
                String heard = in.readLine();
                while ("{\"acked\":1}".equals(heard)) {
                    heard = in.readLine();
                }
                assertThat(heard).isEqualTo("{\"acked\":2}");
                assertThat(whatPlainTextGets(portOf(server)))
                        .doesNotContain("acked")
                        .doesNotContain("error");
            }
            assertThat(served.store("one").dataset("Lines").get(2L)).isNotNull();
        }
    }

    private static int portOf(TcpServer server) {
        return server.addresses().values().iterator().next().getPort();
    }

    /** All that comes until the server ends the connection. */
    private static String whatPlainTextGets(int port) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream()
                    .write("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            try (InputStream in = socket.getInputStream()) {
                return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            }
        }
    }

    @Test
    void takes_a_new_pair_when_the_files_change_and_keeps_the_old_one_if_they_are_wrong()
            throws Exception {
        Pair first = pair("first", "EC");
        Pair second = pair("second", "EC");
        SimClock clock = new SimClock();
        TlsFiles files = TlsFiles.read(first.pem(), first.key(), clock);
        try (ServedStore served = ServedStore.open(directory.resolve("stores"), files)) {
            SSLContext both = trusting(first.certificate(), second.certificate());
            assertThat(shown(both, served.port())).isEqualTo(first.certificate());
            replace(first.pem(), second.pem(), 1);
            clock.advanceMicros(TimeUnit.SECONDS.toMicros(6));
            assertThat(shown(both, served.port())).isEqualTo(first.certificate());
            assertThat(shown(both, served.port())).isEqualTo(first.certificate());
            replace(first.key(), second.key(), 1);
            X509Certificate now = first.certificate();
            while (now.equals(first.certificate())) { // read by another thread
                clock.advanceMicros(TimeUnit.SECONDS.toMicros(6));
                now = shown(both, served.port());
            }
            assertThat(now).isEqualTo(second.certificate());
        }
    }

    private static void replace(Path file, Path by, int laterSeconds) throws IOException {
        FileTime before = Files.getLastModifiedTime(file);
        Files.writeString(file, Files.readString(by));
        Files.setLastModifiedTime(
                file, FileTime.from(before.toInstant().plusSeconds(laterSeconds)));
    }

    private static X509Certificate shown(SSLContext context, int port) throws IOException {
        try (SSLSocket socket = (SSLSocket)
                context.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(20_000);
            socket.startHandshake();
            return (X509Certificate)
                    Objects.requireNonNull(socket.getSession().getPeerCertificates())[0];
        }
    }

    @Test
    void refuses_a_pair_that_can_not_be_used() throws Exception {
        Pair good = pair("good", "EC");
        Pair other = pair("other", "EC");
        Pair kind = pair("kind", "RSA");
        Pair old = pair("old", "EC", "-startdate", "-10d", "-validity", "2");
        refused("other.key.pem is not the key of", good.pem(), other.key());
        refused("kind.key.pem is not the key of", good.pem(), kind.key());
        refused("good.key.pem is not the key of", kind.pem(), good.key());
        refused("old.cert.pem has expired", old.pem(), old.key());
        refused("has no certificate", Files.createFile(directory.resolve("empty")), good.key());
        refused("no certificate that can be used", good.key(), good.key());
        refused("is no key", good.pem(), good.pem());
        refused("none.pem: no such file", directory.resolve("none.pem"), good.key());
    }

    private static void refused(String why, Path certificate, Path key) {
        assertThatThrownBy(() -> TlsFiles.read(certificate, key, new SimClock()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(why);
    }
}
