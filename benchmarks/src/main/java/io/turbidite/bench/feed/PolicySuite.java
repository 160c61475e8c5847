package io.turbidite.bench.feed;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.report.Curves;
import io.turbidite.bench.report.Report;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.ForwardingDisk;
import io.turbidite.core.file.ForwardingFile;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.manage.FeedStatus;
import io.turbidite.feeds.source.parcel.Parcel;
import io.turbidite.feeds.source.parcel.Receipt;
import io.turbidite.feeds.source.parcel.Ticket;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What each policy of a feed makes of the same burst: clients hand records in, for a while at half
 * of what the store takes and then at ten times of it, and not at all behind that. The store's log
 * is made slow: each sync takes a while, so the store takes a batch of 512 records in that time,
 * on every machine.
 *
 * <p>Where the feed takes no more, the sender waits, and sends later what it could not.
 */
public final class PolicySuite {
    private static final long SYNC_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int STORE_RATE = 5_120;
    private static final int BURST_RATE = 10 * STORE_RATE;
    private static final int CALM_RATE = STORE_RATE / 2;
    private static final long CALM_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final int PARCEL_RECORDS = 256;

    private static final String ELASTIC = "elastic";

    /** Each is a partition: of one there is nothing to share out. */
    private static final int ELASTIC_PRODUCERS = 4;

    private static final long SAMPLE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** By then what was answered is counted. */
    private static final long COUNTED_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final double NANOS_PER_SECOND = 1e9;
    private static final double MIB = 1 << 20;

    private final int burstSeconds;
    private final int secondsMax;
    private final Path directory;

    /**
     * @param burstSeconds how long the burst lasts
     * @param secondsMax how long each policy is watched at most
     * @param directory for stores; emptied
     */
    public PolicySuite(int burstSeconds, int secondsMax, Path directory) {
        this.burstSeconds = burstSeconds;
        this.secondsMax = secondsMax;
        this.directory = directory;
    }

    /** Runs the policies one after the other. */
    public List<Curves> run() throws IOException {
        Map<String, String> policies = new LinkedHashMap<>();
        policies.put("basic", "{ kind: basic }");
        policies.put("spill", "{ kind: spill, bytesMax: 1GiB }");
        policies.put("discard", "{ kind: discard, percentMax: 80 }");
        policies.put("throttle", "{ kind: throttle, recordsPerSecond: %d }".formatted(STORE_RATE));
        policies.put(ELASTIC, "{ kind: elastic, workersMax: %d }".formatted(ELASTIC_PRODUCERS));
        List<Curves> all = List.of(
                curves("Policies: records acknowledged to their senders", "records a second"),
                curves("Policies: records stored", "records a second"),
                curves("Policies: records dropped", "so far"),
                curves("Policies: records sent or due, and neither stored nor dropped", "records"),
                curves("Policies: spilled on disk", "MiB"),
                curves("Policies: memory of the store, off the heap", "MiB"),
                curves("Policies: heap in use", "MiB, garbage included"),
                curves("Policies: behind its senders", "seconds"));
        for (Map.Entry<String, String> policy : policies.entrySet()) {
            Path place = Scratch.empty(directory.resolve("policies"));
            run(place, policy.getKey(), policy.getValue(), all);
            Scratch.delete(place);
        }
        return all;
    }

    private Curves curves(String title, String y) {
        return new Curves(title, "seconds", y)
                .linear()
                .setting("machine", Report.machine())
                .setting(
                        "burst",
                        "%d records a second for %d s, then %d for %d s, then none; records of about 200 bytes"
                                .formatted(
                                        CALM_RATE,
                                        TimeUnit.NANOSECONDS.toSeconds(CALM_NANOS),
                                        BURST_RATE,
                                        burstSeconds))
                .setting(
                        ELASTIC,
                        "from %d producers, of which each is a partition; the others from clients without a name"
                                .formatted(ELASTIC_PRODUCERS))
                .setting(
                        "store",
                        "durability sync, each sync of its log slowed to %d ms: at most %d records a second of one parse worker"
                                .formatted(TimeUnit.NANOSECONDS.toMillis(SYNC_NANOS), STORE_RATE))
                .setting("figure", "one run; a point for each half second")
                .setting(
                        "memory",
                        "`memory.used.bytes`, of the store; the heap has what is in flight between sender and store")
                .setting(
                        "seconds behind",
                        "`feed.lag.seconds`, whole ones: how long ago the feed last had all that its source has")
                .setting(
                        "command",
                        "./turbidite bench policies --burst %d --watch %d"
                                .formatted(burstSeconds, secondsMax));
    }

    private void run(Path place, String name, String policy, List<Curves> all) {
        Clock clock = Clock.system();
        try (ThreadTasks tasks = ThreadTasks.create("policies");
                Store store = Store.open(
                        new SlowLogDisk(RealDisk.open(place)),
                        tasks,
                        clock,
                        StoreOptions.defaults().withDurability(Durability.SYNC));
                FeedManager feeds = FeedManager.open(store)) {
            feeds.startOrChange(definition(policy), place);
            while (feeds.status("burst").state() == FeedState.STARTING) {
                LockSupport.parkNanos(STEP_NANOS);
            }
            Sender sender = new Sender(
                    feeds, clock, burstSeconds, name.equals(ELASTIC) ? ELASTIC_PRODUCERS : 0);
            Watch watch = new Watch(feeds, store.meters(), sender, name, all);
            long end = clock.monotonicNanos() + TimeUnit.SECONDS.toNanos(secondsMax);
            while (clock.monotonicNanos() < end && !watch.isDone()) {
                sender.step();
                watch.look(clock.monotonicNanos());
                LockSupport.parkNanos(STEP_NANOS);
            }
            sender.giveUp();
            if (name.equals("basic")) {
                areThere(feeds, clock, sender.acknowledged());
            }
        }
    }

    /** A batch is counted just behind the answers of its records. */
    private static void areThere(FeedManager feeds, Clock clock, long acknowledged) {
        long end = clock.monotonicNanos() + COUNTED_NANOS;
        while (feeds.status("burst").records() < acknowledged) {
            if (clock.monotonicNanos() > end) {
                throw new IllegalStateException("%d records were acknowledged, %d are there"
                        .formatted(acknowledged, feeds.status("burst").records()));
            }
            LockSupport.parkNanos(STEP_NANOS);
        }
    }

    private static String definition(String policy) {
        return """
            feed: burst
            dataset:
              name: Burst
              type: { id: int64, text: string }
              primaryKey: id
            source: { kind: http }
            parser: { kind: json }
            policy: %s
            """.formatted(policy);
    }

    /** Hands parcels in as the clock says, or as soon after that as they are taken. */
    private static final class Sender {
        private static final int ON_WAY_MAX = 64;

        private final FeedManager feeds;
        private final Clock clock;
        private final long startNanos;
        private final long calmNanos = CALM_NANOS;
        private final long burstNanos;

        /** The next number of each producer; none of clients without a name. */
        private final long[] numbers;

        private final ArrayDeque<Ticket> onWay = new ArrayDeque<>();
        private long sent;
        private long acknowledged;

        Sender(FeedManager feeds, Clock clock, int burstSeconds, int producers) {
            this.feeds = feeds;
            this.clock = clock;
            this.startNanos = clock.monotonicNanos();
            this.numbers = new long[producers];
            Arrays.fill(numbers, 1);
            this.burstNanos = TimeUnit.SECONDS.toNanos(burstSeconds);
        }

        /** How many records were to be sent by now. */
        long due() {
            long nanos = clock.monotonicNanos() - startNanos;
            double calm = Math.min(nanos, calmNanos) / NANOS_PER_SECOND;
            double burst = Math.max(0, Math.min(nanos - calmNanos, burstNanos)) / NANOS_PER_SECOND;
            return (long) (calm * CALM_RATE + burst * BURST_RATE);
        }

        boolean isAtEnd() {
            return clock.monotonicNanos() - startNanos > calmNanos + burstNanos
                    && due() - sent < PARCEL_RECORDS
                    && onWay.isEmpty();
        }

        long acknowledged() {
            return acknowledged;
        }

        void step() {
            hear();
            while (due() - sent >= PARCEL_RECORDS && onWay.size() < ON_WAY_MAX) {
                int of = numbers.length == 0 ? -1 : (int) (sent / PARCEL_RECORDS % numbers.length);
                Parcel parcel = of < 0 ? parcel() : parcel().from("bench", "p" + of, numbers[of]);
                Ticket ticket = feeds.offer("burst", parcel);
                if (ticket.isSettled() && !(ticket.giveUp("") instanceof Receipt.Taken)) {
                    return; // it takes no more now
                }
                sent += PARCEL_RECORDS;
                if (of >= 0) {
                    numbers[of] += PARCEL_RECORDS;
                }
                onWay.add(ticket);
            }
        }

        private Parcel parcel() {
            StringBuilder text = new StringBuilder();
            for (long id = sent; id < sent + PARCEL_RECORDS; id++) {
                text.append("{\"id\":").append(id).append(",\"text\":\"");
                text.append("some words that fill a record, ".repeat(5)).append("\"}\n");
            }
            return Parcel.of(text.toString().getBytes(StandardCharsets.UTF_8));
        }

        private void hear() {
            while (!onWay.isEmpty() && onWay.element().isSettled()) {
                if (onWay.remove().giveUp("") instanceof Receipt.Taken taken) {
                    acknowledged += taken.accepted() + taken.rejected() + taken.dropped();
                }
            }
        }

        void giveUp() {
            hear();
            onWay.forEach(ticket -> ticket.giveUp("the watch is over"));
        }
    }

    /** Takes the points. */
    private static final class Watch {
        private final FeedManager feeds;
        private final Meters meters;
        private final Sender sender;
        private final String name;
        private final List<Curves> all;
        private long nextNanos;
        private long startNanos = -1;
        private long acknowledged;
        private long stored;
        private long behind;

        Watch(FeedManager feeds, Meters meters, Sender sender, String name, List<Curves> all) {
            this.feeds = feeds;
            this.meters = meters;
            this.sender = sender;
            this.name = name;
            this.all = all;
        }

        void look(long nowNanos) {
            if (startNanos < 0) {
                startNanos = nowNanos;
                nextNanos = nowNanos + SAMPLE_NANOS;
            }
            if (nowNanos < nextNanos) {
                return;
            }
            double seconds = Math.round(2 * (nowNanos - startNanos) / NANOS_PER_SECOND) / 2.0;
            double since = (nowNanos - nextNanos + SAMPLE_NANOS) / NANOS_PER_SECOND;
            nextNanos = nowNanos + SAMPLE_NANOS;
            FeedStatus status = feeds.status("burst");
            behind = Math.max(0, sender.due() - status.records() - status.dropped());
            add(0, seconds, (sender.acknowledged() - acknowledged) / since);
            add(1, seconds, (status.records() - stored) / since);
            add(2, seconds, (double) status.dropped());
            add(3, seconds, (double) behind);
            add(4, seconds, status.spillBytes() / MIB);
            add(5, seconds, reading("memory.used.bytes") / MIB);
            Runtime runtime = Runtime.getRuntime();
            add(6, seconds, (runtime.totalMemory() - runtime.freeMemory()) / MIB);
            add(7, seconds, (double) reading("feed.lag.seconds"));
            acknowledged = sender.acknowledged();
            stored = status.records();
        }

        /** Of the one instrument of that name: there is one feed. */
        private long reading(String name) {
            return meters.instruments().stream()
                    .filter(one -> one.name().equals(name))
                    .mapToLong(one -> ((Reading) one).value())
                    .findAny()
                    .orElseThrow(() -> new IllegalStateException("no figure " + name));
        }

        private void add(int curves, double at, double figure) {
            all.get(curves).add(name, at, figure);
        }

        boolean isDone() {
            return sender.isAtEnd() && behind < 2L * PARCEL_RECORDS;
        }
    }

    /** A disk whose syncs of the log take a while. */
    private record SlowLogDisk(Disk disk) implements ForwardingDisk {
        @Override
        public boolean mapsFiles() {
            return false;
        }

        @Override
        public DiskFile wrap(DiskFile file) {
            return file.name().startsWith("log/") ? new SlowFile(file) : file;
        }

        @Override
        public String description() {
            return disk.description();
        }
    }

    private record SlowFile(DiskFile file) implements ForwardingFile {
        @Override
        public void sync() {
            long end = System.nanoTime() + SYNC_NANOS;
            file.sync();
            while (System.nanoTime() < end) {
                LockSupport.parkNanos(end - System.nanoTime());
            }
        }
    }
}
