package io.turbidite.feeds.source.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;

import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Feeds as members of groups, and what a broker does to them. */
@LeaksOnPurpose("a broker opens files and starts threads when a topic first needs them")
class KafkaGroupTest {
    private static Broker broker;
    private static KafkaProducer<String, String> producer;

    @TempDir
    Path directory;

    private TopicFeeds feeds;

    @BeforeAll
    static void startBroker() throws Exception {
        broker = Broker.open();
        producer = broker.producer(Map.of());
    }

    @AfterAll
    static void stopBroker() {
        producer.close(Duration.ofSeconds(1));
        broker.close();
    }

    @BeforeEach
    void open() {
        feeds = TopicFeeds.open(broker, directory);
    }

    @AfterEach
    void close() {
        feeds.close();
    }

    private static void send(String topic, int partition, String key, long n) throws Exception {
        producer.send(new ProducerRecord<>(topic, partition, key, "{\"n\":%d}".formatted(n)))
                .get(20, TimeUnit.SECONDS);
    }

    /** A broker looks for topics that fit a pattern anew when some were made, 10 s apart. */
    @Test
    void topics_that_fit_a_pattern_are_read_when_they_appear() throws Exception {
        broker.create("fit-1", 1);
        broker.create("unfit-1", 1);
        send("fit-1", 0, "one", 1);
        send("unfit-1", 0, "other", 1);
        feeds.start(feeds.definitionOf("f", "pattern: \"fit-[0-9]+\", group: fits, key: id"));
        feeds.awaitRecord("one", 1);
        broker.create("fit-2", 2);
        broker.create("fit-x", 1);
        send("fit-x", 0, "other", 2);
        send("fit-2", 0, "two", 2);
        send("fit-2", 1, "three", 3);
        feeds.awaitRecord("two", 2);
        feeds.awaitRecord("three", 3);
        send("fit-1", 0, "one", 4);
        feeds.awaitRecord("one", 4);
        assertThat(feeds.get("other")).isNull();
        assertThat(feeds.row("fits", "fit-1", 0)).containsEntry("records", 2L);
        assertThat(feeds.row("fits", "unfit-1", 0)).isNull();
        // a topic that goes does not end the feed of the others
        broker.delete("fit-1");
        send("fit-2", 0, "two", 5);
        feeds.awaitRecord("two", 5);
    }

    /** The member of a feed by its name: what it has, and since which change of the group. */
    private @Nullable MemberDescription member(String group, String name) {
        return feeds.members(group).stream()
                .filter(member -> member.groupInstanceId().equals(Optional.of(name)))
                .findAny()
                .orElse(null);
    }

    private boolean has(String group, String name, int partitions) {
        MemberDescription member = member(group, name);
        return member != null && member.assignment().topicPartitions().size() == partitions;
    }

    @Test
    void the_partitions_of_a_static_member_wait_for_it() throws Exception {
        broker.create("static", 4);
        feeds.start(feeds.definition("a", "static", ", member: a"));
        feeds.start(feeds.definition("b", "static", ", member: b"));
        feeds.await(
                () -> "both have two", () -> has("g-static", "a", 2) && has("g-static", "b", 2));
        MemberDescription a = Objects.requireNonNull(member("g-static", "a"));
        MemberDescription b = Objects.requireNonNull(member("g-static", "b"));
        int waiting = a.assignment().topicPartitions().iterator().next().partition();
        int other = b.assignment().topicPartitions().iterator().next().partition();
        feeds.manager().pause("a");
        send("static", waiting, "waits", 1);
        send("static", other, "goes on", 2);
        feeds.awaitRecord("goes on", 2);
        assertThat(feeds.get("waits")).isNull();
        feeds.manager().resume("a");
        feeds.awaitRecord("waits", 1);
        MemberDescription back = Objects.requireNonNull(member("g-static", "a"));
        assertThat(back.consumerId()).isNotEqualTo(a.consumerId());
        assertThat(back.assignment()).isEqualTo(a.assignment());
        // the group has not changed since: b's epoch would be a higher one
        MemberDescription still = Objects.requireNonNull(member("g-static", "b"));
        assertThat(still.memberEpoch()).isEqualTo(b.memberEpoch());
        assertThat(still.consumerId()).isEqualTo(b.consumerId());
        assertThat(still.assignment()).isEqualTo(b.assignment());
    }

    @Test
    void a_feed_outlives_its_broker_and_repeats_nothing() throws Exception {
        broker.create("restart", 3);
        for (int i = 0; i < 30; i++) {
            send("restart", i % 3, "r" + i, i);
        }
        feeds.start(feeds.definition("f", "restart", ""));
        feeds.awaitRecord("r29", 29);
        broker.stop();
        try {
            feeds.awaitState("f", FeedState.RETRYING);
            assertThat(feeds.manager().status("f").cause())
                    .contains("Kafka at " + broker.address(), "no broker answers");
        } finally {
            broker.start();
        }
        for (int i = 30; i < 60; i++) {
            send("restart", i % 3, "r" + i, i);
        }
        for (int i = 0; i < 60; i++) {
            feeds.awaitRecord("r" + i, i);
        }
        for (int p = 0; p < 3; p++) {
            assertThat(feeds.records("restart", p)).isEqualTo(20);
            assertThat(feeds.position("restart", p)).isEqualTo(20);
        }
    }

    /** One partition more than workers, and then each its own. */
    @Test
    void two_workers_and_elastic_ones_take_each_message_once_over_a_restart() throws Exception {
        broker.create("workers", 3);
        String two = feeds.definition("f", "workers", "") + "workers: 2\n";
        feeds.start(two);
        sendAll("workers", 0, 300);
        awaitAll("workers", 300, 2);
        sendAll("workers", 300, 450);
        feeds.close(); // it may be anywhere in these
        feeds = TopicFeeds.open(broker, directory);
        feeds.manager().startKept();
        sendAll("workers", 450, 600);
        awaitAll("workers", 600, 2);
        String elastic = feeds.definition("f", "workers", "")
                + "policy: { kind: elastic, workersMin: 2, workersMax: 3 }\n";
        feeds.manager().change(elastic, directory);
        sendAll("workers", 600, 900);
        awaitAll("workers", 900, 2);
        assertThat(feeds.manager().status("f").rejected()).isZero();
    }

    /**
     * As where it comes to another parse worker: what was fetched and not read is fetched again.
     */
    @Test
    void a_partition_that_is_closed_and_opened_goes_on_behind_what_was_delivered()
            throws Exception {
        broker.create("moved", 1);
        sendAll("moved", 1, 0, 40);
        KafkaOptions options = KafkaOptions.of(Map.of(
                "bootstrap", broker.address(), "topics", "moved", "group", "g-m", "key", "id"));
        SourceHost host = new SourceHost(
                "f",
                new JsonRecordParser(
                        RecordType.builder().field("n", "int64").build(), true, List.of()),
                ',',
                feeds.store().environment().tasks(),
                feeds.store().environment().clock(),
                () -> false);
        try (KafkaSource source = KafkaSource.of(options, directory)) {
            source.begin(Map::of, host);
            feeds.await(() -> "no partition", () -> !source.partitions().isEmpty());
            String name = source.partitions().getFirst();
            PartitionState taken = null;
            for (int part = 0; part < 4; part++) {
                PartitionReader reader = source.open(name, taken, host);
                for (int i = 0; i < 10; i++) {
                    feeds.await(() -> "no message", () -> {
                        assertThat(source.partitions()).containsExactly(name); // which fetches
                        return reader.next() == PartitionReader.Step.RECORD;
                    });
                    assertThat(reader.position()).isEqualTo(SourcePosition.of(10 * part + i + 1));
                }
                taken = new PartitionState(reader.position(), 1, 10, 0);
                source.durable(name, taken.position());
                reader.close();
                assertThat(source.hasNews()).as("it is to be opened").isTrue();
            }
        }
    }

    private static void sendAll(String topic, int from, int to) throws Exception {
        sendAll(topic, 3, from, to);
    }

    private static void sendAll(String topic, int partitions, int from, int to) throws Exception {
        for (int i = from; i < to; i++) {
            String value = "{\"n\":%d}".formatted(i);
            var _ = producer.send(new ProducerRecord<>(topic, i % partitions, "w" + i % 30, value));
        }
        producer.flush();
    }
    /** The last of each of 30 keys, each in one partition; and each message was counted once. */
    private void awaitAll(String topic, int count, int workers) throws Exception {
        for (int i = count - 30; i < count; i++) {
            feeds.awaitRecord("w" + i % 30, i);
        }
        feeds.await(
                () -> "not %d workers".formatted(workers),
                () -> feeds.manager().status("f").workers() == workers);
        for (int p = 0; p < 3; p++) {
            assertThat(feeds.records(topic, p)).isEqualTo(count / 3);
            assertThat(feeds.position(topic, p)).isEqualTo(count / 3);
        }
    }
}
