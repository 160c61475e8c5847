package io.turbidite.bench.feed;

import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;

/**
 * A broker of Kafka that is its own controller, on loopback, in a process of its own: what it does
 * is no cost of a feed. It ends with its standard input, and so with who started it.
 */
final class BrokerRun {
    private BrokerRun() {}

    /** {@code DIRECTORY PORT CONTROLLER-PORT}; prints a line when it takes clients. */
    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[0]);
        String controller = "127.0.0.1:" + args[2];
        Properties properties = new Properties();
        properties.putAll(Map.ofEntries(
                Map.entry("process.roles", "broker,controller"),
                Map.entry("node.id", "1"),
                Map.entry("controller.quorum.voters", "1@" + controller),
                Map.entry(
                        "listeners",
                        "PLAINTEXT://127.0.0.1:%s,CONTROLLER://%s".formatted(args[1], controller)),
                Map.entry("controller.listener.names", "CONTROLLER"),
                Map.entry(
                        "listener.security.protocol.map",
                        "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"),
                Map.entry("log.dirs", directory.resolve("logs").toString()),
                Map.entry("offsets.topic.replication.factor", "1"),
                Map.entry("offsets.topic.num.partitions", "1"),
                Map.entry("group.initial.rebalance.delay.ms", "0"),
                Map.entry("num.network.threads", "1"),
                Map.entry("num.io.threads", "2"),
                Map.entry("log.retention.ms", "-1"),
                Map.entry("log.cleaner.enable", "false")));
        Path file = directory.resolve("server.properties");
        try (var out = Files.newOutputStream(file)) {
            properties.store(out, null);
        }
        // what it says goes where it is seen: standard output has one line
        int code = StorageTool.execute(
                new String[] {"format", "-t", Uuid.randomUuid().toString(), "-c", file.toString()},
                System.err);
        if (code != 0) {
            throw new IllegalStateException("the broker's directory can't be formatted");
        }
        KafkaRaftServer server =
                new KafkaRaftServer(KafkaConfig.fromProps(properties, false), Time.SYSTEM);
        server.startup();
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // nothing comes but the end
        }
        Runtime.getRuntime().halt(0); // its files are thrown away
    }
}
