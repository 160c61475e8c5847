package io.turbidite.bench.feed;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/**
 * The tweets as messages of a topic of three partitions, on a broker of its own. A tweet and its
 * updates lie in one partition, so that the last one stays the last.
 */
final class KafkaTopic implements AutoCloseable {
    private static final String NAME = "tweets";
    private static final int PARTITION_COUNT = 3;

    /** As many as a feed asks for at once. */
    private static final String POLL_MESSAGES = "4000";

    private static final Duration POLL_TIME = Duration.ofMillis(100);
    private static final long WAIT_NANOS_MAX = 120_000_000_000L;

    private final BrokerProcess broker;
    private final int count;

    /** Groups that have read it: each reads from the beginning. */
    private int groups;

    private KafkaTopic(BrokerProcess broker, int count) {
        this.broker = broker;
        this.count = count;
    }

    /** Starts a broker in {@code directory}, and sends all tweets. */
    static KafkaTopic open(Path directory, FeedTweets tweets) throws IOException {
        BrokerProcess broker = BrokerProcess.start(directory);
        try {
            KafkaTopic topic = new KafkaTopic(broker, tweets.count());
            topic.send(tweets);
            return topic;
        } catch (IOException | RuntimeException | Error e) {
            broker.close();
            throw e;
        }
    }

    private void send(FeedTweets tweets) throws IOException {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.address()))) {
            admin.createTopics(List.of(new NewTopic(NAME, PARTITION_COUNT, (short) 1)))
                    .all()
                    .get();
        } catch (InterruptedException | ExecutionException failed) {
            throw new IllegalStateException(failed);
        }
        Map<String, Object> settings =
                Map.of("bootstrap.servers", broker.address(), "linger.ms", "5", "acks", "all");
        try (var producer = new KafkaProducer<>(
                settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            tweets.forEachLine((id, line) -> {
                byte[] key = Long.toString(id).getBytes(StandardCharsets.US_ASCII);
                int partition = Math.floorMod(id, PARTITION_COUNT);
                var _ = producer.send(new ProducerRecord<>(NAME, partition, key, line));
            });
        }
    }

    /** What a definition says of it, in a group that has read nothing. */
    String source() {
        return "kind: kafka, bootstrap: '%s', topics: %s, group: %s"
                .formatted(broker.address(), NAME, newGroup());
    }

    private String newGroup() {
        return "bench-" + groups++;
    }

    /** What the client alone does: it fetches all messages, as a feed's does, and drops them. */
    void pollAll() {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", broker.address(),
                "group.id", newGroup(),
                "group.protocol", "consumer",
                "isolation.level", "read_committed",
                "enable.auto.commit", "false",
                "auto.offset.reset", "earliest",
                "max.poll.records", POLL_MESSAGES);
        int polled = 0;
        long start = System.nanoTime();
        try (var consumer = new KafkaConsumer<>(
                settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(NAME));
            while (polled < count) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL_TIME);
                polled += records.count();
                if (System.nanoTime() - start > WAIT_NANOS_MAX) {
                    throw new IllegalStateException(
                            "%d of %d messages came".formatted(polled, count));
                }
            }
        }
        if (polled != count) {
            throw new IllegalStateException("%d messages came, not %d".formatted(polled, count));
        }
    }

    @Override
    public void close() throws IOException {
        broker.close();
    }
}
