package io.turbidite.feeds.source.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.feeds.DefinitionException;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.ops.Query;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** A broker that wants TLS and a login, whose certificate nobody but the definition trusts. */
@LeaksOnPurpose("a broker opens files and starts threads when a topic first needs them")
class KafkaLoginTest {
    private static final String KEY_PASSWORD = "of-the-brokers-key";
    private static final String PASSWORD = "open-sesame-17";

    /** A secret that is in the environment of any process. */
    private static final String VARIABLE = "PATH";

    private static Broker broker;

    @TempDir
    static Path keys;

    @TempDir
    Path directory;

    private TopicFeeds feeds;

    @BeforeAll
    static void startBroker() throws Exception {
        Path store = keys.resolve("broker.p12");
        Process keytool = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-J-XX:TieredStopAtLevel=1",
                        "-genkeypair",
                        "-alias",
                        "one",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=broker",
                        "-ext",
                        "san=ip:127.0.0.1",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        store.toString(),
                        "-storepass",
                        KEY_PASSWORD))
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(keytool.waitFor()).as(said).isZero();
        trust(KeyStore.getInstance(store.toFile(), KEY_PASSWORD.toCharArray()));
        broker = Broker.openSecure(store, KEY_PASSWORD, "feed", PASSWORD);
        broker.create("locked", 2);
        try (KafkaProducer<String, String> producer = broker.producer(Map.of())) {
            for (int i = 0; i < 6; i++) {
                producer.send(new ProducerRecord<>(
                                "locked", i % 2, "k" + i, "{\"n\":%d}".formatted(i)))
                        .get(20, TimeUnit.SECONDS);
            }
        }
    }

    /** The certificate as PEM, and in a store whose password is that of the environment. */
    private static void trust(KeyStore made) throws GeneralSecurityException, IOException {
        var certificate = made.getCertificate("one");
        Files.writeString(
                keys.resolve("broker.pem"),
                "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n"
                        .formatted(Base64.getMimeEncoder(64, new byte[] {'\n'})
                                .encodeToString(certificate.getEncoded())));
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("one", certificate);
        try (OutputStream out = Files.newOutputStream(keys.resolve("trusted.p12"))) {
            trusted.store(out, Objects.requireNonNull(System.getenv(VARIABLE)).toCharArray());
        }
    }

    @AfterAll
    static void stopBroker() {
        broker.close();
    }

    @BeforeEach
    void open() throws IOException {
        feeds = TopicFeeds.open(broker, directory.resolve("store"));
        login(PASSWORD);
    }

    @AfterEach
    void close() {
        feeds.close();
    }

    private void login(String password) throws IOException {
        jaas(
                "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"feed\" password=\"%s\";"
                        .formatted(password));
    }

    private void jaas(String text) throws IOException {
        Files.writeString(directory.resolve("login"), text + "\n");
    }

    /** A definition that logs in by a file, and trusts as {@code trust} says. */
    private String definition(String feed, String trust) {
        return TopicFeeds.definitionOf(
                feed,
                broker.secureAddress(),
                "topics: locked, group: %s, key: id, security.protocol: SASL_SSL, sasl.mechanism: PLAIN, sasl.jaas.config: \"${file:%s}\", %s"
                        .formatted(feed, directory.resolve("login"), trust));
    }

    private static String pem() {
        return "ssl.truststore.type: PEM, ssl.truststore.location: \"%s\""
                .formatted(keys.resolve("broker.pem"));
    }

    private void awaitAll() throws InterruptedException {
        for (int i = 0; i < 6; i++) {
            feeds.awaitRecord("k" + i, i);
        }
    }

    @Test
    void a_feed_logs_in_with_secrets_that_its_definition_refers_to() throws Exception {
        String store =
                "ssl.truststore.type: PKCS12, ssl.truststore.location: \"%s\", ssl.truststore.password: \"${env:%s}\""
                        .formatted(keys.resolve("trusted.p12"), VARIABLE);
        feeds.start(definition("by-store", store));
        awaitAll();
        assertThat(String.valueOf(feeds.manager().definition("by-store"))).doesNotContain(PASSWORD);
        assertThat(Query.on(feeds.store().dataset("_definitions")).run().toList())
                .hasSize(1)
                .allSatisfy(row -> assertThat(row.toString())
                        .contains("${env:" + VARIABLE)
                        .doesNotContain(PASSWORD, System.getenv(VARIABLE)));
        feeds.manager().drop("by-store");
    }

    @Test
    void a_wrong_password_is_tried_again_and_shown_nowhere() throws Exception {
        login("wrong-sesame-18");
        feeds.start(definition("f", pem()));
        feeds.awaitState("f", FeedState.RETRYING);
        assertThat(feeds.manager().status("f").cause())
                .contains("Kafka at " + broker.secureAddress(), "Authentication failed")
                .doesNotContain("sesame");
        login(PASSWORD);
        awaitAll();
    }

    @Test
    void a_login_that_is_no_login_is_shown_nowhere_either() throws Exception {
        jaas(
                "org.apache.kafka.common.security.plain.PlainLoginModule required username=feed password=open sesame-19;");
        feeds.start(definition("f", pem()));
        feeds.awaitState("f", FeedState.FAILED);
        assertThat(feeds.manager().status("f").cause())
                .contains("sasl.jaas.config")
                .doesNotContain("sesame");
    }

    @Test
    void a_broker_whose_certificate_is_not_trusted_is_not_told_the_password() throws Exception {
        feeds.start(definition("f", "client.id: stranger"));
        feeds.awaitState("f", FeedState.RETRYING);
        assertThat(feeds.manager().status("f").cause())
                .contains("SSL handshake failed")
                .doesNotContain("sesame");
    }

    @Test
    void a_secret_that_is_written_out_is_refused() {
        String written = definition("f", pem())
                .replaceAll(
                        "\"\\$\\{file:[^}]*}\"",
                        "'X required password=\"%s\";'".formatted(PASSWORD));
        assertThat(written).contains(PASSWORD);
        assertThatThrownBy(() -> feeds.start(written))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("source.sasl.jaas.config")
                .hasMessageContaining("a secret is not written")
                .hasMessageNotContaining(PASSWORD);
    }
}
