package io.turbidite.feeds.source.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Tier;
import io.turbidite.feeds.manage.FeedState;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A feed of a real broker's topics. The broker opens files and starts threads as topics need them,
 * so the check for leaks can't tell them from a test's: what this looks for are threads of clients.
 */
@LeaksOnPurpose("a broker opens files and starts threads when a topic first needs them")
class KafkaSourceTest {
    private static Broker broker;
    private static KafkaProducer<String, String> producer;

    private static long before;

    @TempDir
    Path directory;

    private TopicFeeds feeds;

    @BeforeAll
    static void startBroker() throws Exception {
        broker = Broker.open();
        producer = broker.producer(Map.of());
        broker.create("first", 1);
        before = clientThreads();
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
        assertThat(clientThreads()).isEqualTo(before);
    }

    private static long clientThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("kafka-admin-client")
                        || name.startsWith("consumer_background"))
                .count();
    }

    private static void send(String topic, int partition, String key, @Nullable String value)
            throws Exception {
        producer.send(new ProducerRecord<>(topic, partition, key, value)).get(20, TimeUnit.SECONDS);
    }

    @Test
    void messages_become_records_and_tombstones_delete_them() throws Exception {
        broker.create("plain", 3);
        send("plain", 0, "a", "{\"n\":1}");
        send("plain", 1, "b", "{\"n\":2}");
        send("plain", 2, "c", "{}");
        feeds.start(feeds.definition(
                "f", "plain", ", partition: p, offset: o, topic: t, timestamp: at, headers: h"));
        feeds.awaitRecord("a", 1);
        feeds.awaitRecord("b", 2);
        ProducerRecord<String, String> withHeaders =
                new ProducerRecord<>("plain", 1, 1_764_000_000_123L, "d", " { \"n\" : 4 } ");
        withHeaders
                .headers()
                .add(header("x", "one"))
                .add(header("y", "q\"\n"))
                .add(header("x", "two"));
        producer.send(withHeaders).get(20, TimeUnit.SECONDS);
        send("plain", 0, "a", null);
        feeds.awaitRecord("d", 4);
        assertThat(feeds.store().dataset("D").get("d"))
                .containsEntry("p", 1L)
                .containsEntry("o", 1L)
                .containsEntry("t", "plain")
                .containsEntry("at", "2025-11-24T16:00:00.123Z")
                .containsEntry("h", Map.of("x", "two", "y", "q\"\n"));
        feeds.await(() -> "a is there", () -> feeds.get("a") == null);
        // the value without n is a dead letter
        feeds.await(() -> "counts", () -> feeds.manager().status("f").rejected() == 1);
        feeds.await(() -> "counts", () -> feeds.manager().status("f").records() == 4);
        assertThat(feeds.row("plain", 0)).containsEntry("records", 2L);
        assertThat(feeds.manager().status("f").state()).isIn(FeedState.RUNNING, FeedState.WAITING);
    }

    @Test
    void the_stores_offsets_win_over_the_groups_which_are_told_for_lag() throws Exception {
        broker.create("offsets", 1);
        send("offsets", 0, "a", "{\"n\":1}");
        feeds.start(feeds.definition("f", "offsets", ""));
        feeds.awaitRecord("a", 1);
        TopicPartition partition = new TopicPartition("offsets", 0);
        feeds.await(() -> "the group is told", () -> {
            var told = groupOffset("g-offsets", partition);
            return told != null && told == 1;
        });
        feeds.manager().pause("f");
        feeds.await(() -> "the group is empty", () -> feeds.members("g-offsets").isEmpty());
        broker.admin()
                .alterConsumerGroupOffsets("g-offsets", Map.of(partition, new OffsetAndMetadata(0)))
                .all()
                .get(20, TimeUnit.SECONDS);
        feeds.manager().resume("f");
        send("offsets", 0, "b", "{\"n\":2}");
        feeds.awaitRecord("b", 2);
        assertThat(feeds.row("offsets", 0)).containsEntry("records", 2L);
    }

    @Test
    void transactions_that_were_aborted_are_not_read() throws Exception {
        broker.create("tx", 1);
        try (KafkaProducer<String, String> sender =
                broker.producer(Map.of("transactional.id", "t"))) {
            sender.initTransactions();
            for (int i = 0; i < 6; i++) {
                sender.beginTransaction();
                var _ = sender.send(new ProducerRecord<>("tx", "k" + i, "{\"n\":%d}".formatted(i)));
                sender.flush();
                if (i % 2 == 0) {
                    sender.commitTransaction();
                } else {
                    sender.abortTransaction();
                }
            }
        }
        feeds.start(feeds.definition("f", "tx", ""));
        feeds.awaitRecord("k4", 4);
        // each of six messages has a mark behind it; the position passes the last one too
        feeds.await(() -> "all is passed", () -> feeds.position("tx", 0) == 12);
        assertThat(feeds.row("tx", 0)).containsEntry("records", 3L);
        assertThat(feeds.get("k1")).isNull();
        assertThat(feeds.get("k5")).isNull();
    }

    @Test
    void a_feed_starts_where_it_is_told() throws Exception {
        for (String topic : List.of("s-earliest", "s-latest", "s-time")) {
            broker.create(topic, 1);
            for (int i = 0; i < 3; i++) {
                producer.send(new ProducerRecord<>(
                                topic,
                                0,
                                1_000_000L + i * 1_000L,
                                topic + i,
                                "{\"n\":%d}".formatted(i)))
                        .get(20, TimeUnit.SECONDS);
            }
        }
        feeds.start(feeds.definition("a", "s-earliest", ""));
        feeds.start(feeds.definition("b", "s-latest", ", start: latest"));
        feeds.start(feeds.definition("c", "s-time", ", start: \"1970-01-01T00:16:41Z\""));
        feeds.awaitRecord("s-earliest2", 2);
        feeds.awaitRecord("s-time2", 2);
        feeds.await(() -> "it has begun", () -> feeds.position("s-latest", 0) == 3);
        send("s-latest", 0, "s-latest3", "{\"n\":3}");
        feeds.awaitRecord("s-latest3", 3);
        assertThat(feeds.row("s-earliest", 0)).containsEntry("records", 3L);
        assertThat(feeds.row("s-time", 0)).containsEntry("records", 2L);
        assertThat(feeds.row("s-latest", 0)).containsEntry("records", 1L);
    }

    /** Whoever gets the partition next would begin elsewhere, and leave out what is between. */
    @Test
    void where_a_partition_begins_is_kept_before_anything_comes() throws Exception {
        broker.create("begun", 1);
        send("begun", 0, "x0", "{\"n\":0}");
        feeds.start(feeds.definition("f", "begun", ", start: latest"));
        feeds.await(() -> "it has begun", () -> feeds.position("begun", 0) == 1);
        feeds.manager().pause("f");
        send("begun", 0, "x1", "{\"n\":1}");
        feeds.manager().resume("f");
        feeds.awaitRecord("x1", 1);
        assertThat(feeds.get("x0")).isNull();
    }

    @Test
    void a_gap_that_retention_left_is_told_or_refused() throws Exception {
        broker.create("gap", 1);
        for (int i = 0; i < 4; i++) {
            send("gap", 0, "g" + i, "{\"n\":%d}".formatted(i));
        }
        feeds.start(feeds.definition("f", "gap", ""));
        feeds.awaitRecord("g3", 3);
        feeds.manager().pause("f");
        for (int i = 4; i < 10; i++) {
            send("gap", 0, "g" + i, "{\"n\":%d}".formatted(i));
        }
        broker.deleteBefore("gap", 0, 7);
        feeds.manager().resume("f");
        feeds.await(
                () -> "it fails", () -> feeds.manager().status("f").state() == FeedState.FAILED);
        assertThat(feeds.manager().status("f").cause())
                .contains("up to offset 4", "offsets 7 to 10", "onGap");
        feeds.manager().drop("f");
        feeds.start(feeds.definition("f", "gap", ", onGap: earliest"));
        feeds.awaitRecord("g9", 9);
        assertThat(feeds.get("g5")).isNull();
        assertThat(feeds.row("gap", 0)).containsEntry("records", 7L);
        assertThat(feeds.store().events().recent())
                .anySatisfy(event -> assertThat(event)
                        .isInstanceOfSatisfying(StoreEvent.SourceGap.class, gap -> {
                            assertThat(gap.from()).isEqualTo(4);
                            assertThat(gap.to()).isEqualTo(7);
                        }));
    }

    @Test
    void behind_a_gap_reading_goes_on_with_what_comes_next_if_that_is_asked_for() throws Exception {
        broker.create("gap-latest", 1);
        send("gap-latest", 0, "l0", "{\"n\":0}");
        feeds.start(feeds.definition("f", "gap-latest", ", onGap: latest"));
        feeds.awaitRecord("l0", 0);
        feeds.manager().pause("f");
        for (int i = 1; i < 6; i++) {
            send("gap-latest", 0, "l" + i, "{\"n\":%d}".formatted(i));
        }
        broker.deleteBefore("gap-latest", 0, 3);
        feeds.manager().resume("f");
        feeds.await(() -> "it is behind the gap", () -> feeds.position("gap-latest", 0) == 6);
        send("gap-latest", 0, "l6", "{\"n\":6}");
        feeds.awaitRecord("l6", 6);
        for (int i = 1; i < 6; i++) {
            assertThat(feeds.get("l" + i)).isNull();
        }
        assertThat(feeds.records("gap-latest", 0)).isEqualTo(2);
        assertThat(feeds.store().events().recent())
                .anySatisfy(event -> assertThat(event)
                        .isInstanceOfSatisfying(StoreEvent.SourceGap.class, gap -> {
                            assertThat(gap.from()).isEqualTo(1);
                            assertThat(gap.to()).isEqualTo(6);
                        }));
        assertThat(feeds.store().meters().instruments())
                .filteredOn(one -> one.name().equals("feed.missed"))
                .singleElement()
                .isInstanceOfSatisfying(
                        Counter.class, missed -> assertThat(missed.sum()).isEqualTo(5));
    }

    @Test
    void a_topic_that_is_made_anew_is_read_from_its_beginning() throws Exception {
        broker.create("anew", 1);
        send("anew", 0, "old0", "{\"n\":0}");
        send("anew", 0, "old1", "{\"n\":1}");
        feeds.start(feeds.definition("f", "anew", ", start: latest"));
        feeds.await(() -> "it has begun", () -> feeds.position("anew", 0) == 2);
        send("anew", 0, "old2", "{\"n\":2}");
        feeds.awaitRecord("old2", 2);
        String before = broker.topicId("anew");
        broker.delete("anew");
        broker.create("anew", 1);
        for (int i = 0; i < 5; i++) {
            send("anew", 0, "new" + i, "{\"n\":%d}".formatted(i));
        }
        feeds.awaitRecord("new4", 4);
        for (int i = 0; i < 5; i++) {
            feeds.awaitRecord("new" + i, i);
        }
        assertThat(feeds.row("anew", 0)).containsEntry("records", 5L);
        assertThat(feeds.store().dataset("_feeds").get("D/g-anew", "anew/%s/0".formatted(before)))
                .containsEntry("records", 1L);
    }

    @Test
    void a_feed_waits_for_brokers_and_topics_that_are_away_and_says_so() throws Exception {
        feeds.start(feeds.definition("f", "nowhere", ""));
        feeds.await(
                () -> "it retries",
                () -> feeds.manager().status("f").state() == FeedState.RETRYING);
        assertThat(feeds.manager().status("f").cause()).contains("topic 'nowhere' is not there");
        feeds.start(feeds.definition("g", "away", "").replace(broker.address(), "127.0.0.1:1"));
        broker.create("nowhere", 1);
        send("nowhere", 0, "late", "{\"n\":1}");
        feeds.awaitRecord("late", 1);
        feeds.await(
                () -> "it retries",
                () -> feeds.manager().status("g").state() == FeedState.RETRYING);
        assertThat(feeds.manager().status("g").cause())
                .contains("Kafka at 127.0.0.1:1", "no broker answers");
    }

    @Test
    void two_feeds_of_a_group_share_its_partitions() throws Exception {
        broker.create("shared", 4);
        feeds.start(feeds.definition("a", "shared", ""));
        int sent = 0;
        for (; sent < 40; sent++) {
            send("shared", sent % 4, "s" + sent, "{\"n\":%d}".formatted(sent));
        }
        feeds.awaitRecord("s39", 39);
        feeds.start(feeds.definition("b", "shared", ""));
        feeds.await(() -> "both have some", () -> {
            var members = feeds.members("g-shared");
            return members.size() == 2
                    && members.stream()
                            .allMatch(member ->
                                    member.assignment().topicPartitions().size() == 2);
        });
        for (; sent < 200; sent++) {
            send("shared", sent % 4, "s" + sent, "{\"n\":%d}".formatted(sent));
        }
        feeds.manager().pause("a");
        for (; sent < 240; sent++) {
            send("shared", sent % 4, "s" + sent, "{\"n\":%d}".formatted(sent));
        }
        for (int i = 0; i < sent; i++) {
            feeds.awaitRecord("s" + i, i);
        }
        long records = 0;
        for (int p = 0; p < 4; p++) {
            records += feeds.records("shared", p);
        }
        assertThat(records).isEqualTo(sent);
        assertThat(feeds.manager().status("b").state()).isIn(FeedState.RUNNING, FeedState.WAITING);
    }

    @Test
    void after_any_kill_each_message_has_been_taken_once() throws Exception {
        KafkaHistory.run(broker, Tier.count(3, 10, 200));
    }

    private static @Nullable Long groupOffset(String group, TopicPartition partition) {
        try {
            var offsets = broker.admin()
                    .listConsumerGroupOffsets(group)
                    .partitionsToOffsetAndMetadata()
                    .get(20, TimeUnit.SECONDS);
            var offset = offsets.get(partition);
            return offset == null ? null : offset.offset();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static RecordHeader header(String name, String value) {
        return new RecordHeader(name, value.getBytes(StandardCharsets.UTF_8));
    }
}
