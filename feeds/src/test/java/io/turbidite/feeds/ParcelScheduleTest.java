package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.flow.DiscardPolicy;
import io.turbidite.feeds.flow.RecordPolicy;
import io.turbidite.feeds.flow.SpillPlace;
import io.turbidite.feeds.flow.WorkerPolicy;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.Rejection;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.source.parcel.HttpKind;
import io.turbidite.feeds.source.parcel.ParcelSource;
import io.turbidite.feeds.store.FeedDelivery;
import io.turbidite.feeds.store.FeedDelivery.Operation;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Clients that always have more waiting, whose partitions move between workers that come and go all
 * the time, in the middle of their parcels; on a machine that loses its power at any operation of
 * the disk. What was acknowledged is there, and a producer's records once. Without a power cut or a
 * stop so are those of clients without a name. The mode is insert: what is applied twice is a dead
 * letter more.
 */
class ParcelScheduleTest {
    private static final RecordType TYPE =
            RecordType.builder().field("id", "int64").field("name", "string").build();

    /** A run has asked some thousand times. */
    private static final int ASKED_MAX = 300_000;

    private final Map<String, Integer> met = new TreeMap<>();

    private static final RecordType KEY = FeedDelivery.keyType(TYPE, List.of("id"));

    /** What leaves records out. */
    private enum Leaves {
        NONE,
        /** So many of a hundred, by chance. */
        CHANCE,
        /** So many of a hundred at most, while the store is behind. */
        DISCARD,
        /** What is more than so many a second. */
        THROTTLE
    }

    /** Half of them none. */
    private static final List<Leaves> LEAVES = List.of(
            Leaves.NONE, Leaves.NONE, Leaves.NONE, Leaves.CHANCE, Leaves.DISCARD, Leaves.THROTTLE);

    /** How a feed is in one schedule. */
    private record Shape(
            boolean spills, Leaves leaves, int amount, int stepMicros, int busyPercent) {
        static Shape of(SplittableRandom random) {
            boolean spills = random.nextInt(4) == 0;
            Leaves leaves = LEAVES.get(random.nextInt(LEAVES.size()));
            boolean isThrottled = leaves == Leaves.THROTTLE;
            int amount = isThrottled
                    ? (int) (30 * Math.exp(random.nextDouble() * 5)) // to 4,400 a second
                    : random.nextInt(1, 40);
            return new Shape(
                    spills,
                    leaves,
                    amount,
                    isThrottled ? 300 << random.nextInt(10) : 300,
                    spills || leaves == Leaves.DISCARD ? random.nextInt(98) : 0);
        }

        /** Whether a record may be left out before anybody knows that it is none. */
        boolean leavesBad() {
            return leaves == Leaves.CHANCE || leaves == Leaves.DISCARD;
        }
    }

    /** What the workers of one run leave out. */
    private record Leaving(Supplier<RecordPolicy> policies, LongSupplier count) {
        static Leaving of(
                Shape shape,
                Dataset dataset,
                SimClock clock,
                SplittableRandom random,
                ParcelClients clients,
                Map<String, Integer> met) {
            return switch (shape.leaves) {
                case NONE -> new Leaving(() -> RecordPolicy.TAKES_ALL, () -> 0);
                case CHANCE -> {
                    int[] dropped = {0};
                    RecordPolicy ofAll = new RecordPolicy() {
                        @Override
                        public boolean takesNext(boolean isBehind) {
                            boolean drops = random.nextInt(100) < shape.amount;
                            dropped[0] += drops ? 1 : 0;
                            return !drops;
                        }
                    };
                    yield new Leaving(() -> ofAll, () -> dropped[0]);
                }
                case DISCARD -> {
                    DiscardPolicy ofAll =
                            new DiscardPolicy(shape.amount / 100.0, random.nextInt(2, 20));
                    yield new Leaving(() -> ofAll, ofAll::droppedCount);
                }
                case THROTTLE -> {
                    WatchedThrottle ofAll =
                            new WatchedThrottle(dataset, shape.amount, clock, clients.decided);
                    yield new Leaving(ofAll::ofWorker, () -> {
                        met.merge(ofAll.windows > 1 ? "windows" : "one window", 1, Integer::sum);
                        return ofAll.droppedCount();
                    });
                }
            };
        }
    }

    /** A source that looks where its partitions are opened anew. */
    private final class WatchedSource implements FeedSource {
        private final ParcelSource source =
                (ParcelSource) new HttpKind().open(Map.of(), Path.of("."));
        private final ParcelClients clients;
        private final Map<String, Long> givenTo = new HashMap<>();

        WatchedSource(ParcelClients clients) {
            this.clients = clients;
        }

        @Override
        public PartitionReader open(
                String partition, @Nullable PartitionState taken, SourceHost host) {
            long position = taken == null ? 0 : taken.position().number();
            Long given = givenTo.get(partition);
            if (given != null) {
                assertThat(position).as("delivered before it moved").isEqualTo(given);
                boolean isPlain = partition.equals("plain");
                boolean isWithin = !isPlain
                        && clients.clients
                                .get(Integer.parseInt(partition.substring("t/p".length())))
                                .isWithin(position);
                String what = isPlain ? "plain moved" : isWithin ? "moved within" : "moved";
                met.merge(what, 1, Integer::sum);
            }
            PartitionReader reader = source.open(partition, taken, host);
            return new WatchedReader(reader, partition, givenTo);
        }

        @Override
        public void begin(Supplier<Map<String, PartitionState>> taken, SourceHost host) {
            source.begin(taken, host);
        }

        @Override
        public List<String> partitions() {
            return source.partitions();
        }

        @Override
        public boolean canGoBack() {
            return source.canGoBack();
        }

        @Override
        public boolean isEndless() {
            return source.isEndless();
        }

        @Override
        public boolean hasNews() {
            return source.hasNews();
        }

        @Override
        public void durable(String partition, SourcePosition position) {
            source.durable(partition, position);
        }

        @Override
        public void rejected(String partition, Rejection rejection) {
            source.rejected(partition, rejection);
        }

        @Override
        public void dropped(String partition, long place) {
            source.dropped(partition, place);
        }

        @Override
        public void failed() {
            source.failed();
        }

        @Override
        public void close() {
            source.close();
        }
    }

    private record WatchedReader(
            PartitionReader reader, String partition, Map<String, Long> givenTo)
            implements PartitionReader {
        @Override
        public Step next() {
            return reader.next();
        }

        /** Some of a producer's records are deletes here, as messages may be. */
        @Override
        public RecordFrame frame() {
            RecordFrame frame = reader.frame();
            int number = (int) frame.offset();
            if (partition.equals("plain") || !ParcelClients.isDelete(number)) {
                return frame;
            }
            String key = "{\"id\":%d}".formatted(ParcelClients.doomedId(client(), number));
            return RecordFrame.ofDelete(key.getBytes(StandardCharsets.UTF_8), number, 1);
        }

        private int client() {
            return Integer.parseInt(partition.substring("t/p".length()));
        }

        @Override
        public SourcePosition position() {
            return reader.position();
        }

        @Override
        public boolean isBetween() {
            return reader.isBetween();
        }

        @Override
        public void close() {
            givenTo.put(partition, reader.position().number());
            reader.close();
        }
    }

    private static StoreOptions options() {
        LogOptions log = LogOptions.defaults().withSegmentBytes(2 << 20, 16, 1 << 10, 1 << 20);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(2 << 20)
                .withCacheBytes(2 << 20)
                .withLog(4 << 20, log.withDurability(Durability.SYNC));
    }

    /** With the records that will be deleted. */
    private static Dataset dataset(Store store, int producers) {
        Dataset there = store.findDataset("D");
        if (there != null) {
            return there;
        }
        Dataset made = store.createDataset(DatasetSpec.named("D")
                .field("id", "int64")
                .field("name", "string")
                .primaryKey("id"));
        JsonRecordParser parser = new JsonRecordParser(TYPE, true, List.of());
        WriteBatch batch = store.newBatch();
        for (int client = 0; client < producers; client++) {
            for (int number = 1; number <= ParcelClients.RECORDS; number++) {
                if (ParcelClients.isDelete(number)) {
                    String text = "{\"id\":%d,\"name\":\"doomed\"}"
                            .formatted(ParcelClients.doomedId(client, number));
                    batch.insert(
                            made,
                            parser.parse(
                                    RecordFrame.of(text.getBytes(StandardCharsets.UTF_8), 0, 1)));
                }
            }
        }
        store.write(batch);
        return made;
    }

    /** Runs once, until the clients have heard all or {@code stopsAfter} looks; how many it left
     * out. */
    private long run(
            SimDisk disk,
            long seed,
            Shape shape,
            SplittableRandom random,
            ParcelClients clients,
            int stopsAfter,
            String as) {
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(seed, clock);
        int[] asked = {0};
        SplittableRandom drops = random.split();
        SplittableRandom busy = random.split();
        WorkerPolicy workers = shape.spills
                ? WorkerPolicy.fixed(1)
                : random.nextInt(4) == 0 ? WorkerPolicy.fixed(3) : new ErraticPolicy(random);
        try (Store store = Store.open(disk, tasks, clock, options());
                FeedDelivery delivery = FeedDelivery.into(
                        store, dataset(store, clients.producers()), "f", Operation.INSERT)) {
            Leaving leaving = Leaving.of(shape, store.dataset("D"), clock, drops, clients, met);
            WatchedSource source = new WatchedSource(clients);
            clients.begin(source.source);
            FeedRun run = new FeedRun(
                    new FeedRun.Parts(
                            "f",
                            source,
                            () -> new ParseTools(
                                    new JsonRecordParser(TYPE, true, List.of()),
                                    new JsonRecordParser(KEY, false, List.of()),
                                    null,
                                    leaving.policies.get()),
                            workers,
                            ',',
                            new OneWrite(delivery, () -> busy.nextInt(100) < shape.busyPercent),
                            tasks,
                            clock,
                            store.events(),
                            shape.spills
                                    ? new SpillPlace(
                                            disk, "feed-spill/f", "", true, 77, 1 << 22, 1 << 16, 0)
                                    : null),
                    FeedProgress.none(),
                    () -> {
                        assertThat(++asked[0]).as("%s comes to its end", as).isLessThan(ASKED_MAX);
                        return asked[0] > stopsAfter || clients.areDone();
                    });
            try (source;
                    Tasks.Worker _ = tasks.start(
                            "clients", () -> shape.stepMicros, () -> clients.step(as))) {
                assertThat(run.run()).as(as).isFalse();
            }
            clients.clients.forEach(client -> clients.hear(client, as));
            met.merge(run.spilled() > 0 ? "spilled" : "not spilled", 1, Integer::sum);
            if (!shape.spills) { // else some may wait for the next run
                assertThat(run.dropped()).as(as).isEqualTo(leaving.count.getAsLong());
            }
            if (run.dropped() > 0) {
                met.merge("left out by " + shape.leaves, 1, Integer::sum);
            }
            return run.dropped();
        }
    }

    @Test
    void what_is_acknowledged_is_there_once_whichever_worker_reads_which_part_of_it() {
        long first = Seeds.of("ParcelScheduleTest");
        int schedules = Tier.count(14, 300, 10_000);
        for (int schedule = 0; schedule < schedules; schedule++) {
            play(
                    first + schedule,
                    "%s schedule %d"
                            .formatted(Seeds.replay("ParcelScheduleTest", first), schedule));
        }
        assertThat(met.keySet()).contains("power cut", "moved within", "undisturbed");
        if (Tier.current() != Tier.QUICK) { // too few for each
            assertThat(met.keySet())
                    .contains(
                            "stopped",
                            "moved",
                            "plain moved",
                            "spilled",
                            "left out by CHANCE",
                            "left out by DISCARD",
                            "left out by THROTTLE",
                            "windows");
        }
    }

    private void play(long seed, String as) {
        SplittableRandom random = new SplittableRandom(seed);
        Shape shape = Shape.of(random);
        ParcelClients clients =
                new ParcelClients(random.nextInt(1, 4), 1_000 << random.nextInt(4), random.split());
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        int rounds = random.nextInt(3);
        boolean isDisturbed = false;
        for (int round = 0; round < rounds; round++) {
            int cutAt = random.nextInt(250);
            int[] step = {0};
            SimDisk[] image = new SimDisk[1];
            ParcelClients[] then = new ParcelClients[1];
            SimDisk running = disk;
            ParcelClients now = clients;
            disk.onOperation(operation -> {
                if (step[0]++ == cutAt) {
                    then[0] = now.copy();
                    image[0] = running.crashImage(random.nextLong());
                }
            });
            int stopsAfter = random.nextBoolean() ? random.nextInt(2_000) : ASKED_MAX;
            run(disk, seed + round, shape, random, clients, stopsAfter, as);
            disk.onOperation(operation -> {});
            if (image[0] != null) {
                disk = image[0];
                clients = then[0];
                isDisturbed = true;
                met.merge("power cut", 1, Integer::sum);
            } else if (!clients.areDone()) {
                isDisturbed = true;
                met.merge("stopped", 1, Integer::sum);
            }
        }
        long dropped = run(disk, seed, shape, random, clients, ASKED_MAX, as);
        if (rounds == 0) {
            assertThat(clients.droppedCount).as(as).isEqualTo(dropped);
            met.merge("undisturbed", 1, Integer::sum);
        }
        isComplete(disk, shape, clients, rounds > 0 && isDisturbed, as);
    }

    private static void isComplete(
            SimDisk disk, Shape shape, ParcelClients clients, boolean isDisturbed, String as) {
        SimClock clock = new SimClock();
        try (Store store = Store.open(disk, new SimTasks(9, clock), clock, options())) {
            Dataset dataset = store.dataset("D");
            long there = 0;
            int producers = clients.clients.size() - 1;
            for (int c = 0; c <= producers; c++) {
                boolean isPlain = c == producers;
                int resent = clients.clients.get(c).resentCount;
                long ofClient = 0;
                for (int number = 1; number <= ParcelClients.RECORDS; number++) {
                    String which = "%s record %d of %d".formatted(as, number, c);
                    boolean isThere = dataset.get(ParcelClients.id(c, number)) != null;
                    ofClient += isThere ? 1 : 0;
                    if (!isPlain && ParcelClients.isDelete(number)) {
                        ofClient++;
                        assertThat(dataset.get(ParcelClients.doomedId(c, number)))
                                .as("%s: no policy leaves a delete out", which)
                                .isNull();
                        assertThat(isThere).as(which).isFalse();
                    } else if (ParcelClients.isBad(number)) {
                        assertThat(isThere).as(which).isFalse();
                    } else if (shape.leaves == Leaves.NONE) {
                        assertThat(isThere).as(which).isTrue();
                    } else if (shape.leaves == Leaves.THROTTLE) {
                        // what was taken is there; the rest too if it came again, without a number
                        boolean isTaken = Objects.requireNonNull(
                                clients.decided.get(ParcelClients.id(c, number)), which);
                        assertThat(isThere)
                                .as(which)
                                .isEqualTo(isTaken || (isThere && isPlain && resent > 0));
                    }
                }
                there += ofClient;
                Map<String, @Nullable Object> row = Objects.requireNonNull(
                        store.dataset("_feeds").get("f", isPlain ? "plain" : "t/p" + c), as);
                assertThat(row.get("records")).as(as).isEqualTo(ofClient);
                if (!isPlain || !isDisturbed) {
                    assertThat(row.get("position"))
                            .as(as)
                            .isEqualTo(SourcePosition.of(ParcelClients.RECORDS).toByteArray());
                }
                if (!shape.leavesBad()) {
                    long rejected = (long) Objects.requireNonNull(row.get("rejected"));
                    int bad = ParcelClients.bad(1, ParcelClients.RECORDS);
                    assertThat(rejected)
                            .as("%s: applied twice, of %d", as, c)
                            .isBetween((long) bad, (long) bad + (isPlain ? resent : 0));
                }
            }
            if (!isDisturbed) {
                assertThat(there).as(as).isEqualTo(clients.acceptedCount);
            }
            assertThat(store.verify().errors()).as(as).isEmpty();
        }
    }
}
