package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.hashlog.log.RecordHeader;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;

/** Addresses that callers give: any of them, also within a record whose bytes look like records. */
class AddressTest {
    private static final long SEED = Seeds.of("AddressTest");

    /**
     * A record that is JSON, and whose string holds words that are visible headers of short
     * records.
     */
    private static MemorySegment record(int n) {
        byte[] start = "{\"type\":\"t%d\",\"n\":%04d,\"x\":\"   "
                .formatted(n % 3, n)
                .getBytes(StandardCharsets.UTF_8);
        int words = (start.length + 7) / 8;
        MemorySegment bytes = MemorySegment.ofArray(new byte[words * 8 + 80 + 2]);
        bytes.fill((byte) ' ');
        MemorySegment.copy(start, 0, bytes, Bytes.U8, 0, start.length);
        for (int i = 0; i < 5; i++) {
            // "forged" as a record of eight bytes
            long at = words * 8L + 16L * i;
            bytes.set(Bytes.I64, at, RecordHeader.of(8, 0, 0) | RecordHeader.VISIBLE);
            bytes.set(Bytes.I64, at + 8, 0x6465_6772_6F66_2020L);
        }
        bytes.set(Bytes.U8, bytes.byteSize() - 2, (byte) '"');
        bytes.set(Bytes.U8, bytes.byteSize() - 1, (byte) '}');
        return bytes;
    }

    private static RecordSink into(List<Long> found) {
        return (address, segment, offset, length) -> {
            assertThat(length).as("record at %d", address).isGreaterThan(80);
            found.add(address);
        };
    }

    private static List<Long> found(HashLog log, LogQuery query) {
        List<Long> found = new ArrayList<>();
        try (LogCursor cursor = log.find(query)) {
            while (cursor.next()) {
                into(found)
                        .accept(
                                cursor.address(),
                                cursor.segment(),
                                cursor.offset(),
                                cursor.length());
            }
        }
        return found;
    }

    @Test
    void any_address_may_be_asked_for() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        HashLogOptions options = LogBench.options();
        try (LogBench bench = LogBench.simulated(SEED, disk, options);
                IngestSession session = bench.log.openSession("s")) {
            for (int i = 0; i < 1_600; i++) { // twelve pages of which eight are in memory
                if (i == 700) {
                    bench.register("type");
                }
                MemorySegment record = record(i);
                session.append(record, 0, (int) record.byteSize());
            }
            session.awaitDurable();
            TreeSet<Long> all = new TreeSet<>(found(bench.log, LogQuery.all()));
            assertThat(all).hasSize(1_600);
            TreeSet<Long> pushes = new TreeSet<>(found(bench.log, LogQuery.property("type", "t1")));
            assertThat(pushes.size()).isLessThan(all.size() / 2);
            long tail = bench.log.log().tail();
            long end = tail + 3_000;
            for (long from = 0; from < end; from += 1 + (from * 7_919) % 2_039) {
                for (long to : new long[] {from + 5_000, Long.MAX_VALUE}) {
                    String what = "from %d to %d".formatted(from, to);
                    List<Long> expected =
                            List.copyOf(all.subSet(from, true, to, false).descendingSet());
                    LogQuery query = LogQuery.all().between(from, to);
                    assertThat(found(bench.log, query)).as(what).isEqualTo(expected);
                    LogQuery byType = LogQuery.property("type", "t1").between(from, to);
                    List<Long> typed =
                            List.copyOf(pushes.subSet(from, true, to, false).descendingSet());
                    assertThat(found(bench.log, byType)).as(what).isEqualTo(typed);
                    assertThat(found(bench.log, byType.byScan())).as(what).isEqualTo(typed);
                    List<Long> parallel = new ArrayList<>();
                    bench.log.findInParallel(query, 2, () -> into(parallel));
                    assertThat(parallel).as(what).containsExactlyInAnyOrderElementsOf(expected);
                }
                List<Long> subscribed = new ArrayList<>();
                LogQuery on = LogQuery.all().between(from, Long.MAX_VALUE);
                try (LogSubscription subscription = bench.log.subscribe(on, from % 2 == 0)) {
                    while (subscription.await(0)) {
                        subscription.poll(into(subscribed), 100);
                    }
                }
                assertThat(subscribed).isEqualTo(List.copyOf(all.tailSet(from)));
            }
        }
    }

    @Test
    void a_subscription_from_an_address_that_comes_within_a_record() {
        try (LogBench bench = LogBench.simulated(SEED, LogBench.disk(SEED), LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            List<LogSubscription> subscriptions = new ArrayList<>();
            TreeMap<Long, List<Long>> subscribed = new TreeMap<>();
            long first = bench.log.log().tail();
            for (long from = first; from < first + 400; from += 13) {
                LogQuery query = LogQuery.all().between(from, Long.MAX_VALUE);
                subscriptions.add(bench.log.subscribe(query, false));
                subscribed.put(from, new ArrayList<>());
            }
            for (int i = 0; i < 30; i++) {
                MemorySegment record = record(i);
                session.append(record, 0, (int) record.byteSize());
                int s = 0;
                for (List<Long> found : subscribed.values()) {
                    subscriptions.get(s++).poll(into(found), 100);
                }
            }
            TreeSet<Long> all = new TreeSet<>(found(bench.log, LogQuery.all()));
            subscribed.forEach((from, found) -> assertThat(found)
                    .as("from %d", from)
                    .isEqualTo(List.copyOf(all.tailSet(from))));
            subscriptions.forEach(LogSubscription::close);
        }
    }

    // ---- truncation beside a scan ---------------------------------------------------------------

    @Test
    void what_a_truncation_within_a_page_leaves_is_shown() {
        for (boolean inMemory : new boolean[] {true, false}) {
            for (int taken = 0; taken < 90; taken += 9) {
                SimDisk disk = new SimDisk(SEED, Profile.STRICT);
                try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                        IngestSession session = bench.log.openSession("s")) {
                    for (int i = 0; i < (inMemory ? 300 : 2_400); i++) {
                        MemorySegment record = record(i);
                        session.append(record, 0, (int) record.byteSize());
                    }
                    session.awaitDurable();
                    List<Long> all = found(bench.log, LogQuery.all());
                    long top = inMemory ? Long.MAX_VALUE : all.get(all.size() - 200);
                    List<Long> expected = found(bench.log, LogQuery.all().between(0, top));
                    // within the page that the scan has not come to yet
                    long begin = expected.get(expected.size() - 37);
                    List<Long> seen = new ArrayList<>();
                    try (LogCursor cursor = bench.log.find(LogQuery.all().between(0, top))) {
                        for (int i = 0; i < taken && cursor.next(); i++) {
                            seen.add(cursor.address());
                        }
                        bench.log.truncate(begin);
                        assertThat(bench.log.log().begin()).isEqualTo(begin);
                        while (cursor.next()) {
                            seen.add(cursor.address());
                        }
                        String what = "%d taken, in memory %b".formatted(taken, inMemory);
                        assertThat(seen)
                                .as(what)
                                .startsWith(expected.subList(0, expected.size() - 36)
                                        .toArray(new Long[0]));
                        assertThat(cursor.isTruncated() || seen.size() == expected.size())
                                .as(what)
                                .isTrue();
                    }
                }
            }
        }
    }
}
