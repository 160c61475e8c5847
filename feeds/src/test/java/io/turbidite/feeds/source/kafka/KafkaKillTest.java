package io.turbidite.feeds.source.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.KilledChild;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * A child process feeds a store from a topic and is killed behind a write, mostly before the group
 * is told of it (which is done once a second), while messages go on to come. Whoever opens the
 * store next finds as many records counted as its offsets say. In the end the dataset holds the
 * last value of each key, and as many records were taken as the topic has messages.
 *
 * <p>A dead member keeps its partitions until its session ends: 1.5 s here, for 200 kills.
 */
@LeaksOnPurpose("a broker opens files and starts threads when a topic first needs them")
class KafkaKillTest {
    private static final int KILLS = Tier.count(2, 20, 200);
    private static final int PARTITIONS = 3;
    private static final int KEYS = 60;
    private static final int MESSAGES_A_KILL = 40;
    private static final int SESSION_MILLIS = 1_500;
    private static final long LONG_NANOS = 120_000_000_000L;

    /** The last value of each key that has one. */
    private final Map<String, Long> last = new TreeMap<>();

    private final long[] sent = new long[PARTITIONS];

    private static Broker broker;

    @TempDir
    Path directory;

    private final long seed = Seeds.of("KafkaKillTest");
    private final String as = Seeds.replay("KafkaKillTest", seed);
    private final SplittableRandom random = new SplittableRandom(seed);
    private String topic = "";
    private String topicAndId = "";

    @BeforeAll
    static void startBroker() throws Exception {
        broker = Broker.open();
        broker.expireAfter("g", SESSION_MILLIS);
    }

    @AfterAll
    static void stopBroker() {
        broker.close();
    }

    @Test
    void after_any_kill_of_the_process_each_message_has_been_taken_once() throws Exception {
        assertThat(killed("killed", "", KILLS)).as(as).isGreaterThan(KILLS / 2);
    }

    /** The broker takes it for one that is still there until its session ends. */
    @Test
    void a_static_member_that_was_killed_comes_back() throws Exception {
        killed("killed-member", ", member: m", 1);
    }

    /** How many of the kills were behind a write. */
    private int killed(String name, String more, int kills) throws Exception {
        topic = name;
        broker.create(topic, PARTITIONS);
        topicAndId = topic + "/" + broker.topicId(topic);
        Path definition = directory.resolve("feed.yaml");
        Files.writeString(
                definition,
                TopicFeeds.definitionOf(
                        "f",
                        broker.address(),
                        "topics: %s, group: g, key: id%s".formatted(topic, more)));
        int behindWrites = 0;
        try (KafkaProducer<String, String> producer = broker.producer(Map.of("linger.ms", "0"))) {
            for (int kill = 0; kill < kills; kill++) {
                behindWrites += runUntilKilled(producer, definition);
                try (Store store = Store.open(directory.resolve("store"), KilledFeed.OPTIONS)) {
                    isConsistent(store);
                }
            }
            finish(definition);
        }
        return behindWrites;
    }

    /** Returns 1 if it was killed right behind a write. */
    private int runUntilKilled(KafkaProducer<String, String> producer, Path definition)
            throws Exception {
        try (KilledChild child = KilledChild.start(
                directory.resolve("child.log"),
                KilledFeed.class,
                directory.resolve("store"),
                definition,
                topicAndId,
                PARTITIONS)) {
            assertThat(child.line()).isEqualTo("open");
            // now and then before it is a member
            int writes = random.nextInt(8) == 0 ? 0 : random.nextInt(1, 5);
            send(producer);
            long counted = Long.parseLong(child.line());
            for (int i = 0; i < writes; ) {
                long now = Long.parseLong(child.line());
                i += now > counted ? 1 : 0;
                counted = now;
                if (counted == all()) {
                    send(producer); // there is always a next write
                }
            }
            child.kill();
            return writes > 0 ? 1 : 0;
        } finally {
            producer.flush();
        }
    }

    private void send(KafkaProducer<String, String> producer) {
        for (int i = 0; i < MESSAGES_A_KILL; i++) {
            int number = random.nextInt(KEYS);
            String key = "k" + number;
            long n = random.nextLong(1_000_000);
            int partition = number % PARTITIONS;
            boolean deletes = random.nextInt(5) == 0;
            if (deletes) {
                last.remove(key);
            } else {
                last.put(key, n);
            }
            sent[partition]++;
            var _ = producer.send(new ProducerRecord<>(
                    topic, partition, key, deletes ? null : "{\"n\":%d}".formatted(n)));
        }
    }

    private long all() {
        long all = 0;
        for (long count : sent) {
            all += count;
        }
        return all;
    }

    private static @Nullable Map<String, @Nullable Object> row(
            Store store, String topicAndId, int partition) {
        Dataset rows = store.findDataset("_feeds");
        return rows == null ? null : rows.get("D/g", topicAndId + "/" + partition);
    }

    /** How many records a store has taken, of all partitions. */
    static long records(Store store, String topicAndId, int partitions) {
        long all = 0;
        for (int partition = 0; partition < partitions; partition++) {
            var row = row(store, topicAndId, partition);
            all += row == null ? 0 : (Long) Objects.requireNonNull(row.get("records"));
        }
        return all;
    }

    private void isConsistent(Store store) {
        for (int partition = 0; partition < PARTITIONS; partition++) {
            var row = row(store, topicAndId, partition);
            if (row != null) {
                byte[] position = (byte[]) Objects.requireNonNull(row.get("position"));
                assertThat((Long) row.get("records"))
                        .as("%s partition %d", as, partition)
                        .isEqualTo(ByteBuffer.wrap(position).getLong())
                        .isLessThanOrEqualTo(sent[partition]);
            }
        }
    }

    private void finish(Path definition) throws Exception {
        try (Store store = Store.open(directory.resolve("store"), KilledFeed.OPTIONS);
                FeedManager feeds = FeedManager.open(store)) {
            if (feeds.startKept().isEmpty()) {
                feeds.start(Files.readString(definition), directory);
            }
            long deadline = System.nanoTime() + LONG_NANOS;
            while (records(store, topicAndId, PARTITIONS) < all()) {
                assertThat(System.nanoTime() - deadline)
                        .as("%s: %s", as, feeds.list())
                        .isNegative();
                TimeUnit.MILLISECONDS.sleep(5);
            }
            isConsistent(store);
            assertThat(records(store, topicAndId, PARTITIONS)).as(as).isEqualTo(all());
            Map<String, Long> found = new TreeMap<>();
            for (int key = 0; key < KEYS; key++) {
                var record = store.dataset("D").get("k" + key);
                if (record != null) {
                    found.put("k" + key, (Long) Objects.requireNonNull(record.get("n")));
                }
            }
            assertThat(found).as(as).isEqualTo(last);
            assertThat(feeds.status("f").rejected()).as(as).isZero();
            assertThat(store.verify().errors()).as(as).isEmpty();
        }
    }
}
