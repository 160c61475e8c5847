package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogScan;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.psf.PsfDefinition;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Random operations against a log and against a list of records: whatever is asked, by chain, run,
 * scan or several workers, over any range, the log must show what the list has.
 */
class LogModelTest {
    private static final long SEED = Seeds.of("LogModelTest");
    private static final int HISTORY_COUNT = Tier.count(3, 8, 400);
    private static final int STEP_COUNT = 120;

    /** A record as the model knows it. */
    private record Event(String session, int n, int type, String half) {
        String text() {
            return "{\"w\":\"%s\",\"n\":%d,\"kind\":{\"type\":\"t\\u0030%d\"},\"half\":%s,\"x\":\"%s\"}"
                    .formatted(session, n, type, half, "x".repeat(n * 37 % 400));
        }
    }

    /**
     * A PSF: its definition, and the value that it gives an event, as users write it; null for
     * none.
     */
    private record Wanted(String definition, Function<Event, String> value) {}

    private static final Map<String, Wanted> PSFS = Map.of(
            "type", new Wanted("field(kind.type)", e -> "t0" + e.type),
            "number", new Wanted("field(n)", e -> Integer.toString(e.n)),
            "session", new Wanted("field(w)", e -> e.session),
            "half", new Wanted("field(half)", e -> e.half),
            "even",
                    new Wanted(
                            "where(n < 400 && w == \"a\")",
                            e -> e.n < 400 && e.session.equals("a") ? "true" : ""),
            "bucket", new Wanted("bucket(n, 50)", e -> Integer.toString(e.n / 50 * 50)),
            "prefix", new Wanted("prefix(kind.type, 1)", e -> "t"));

    private static final Map<String, Predicate<Event>> EXPRESSIONS = Map.of(
            "n >= 100", e -> e.n >= 100,
            "kind.type == \"t01\" || w == \"b\"", e -> e.type == 1 || e.session.equals("b"),
            "!(half > 10.25)", e -> Double.parseDouble(e.half) <= 10.25,
            "w ^= \"a\" && n in (1, 2, 3, 50, 51)",
                    e -> e.session.equals("a") && Set.of(1, 2, 3, 50, 51).contains(e.n));

    private final TreeMap<Long, Event> model = new TreeMap<>();
    private final Set<String> registered = new TreeSet<>();
    private final Set<String> known = new TreeSet<>();

    @Test
    void a_log_shows_what_a_list_of_its_records_has() {
        for (int history = 0; history < HISTORY_COUNT; history++) {
            long seed = Seeds.mix(SEED, history);
            try {
                new LogModelTest().run(seed);
            } catch (RuntimeException | Error e) {
                throw new AssertionError(
                        "history %d, seed %d; %s"
                                .formatted(history, seed, Seeds.replay("LogModelTest", SEED)),
                        e);
            }
        }
    }

    private void run(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        SimDisk disk = LogBench.disk(seed);
        HashLogOptions options = LogBench.options().withTable(6, 16 << 20).withCheckpoints(100_000);
        LogBench bench = LogBench.simulated(seed, disk, options);
        try {
            for (int step = 0; step < STEP_COUNT; step++) {
                switch (random.nextInt(22)) {
                    case 0, 1 -> register(bench.log, random);
                    case 2 -> deregister(bench.log, random);
                    case 3, 4 -> delete(bench.log, random);
                    case 5 -> truncate(bench.log, random);
                    case 6 -> bench.log.checkpoint();
                    case 7 -> indexHistory(bench.log, random);
                    case 8 -> {
                        bench.log.awaitDurable();
                        boolean crash = random.nextBoolean();
                        SimDisk left = crash ? disk.crashImage(random.nextLong()) : disk;
                        bench.close();
                        disk = left;
                        bench = LogBench.reopened(seed + step, disk, options);
                    }
                    case 9, 10, 11, 12, 13 -> ask(bench.log, random);
                    case 14 -> follow(bench.log, random);
                    default -> ingest(bench.log, random, step);
                }
            }
            for (int i = 0; i < 20; i++) {
                ask(bench.log, random);
            }
        } finally {
            bench.close();
        }
    }

    // ---- changes
    // ---------------------------------------------------------------------------------

    private void ingest(HashLog log, SplittableRandom random, int step) {
        long from = log.log().safeTail();
        String name = random.nextBoolean() ? "a" : "b";
        List<Event> events = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        int refused = 0;
        for (int i = random.nextInt(60); i >= 0; i--) {
            Event event = new Event(
                    name,
                    random.nextInt(600),
                    random.nextInt(3),
                    String.format(Locale.ROOT, "%d.5", random.nextInt(20)));
            events.add(event);
            text.append(event.text()).append('\n');
            if (registered.contains("session") && random.nextInt(20) == 0) {
                text.append("{\"w\":!}\n");
                refused++;
            }
        }
        try (IngestSession session = log.openSession(name + step)) {
            MemorySegment batch = LogBench.segment(text.toString());
            session.ingest(batch, 0, batch.byteSize());
            assertThat(session.acceptedCount()).isEqualTo(events.size());
            assertThat(session.serial()).isEqualTo(events.size() + session.rejectedCount());
            assertThat(session.rejectedCount()).isEqualTo(refused);
        }
        List<String> taken = new ArrayList<>();
        List<Long> addresses = new ArrayList<>();
        try (LogReader reader = log.openReader("model")) {
            reader.protect();
            LogScan scan = new LogScan(reader);
            scan.start(from, Long.MAX_VALUE);
            while (scan.next()) {
                if (RecordHeader.kind(scan.header()) == RecordHeader.RECORD) {
                    addresses.add(scan.address());
                    taken.add(text(
                            scan.segment(),
                            scan.offset() + RecordHeader.payloadOffset(scan.header()),
                            RecordHeader.payloadBytes(scan.header())));
                }
            }
        }
        assertThat(taken).isEqualTo(events.stream().map(Event::text).toList());
        for (int i = 0; i < events.size(); i++) {
            model.put(addresses.get(i), events.get(i));
        }
    }

    private void register(HashLog log, SplittableRandom random) {
        String name = pick(PSFS.keySet(), random);
        if (registered.add(name)) {
            known.add(name);
            log.register(name, PsfDefinition.parse(psf(name).definition), 1 << random.nextInt(3));
        }
    }

    private void deregister(HashLog log, SplittableRandom random) {
        if (!registered.isEmpty()) {
            String name = pick(registered, random);
            registered.remove(name);
            log.psfs().stream()
                    .filter(psf -> psf.active() && psf.name().equals(name))
                    .toList()
                    .forEach(psf -> log.deregister(psf.id()));
        }
    }

    private void delete(HashLog log, SplittableRandom random) {
        for (int i = random.nextInt(8); i > 0 && !model.isEmpty(); i--) {
            long address = pick(model.keySet(), random);
            assertThat(log.delete(address)).isTrue();
            assertThat(log.delete(address)).isFalse();
            model.remove(address);
        }
    }

    private void truncate(HashLog log, SplittableRandom random) {
        if (model.size() > 50 && random.nextInt(3) == 0) {
            log.awaitDurable();
            long address = List.copyOf(model.keySet()).get(random.nextInt(model.size() / 2));
            log.truncate(address);
            model.headMap(address).clear();
        }
    }

    private void indexHistory(HashLog log, SplittableRandom random) {
        if (!registered.isEmpty()) {
            try (HistoryIndexing indexing = log.history()
                    .index(
                            log,
                            pick(registered, random),
                            new HistoryIndexing.Bounds(64 << 10, 1_000))) {
                indexing.await();
            }
        }
    }

    // ---- questions
    // -------------------------------------------------------------------------------

    private void ask(HashLog log, SplittableRandom random) {
        LogQuery query = LogQuery.all();
        BiPredicate<Long, Event> wanted = (address, event) -> true;
        if (!known.isEmpty() && random.nextInt(5) > 0) {
            String psf = pick(known, random);
            String value = valueOf(psf, random);
            query = LogQuery.property(psf, value);
            Function<Event, String> of = psf(psf).value;
            wanted = (address, event) -> of.apply(event).equals(value);
        }
        if (random.nextInt(3) == 0) {
            String expression = pick(EXPRESSIONS.keySet(), random);
            query = query.where(expression);
            Predicate<Event> holds = Objects.requireNonNull(EXPRESSIONS.get(expression));
            wanted = wanted.and((address, event) -> holds.test(event));
        }
        if (random.nextInt(3) == 0 && !model.isEmpty()) {
            long one = pick(model.keySet(), random);
            long other = pick(model.keySet(), random);
            long from = Math.min(one, other);
            long to = Math.max(one, other);
            query = query.between(from, to);
            wanted = wanted.and((address, event) -> address >= from && address < to);
        }
        List<Long> expected = new ArrayList<>();
        for (Map.Entry<Long, Event> entry : model.descendingMap().entrySet()) {
            if (wanted.test(entry.getKey(), entry.getValue())) {
                expected.add(entry.getKey());
            }
        }
        check(log, query, expected);
        check(log, query.byScan(), expected);
        int limit = random.nextInt(expected.size() + 2);
        check(log, query.limit(limit), expected.subList(0, Math.min(limit, expected.size())));
        Set<Long> together = new ConcurrentSkipListSet<>();
        log.findInParallel(
                query, 2, () -> (address, segment, offset, length) -> together.add(address));
        assertThat(together).as("%s by two workers", query).isEqualTo(new HashSet<>(expected));
    }

    private void check(HashLog log, LogQuery query, List<Long> expected) {
        List<Long> found = new ArrayList<>();
        try (LogCursor cursor = log.find(query)) {
            while (cursor.next()) {
                String text = text(cursor.segment(), cursor.offset(), cursor.length());
                Event event = model.get(cursor.address());
                assertThat(text).isEqualTo(event == null ? "no record of ours" : event.text());
                found.add(cursor.address());
            }
            assertThat(found).as("%s, read as %s", query, cursor.parts()).isEqualTo(expected);
        }
    }

    /** A subscription from some record on hands over the rest, oldest first. */
    private void follow(HashLog log, SplittableRandom random) {
        if (known.isEmpty() || model.isEmpty()) {
            return;
        }
        String psf = pick(known, random);
        String value = valueOf(psf, random);
        long from = pick(model.keySet(), random);
        List<Long> expected = new ArrayList<>();
        model.tailMap(from).forEach((address, event) -> {
            if (psf(psf).value.apply(event).equals(value)) {
                expected.add(address);
            }
        });
        List<Long> found = new ArrayList<>();
        LogQuery query = LogQuery.property(psf, value).between(from, Long.MAX_VALUE);
        try (LogSubscription subscription = log.subscribe(query, false)) {
            while (subscription.backlogBytes() > 0) {
                subscription.poll((address, segment, offset, length) -> found.add(address), 7);
            }
        }
        assertThat(found).as("%s", query).isEqualTo(expected);
    }

    private static Wanted psf(String name) {
        return Objects.requireNonNull(PSFS.get(name));
    }

    private static String valueOf(String psf, SplittableRandom random) {
        return switch (psf) {
            case "type" -> "t0" + random.nextInt(4);
            case "number" -> Integer.toString(random.nextInt(600));
            case "session" -> random.nextBoolean() ? "a" : "b";
            case "half" -> String.format(Locale.ROOT, "%d.5", random.nextInt(20));
            case "even" -> "true";
            case "bucket" -> Integer.toString(random.nextInt(12) * 50);
            default -> "t";
        };
    }

    private static <T extends Comparable<T>> T pick(Set<T> from, SplittableRandom random) {
        return from.stream()
                .sorted(Comparator.naturalOrder())
                .toList()
                .get(random.nextInt(from.size()));
    }

    private static String text(MemorySegment segment, long offset, int length) {
        return new String(
                segment.asSlice(offset, length).toArray(Bytes.U8), StandardCharsets.UTF_8);
    }
}
