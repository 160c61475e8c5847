package io.turbidite.feeds.source.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A feed of a real broker whose machine loses its power anywhere between a fetch and a write, again
 * and again, while messages come. In the end the dataset holds the last value of each key, and as
 * many records were taken as the topic has messages: none is lost, none comes twice, though the
 * group at the broker knows offsets that the store never wrote.
 */
final class KafkaHistory {
    private static final int PARTITIONS = 3;
    private static final int KEYS = 90;
    private static final int MESSAGES_A_KILL = 60;
    private static final long LONG_NANOS = 60_000_000_000L;
    private static final String DEFINITION = """
            feed: f
            dataset:
              name: D
              type: { id: string, n: int64 }
              primaryKey: id
            source: { kind: kafka, bootstrap: "BROKER", topics: history, group: g, key: id }
            parser: { kind: json }
            """;

    private final Broker broker;
    private final KafkaProducer<String, String> producer;
    private final String topicId;

    /** The last value of each key that has one. */
    private final Map<String, Long> last = new TreeMap<>();

    private final long[] sent = new long[PARTITIONS];

    private KafkaHistory(Broker broker, KafkaProducer<String, String> producer) throws Exception {
        this.broker = broker;
        this.producer = producer;
        this.topicId = broker.topicId("history");
    }

    /** Cuts the power so often, and restarts the broker once. */
    static void run(Broker broker, int kills) throws Exception {
        broker.create("history", PARTITIONS);
        try (KafkaProducer<String, String> producer = broker.producer(Map.of())) {
            new KafkaHistory(broker, producer).run(kills);
        }
    }

    private static StoreOptions options() {
        LogOptions log = LogOptions.defaults().withSegmentBytes(1 << 20, 16, 1 << 10, 128 << 10);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(2 << 20)
                .withCacheBytes(2 << 20)
                .withLog(4 << 20, log.withDurability(Durability.SYNC));
    }

    private void run(int kills) throws Exception {
        long seed = Seeds.of("KafkaHistory");
        String as = Seeds.replay("KafkaHistory", seed);
        SplittableRandom random = new SplittableRandom(seed);
        int restartAt = random.nextInt(kills);
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        for (int kill = 0; kill < kills; kill++) {
            disk = runUntilKilled(disk, random, kill == restartAt, as + " kill " + kill);
        }
        finish(disk, as);
    }

    /** The disk as a cut of the power left it, somewhere in the run. */
    private SimDisk runUntilKilled(
            SimDisk disk, SplittableRandom random, boolean restarts, String as) throws Exception {
        int cutAt = random.nextInt(1, 60);
        long imageSeed = random.nextLong();
        AtomicReference<@Nullable SimDisk> image = new AtomicReference<>();
        int[] operations = {0};
        try (Store store = open(disk);
                FeedManager feeds = FeedManager.open(store)) {
            isConsistent(store, as);
            start(feeds);
            disk.onOperation(done -> {
                if (operations[0]++ == cutAt) {
                    image.set(disk.crashImage(imageSeed));
                }
            });
            List<Future<RecordMetadata>> answers = send(random);
            if (restarts) {
                broker.stop();
                broker.start();
            }
            for (Future<RecordMetadata> answer : answers) {
                answer.get(30, TimeUnit.SECONDS);
            }
            long deadline = System.nanoTime() + LONG_NANOS;
            while (image.get() == null && !isRead(store)) {
                assertThat(System.nanoTime() - deadline)
                        .as("%s: %s", as, feeds.list())
                        .isNegative();
                TimeUnit.MILLISECONDS.sleep(2);
            }
        }
        disk.onOperation(done -> {});
        SimDisk cut = image.get();
        return cut == null ? disk : cut;
    }

    private static Store open(SimDisk disk) {
        return Store.open(disk, ThreadTasks.create("history"), Clock.system(), options());
    }

    private void start(FeedManager feeds) {
        if (feeds.startKept().isEmpty()) {
            feeds.start(DEFINITION.replace("BROKER", broker.address()), Path.of("."));
        }
    }

    private List<Future<RecordMetadata>> send(SplittableRandom random) {
        List<Future<RecordMetadata>> answers = new ArrayList<>();
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
            answers.add(producer.send(new ProducerRecord<>(
                    "history", partition, key, deletes ? null : "{\"n\":%d}".formatted(n))));
        }
        return answers;
    }

    /** What a row counts and how far it is are of one write. */
    private void isConsistent(Store store, String as) {
        for (int partition = 0; partition < PARTITIONS; partition++) {
            assertThat(records(store, partition))
                    .as("%s partition %d", as, partition)
                    .isEqualTo(offset(store, partition))
                    .isLessThanOrEqualTo(sent[partition]);
        }
    }

    private boolean isRead(Store store) {
        for (int partition = 0; partition < PARTITIONS; partition++) {
            if (offset(store, partition) < sent[partition]) {
                return false;
            }
        }
        return true;
    }

    private @Nullable Map<String, @Nullable Object> row(Store store, int partition) {
        Dataset rows = store.findDataset("_feeds");
        return rows == null ? null : rows.get("D/g", "history/%s/%d".formatted(topicId, partition));
    }

    private long records(Store store, int partition) {
        var row = row(store, partition);
        return row == null ? 0 : (Long) Objects.requireNonNull(row.get("records"));
    }

    private long offset(Store store, int partition) {
        var row = row(store, partition);
        return row == null
                ? 0
                : ByteBuffer.wrap((byte[]) Objects.requireNonNull(row.get("position")))
                        .getLong();
    }

    private void finish(SimDisk disk, String as) throws Exception {
        try (Store store = open(disk);
                FeedManager feeds = FeedManager.open(store)) {
            isConsistent(store, as);
            start(feeds);
            long deadline = System.nanoTime() + LONG_NANOS;
            while (!isRead(store)) {
                assertThat(System.nanoTime() - deadline)
                        .as("%s: %s", as, feeds.list())
                        .isNegative();
                TimeUnit.MILLISECONDS.sleep(2);
            }
            isConsistent(store, as);
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
