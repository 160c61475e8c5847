package io.turbidite.it.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.turbidite.core.time.Clock;
import io.turbidite.it.command.StagedCommand.Running;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.tools.ToolProvider;

/** Who talks to a distribution on its own Java: a client by TLS, an application by JDBC. */
record ImageClients(Path directory, StagedCommand command, Path image) {
    private static final char[] PASSWORD = "changeit".toCharArray();
    private static final long READY_NANOS_MAX = TimeUnit.SECONDS.toNanos(60);

    /** Both find the two people of the store {@code s}. */
    void areServed(Map<String, String> environment) throws Exception {
        byTls(environment);
        byJdbc();
    }

    private void byTls(Map<String, String> environment) throws Exception {
        KeyStore made = keyStore();
        Path certificate = pem("CERTIFICATE", made.getCertificate("one").getEncoded());
        Path key = pem("PRIVATE KEY", made.getKey("one", PASSWORD).getEncoded());
        Running server = command.start(
                environment,
                "serve",
                "s",
                "--listen",
                "127.0.0.1:0",
                "--tls-cert",
                certificate.toString(),
                "--tls-key",
                key.toString(),
                "--json");
        try (HttpClient client =
                HttpClient.newBuilder().sslContext(trusting(made)).build()) {
            HttpRequest metrics = HttpRequest.newBuilder(
                            URI.create("https://" + addressOf(server) + "/metrics"))
                    .build();
            HttpResponse<String> answer =
                    client.send(metrics, HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).contains("turbidite_write_bytes_total");
            assertThat(answer.sslSession()).isPresent();
        } finally {
            server.process().destroy(); // as an operator would: it ends well
        }
        assertThat(server.process().waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(server.ended().err()).contains("ended");
    }

    private static String addressOf(Running server) throws Exception {
        long end = Clock.system().monotonicNanos() + READY_NANOS_MAX;
        while (server.process().isAlive() && Clock.system().monotonicNanos() - end < 0) {
            String said = Files.readString(server.out());
            if (said.endsWith("\n")) {
                JsonNode line = new ObjectMapper().readTree(said);
                return line.at("/listening/0").asText();
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
        throw new AssertionError("no server: " + Files.readString(server.err()));
    }

    private KeyStore keyStore() throws Exception {
        Path file = directory.resolve("one.p12");
        finished(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "one",
                "-keyalg",
                "EC",
                "-dname",
                "CN=one",
                "-ext",
                "san=ip:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-keystore",
                file.toString(),
                "-storepass",
                new String(PASSWORD)));
        return KeyStore.getInstance(file.toFile(), PASSWORD);
    }

    private Path pem(String kind, byte[] bytes) throws Exception {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return Files.writeString(
                directory.resolve(kind + ".pem"),
                "-----BEGIN %s-----%n%s%n-----END %s-----%n".formatted(kind, text, kind));
    }

    private static SSLContext trusting(KeyStore made) throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("one", made.getCertificate("one"));
        TrustManagerFactory managers =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }

    private void byJdbc() throws Exception {
        Path source = Files.writeString(directory.resolve("People.java"), """
                import java.sql.DriverManager;

                public class People {
                    public static void main(String[] arguments) throws Exception {
                        String url = "jdbc:turbidite:" + arguments[0] + "?readOnly=true";
                        try (var connection = DriverManager.getConnection(url);
                                var statement = connection.prepareStatement(
                                        "select name from People where id >= ? order by id")) {
                            statement.setLong(1, 1);
                            try (var rows = statement.executeQuery()) {
                                while (rows.next()) {
                                    System.out.println(rows.getString(1));
                                }
                            }
                        }
                    }
                }
                """);
        Path classes = Files.createDirectory(directory.resolve("client"));
        assertThat(ToolProvider.getSystemJavaCompiler()
                        .run(null, null, null, "-d", classes.toString(), source.toString()))
                .isZero();
        List<String> run = new ArrayList<>(List.of(
                image.resolve("bin/java").toString(),
                "--add-modules",
                "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                classes + ":" + command.home().resolve("lib") + "/*",
                "People",
                directory.resolve("s").toString()));
        assertThat(finished(run)).contains("ann\nbob\n");
    }

    /** What a process said that went well. */
    private static String finished(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return said;
    }
}
