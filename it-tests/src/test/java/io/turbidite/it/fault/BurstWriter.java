package io.turbidite.it.fault;

import io.turbidite.core.file.RealDisk;
import io.turbidite.core.log.Durability;
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

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The process of {@link BurstTest}: sends numbered records of four KiB to a feed, ten times as many
 * a second as the store takes of one parse worker, as soon as they are due and the feed has room;
 * tells what came of it, a name and a figure a line; then it is gone at once.
 */
final class BurstWriter {
    /** Of a batch: they fill its 256 KiB. */
    static final int BATCH_RECORDS = 64;

    private static final long SYNC_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** What the store takes a second of one parse worker, in batches of one sync. */
    static final int STORE_RATE = BATCH_RECORDS * 10;

    private static final int BURST_RATE = 10 * STORE_RATE;
    static final int PARCEL_RECORDS = 32;
    private static final byte[] REST = ("," + "\"text\":\"" + "some words, ".repeat(345) + "\"}\n")
            .getBytes(StandardCharsets.ISO_8859_1);

    /** Each is a partition; of one there is nothing that another parse worker could take. */
    private static final int PRODUCERS = 4;

    private final FeedManager feeds;
    private final Store store;
    private final AtomicLong syncs;
    private final ArrayDeque<Ticket> onWay = new ArrayDeque<>();

    /** The next number of each producer; empty of clients without a name. */
    private final long[] numbers;

    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private long sent;
    private long refused;
    private long accepted;
    private long dropped;
    private long onWayMax;
    private long usedMax;
    private long budget;
    private long workersMax;
    private long millis;

    private BurstWriter(FeedManager feeds, Store store, AtomicLong syncs, int producers) {
        this.feeds = feeds;
        this.store = store;
        this.syncs = syncs;
        this.numbers = new long[producers];
        Arrays.fill(numbers, 1);
    }

    static StoreOptions options() {
        return StoreOptions.defaults()
                .withWriteMemoryBytes(32 << 20)
                .withCacheBytes(16 << 20)
                .withDurability(Durability.SYNC);
    }

    static String definition(String policy) {
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

    /**
     * The burst.
     *
     * @param arguments the store's directory, the feed's policy, the seconds of the burst, and how
     *     many times what the store can take is to be answered, however long it lasts then, up to
     *     ten times of it: on a busy machine nothing comes in the first seconds. 0: the feed has
     *     its senders wait for the store
     */
    public static void main(String[] arguments) {
        Path place = Path.of(arguments[0]);
        Clock clock = Clock.system();
        AtomicLong syncs = new AtomicLong();
        Store store = Store.open(
                new SlowLogDisk(RealDisk.open(place), SYNC_NANOS, syncs),
                ThreadTasks.create("burst"),
                clock,
                options());
        FeedManager feeds = FeedManager.open(store);
        feeds.startOrChange(definition(arguments[1]), place);
        while (feeds.status("burst").state() == FeedState.STARTING) {
            LockSupport.parkNanos(1_000_000);
        }
        syncs.set(0);
        BurstWriter writer = new BurstWriter(
                feeds, store, syncs, arguments[1].contains("elastic") ? PRODUCERS : 0);
        writer.burst(
                clock,
                TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[2])),
                Integer.parseInt(arguments[3]));
        writer.tell();
        Runtime.getRuntime().halt(0);
    }

    private void burst(Clock clock, long nanos, int timesAnswered) {
        long start = clock.monotonicNanos();
        long lookAt = 0;
        while (true) {
            long now = clock.monotonicNanos() - start;
            hear();
            long least = timesAnswered * syncs.get() * BATCH_RECORDS;
            millis = TimeUnit.NANOSECONDS.toMillis(now);
            if (now >= nanos && (accepted + dropped > least || now >= 10 * nanos)) {
                break;
            }
            long due = (long) (now / 1e9 * BURST_RATE);
            while (due - sent >= PARCEL_RECORDS && send()) {
                hear();
            }
            if (now >= lookAt) {
                lookAt = now + TimeUnit.MILLISECONDS.toNanos(10);
                look();
            }
            LockSupport.parkNanos(500_000);
        }
        // who answers without the store answers the rest too; before the others the process ends
        while (timesAnswered > 0 && !onWay.isEmpty()) {
            hear();
            LockSupport.parkNanos(500_000);
        }
    }

    private boolean send() {
        int of = numbers.length == 0 ? -1 : (int) (sent / PARCEL_RECORDS % numbers.length);
        Parcel parcel = parcel();
        Ticket ticket =
                feeds.offer("burst", of < 0 ? parcel : parcel.from("burst", "p" + of, numbers[of]));
        if (ticket.isSettled() && ticket.receipt() instanceof Receipt.Full) {
            refused++;
            return false;
        }
        sent += PARCEL_RECORDS;
        if (of >= 0) {
            numbers[of] += PARCEL_RECORDS;
        }
        onWay.add(ticket);
        return true;
    }

    /** In sequence: of several producers one may be told before another, which then waits here. */
    private void hear() {
        while (!onWay.isEmpty() && onWay.element().isSettled()) {
            if (!(onWay.remove().receipt() instanceof Receipt.Taken taken)
                    || taken.accepted() + taken.dropped() != PARCEL_RECORDS) {
                throw new IllegalStateException("a parcel was not taken whole");
            }
            accepted += taken.accepted();
            dropped += taken.dropped();
        }
    }

    private void look() {
        long used = figure("memory.used.bytes");
        budget = figure("memory.budget.bytes");
        if (used > budget) {
            throw new IllegalStateException("%d bytes of %d are used".formatted(used, budget));
        }
        usedMax = Math.max(usedMax, used);
        onWayMax = Math.max(
                onWayMax, onWay.stream().filter(one -> !one.isSettled()).count());
        workersMax = Math.max(workersMax, feeds.status("burst").workers());
    }

    private long figure(String name) {
        return store.meters().instruments().stream()
                .filter(one -> one.name().equals(name))
                .mapToLong(one -> ((Reading) one).value())
                .sum();
    }

    private void tell() {
        hear();
        tell("millis", millis);
        tell("syncs", syncs.get());
        FeedStatus status = counted();
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        tell("heap", runtime.totalMemory() - runtime.freeMemory());
        tell("sent", sent);
        tell("refused", refused);
        tell("accepted", accepted);
        tell("dropped", dropped);
        tell("onWayMax", onWayMax);
        tell("usedMax", usedMax);
        tell("budget", budget);
        tell("workersMax", workersMax);
        tell("feed.records", status.records());
        tell("feed.dropped", status.dropped());
        System.out.flush();
    }

    /** A batch is counted just behind the answers of its records. */
    private FeedStatus counted() {
        for (int i = 0; i < 1_000; i++) {
            FeedStatus status = feeds.status("burst");
            if (status.records() + status.spilled() >= accepted && status.dropped() >= dropped) {
                return status;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
        throw new IllegalStateException("what was answered is not counted");
    }

    private static void tell(String name, long figure) {
        System.out.println(name + " " + figure);
    }

    private Parcel parcel() {
        body.reset();
        for (long id = sent; id < sent + PARCEL_RECORDS; id++) {
            body.writeBytes(("{\"id\":" + id).getBytes(StandardCharsets.ISO_8859_1));
            body.writeBytes(REST);
        }
        return Parcel.of(body.toByteArray());
    }
}
