package io.turbidite.feeds.source.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Time;
import org.jspecify.annotations.Nullable;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A real broker, which is its own controller, in this process and on loopback. */
final class Broker implements AutoCloseable {
    /** A producer whose broker goes away under it must not wait for two minutes. */
    private static final String PRODUCER_MILLIS = "20000";

    private final Path directory;
    private final int port;
    private final int securePort;
    private final Properties properties = new Properties();
    private @Nullable KafkaRaftServer server;
    private @Nullable Admin admin;

    private Broker(Path directory, int port, int securePort) {
        this.directory = directory;
        this.port = port;
        this.securePort = securePort;
    }

    /**
     * Starts one in a directory of its own, which is none for temporary files: there the check for
     * leaks would take its segments for a test's.
     */
    static Broker open() throws IOException {
        return open(Map.of());
    }

    /**
     * As {@link #open()}, with a second listener, SASL_SSL with PLAIN, for one user.
     *
     * @param keyStore of type PKCS12
     * @param keyPassword of the store and its key
     */
    static Broker openSecure(Path keyStore, String keyPassword, String user, String password)
            throws IOException {
        return open(Map.of(
                "sasl.enabled.mechanisms",
                "PLAIN",
                "listener.name.sasl_ssl.plain.sasl.jaas.config",
                "org.apache.kafka.common.security.plain.PlainLoginModule required user_%s=\"%s\";"
                        .formatted(user, password),
                "ssl.keystore.type",
                "PKCS12",
                "ssl.keystore.location",
                keyStore.toString(),
                "ssl.keystore.password",
                keyPassword,
                "ssl.key.password",
                keyPassword));
    }

    private static Broker open(Map<String, String> secure) throws IOException {
        Path directory = Files.createTempDirectory(
                Files.createDirectories(Path.of("target").toAbsolutePath()), "broker");
        int port = freePort();
        int controllers = freePort();
        int securePort = secure.isEmpty() ? 0 : freePort();
        String more = secure.isEmpty() ? "" : ",SASL_SSL://127.0.0.1:" + securePort;
        Broker broker = new Broker(directory, port, securePort);
        broker.properties.putAll(secure);
        broker.properties.putAll(Map.ofEntries(
                Map.entry("process.roles", "broker,controller"),
                Map.entry("node.id", "1"),
                Map.entry("controller.quorum.voters", "1@127.0.0.1:" + controllers),
                Map.entry(
                        "listeners",
                        "PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d%s"
                                .formatted(port, controllers, more)),
                Map.entry("advertised.listeners", "PLAINTEXT://127.0.0.1:" + port + more),
                Map.entry("controller.listener.names", "CONTROLLER"),
                Map.entry(
                        "listener.security.protocol.map",
                        "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL"),
                Map.entry("log.dirs", directory.resolve("logs").toString()),
                Map.entry("offsets.topic.replication.factor", "1"),
                Map.entry("offsets.topic.num.partitions", "1"),
                Map.entry("transaction.state.log.replication.factor", "1"),
                Map.entry("transaction.state.log.num.partitions", "1"),
                Map.entry("transaction.state.log.min.isr", "1"),
                Map.entry("group.initial.rebalance.delay.ms", "0"),
                Map.entry("group.consumer.heartbeat.interval.ms", "200"),
                Map.entry("group.consumer.min.heartbeat.interval.ms", "100"),
                Map.entry("group.consumer.session.timeout.ms", "6000"),
                Map.entry("group.consumer.min.session.timeout.ms", "1000"),
                Map.entry("auto.create.topics.enable", "false"),
                Map.entry("num.network.threads", "1"),
                Map.entry("num.io.threads", "2"),
                Map.entry("background.threads", "1"),
                Map.entry("log.retention.ms", "-1"),
                Map.entry("log.cleaner.enable", "false")));
        Path file = directory.resolve("server.properties");
        try (var out = Files.newOutputStream(file)) {
            broker.properties.store(out, null);
        }
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        int code = StorageTool.execute(
                new String[] {"format", "-t", Uuid.randomUuid().toString(), "-c", file.toString()},
                new PrintStream(said, true, StandardCharsets.UTF_8));
        assertThat(code).as(said.toString(StandardCharsets.UTF_8)).isZero();
        broker.start();
        return broker;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    void start() {
        server = new KafkaRaftServer(KafkaConfig.fromProps(properties, false), Time.SYSTEM);
        server.startup();
    }

    void stop() {
        KafkaRaftServer running = server;
        server = null;
        if (running != null) {
            running.shutdown();
            running.awaitShutdown();
        }
    }

    String address() {
        return "127.0.0.1:" + port;
    }

    /** Where it wants TLS and a login. */
    String secureAddress() {
        return "127.0.0.1:" + securePort;
    }

    /** Dead members of a group lose their partitions after so long. */
    void expireAfter(String group, int millis) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.GROUP, group);
        ConfigEntry entry =
                new ConfigEntry("consumer.session.timeout.ms", Integer.toString(millis));
        admin().incrementalAlterConfigs(
                        Map.of(resource, List.of(new AlterConfigOp(entry, OpType.SET))))
                .all()
                .get(20, TimeUnit.SECONDS);
    }

    Path directory() {
        return directory;
    }

    synchronized Admin admin() {
        if (admin == null) {
            admin = Admin.create(Map.of("bootstrap.servers", address()));
        }
        return Objects.requireNonNull(admin);
    }

    void create(String topic, int partitions) throws Exception {
        admin().createTopics(List.of(new NewTopic(topic, partitions, (short) 1)))
                .all()
                .get(20, TimeUnit.SECONDS);
    }

    /** Deletes a topic, and waits until nobody sees it. */
    void delete(String topic) throws Exception {
        admin().deleteTopics(List.of(topic)).all().get(20, TimeUnit.SECONDS);
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (System.nanoTime() < deadline) {
            try {
                admin().describeTopics(List.of(topic)).allTopicNames().get(20, TimeUnit.SECONDS);
                TimeUnit.MILLISECONDS.sleep(10);
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(UnknownTopicOrPartitionException.class);
                return;
            }
        }
        throw new AssertionError("topic %s is still there".formatted(topic));
    }

    String topicId(String topic) throws Exception {
        return Objects.requireNonNull(admin().describeTopics(List.of(topic))
                        .allTopicNames()
                        .get(20, TimeUnit.SECONDS)
                        .get(topic))
                .topicId()
                .toString();
    }

    /** As retention does. */
    void deleteBefore(String topic, int partition, long offset) throws Exception {
        admin().deleteRecords(Map.of(
                        new TopicPartition(topic, partition), RecordsToDelete.beforeOffset(offset)))
                .all()
                .get(20, TimeUnit.SECONDS);
    }

    KafkaProducer<String, String> producer(Map<String, Object> more) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", address());
        settings.put("delivery.timeout.ms", PRODUCER_MILLIS);
        settings.put("request.timeout.ms", "2000");
        settings.put("max.block.ms", PRODUCER_MILLIS);
        settings.put("linger.ms", "1");
        settings.putAll(more);
        return new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    @Override
    public void close() {
        if (admin != null) {
            admin.close();
        }
        stop();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
