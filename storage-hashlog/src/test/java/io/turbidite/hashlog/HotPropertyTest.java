package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.hashlog.chain.ChainHeads;
import io.turbidite.hashlog.chain.Property;
import io.turbidite.hashlog.psf.PsfDefinition;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Properties that are spread over several chains. */
class HotPropertyTest {
    private static final long SEED = Seeds.of("HotPropertyTest");
    private static final PsfDefinition TYPE = PsfDefinition.parse("field(type)");
    private static final LogQuery HOT = LogQuery.property("hot", "a");

    private static void ingest(IngestSession session, int count) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append("{\"id\":%d,\"type\":\"%s\",\"text\":\"%s\"}\n"
                    .formatted(i, i % 4 == 0 ? "b" : "a", "x".repeat(i % 90)));
        }
        var batch = LogBench.segment(text.toString());
        session.ingest(batch, 0, batch.byteSize());
    }

    /** Addresses that a query finds; checks that they descend. */
    private static List<Long> find(LogBench bench, LogQuery query) {
        List<Long> found = new ArrayList<>();
        try (LogCursor cursor = bench.log.find(query)) {
            while (cursor.next()) {
                assertThat(cursor.address())
                        .isLessThan(found.isEmpty() ? Long.MAX_VALUE : found.getLast());
                found.add(cursor.address());
            }
        }
        return found;
    }

    private static void check(LogBench bench, int hotCount, String as) {
        List<Long> all = find(bench, HOT);
        assertThat(all).as(as).hasSize(hotCount).isEqualTo(find(bench, HOT.byScan()));
        List<Long> part = all.subList(hotCount / 3, hotCount / 2);
        assertThat(find(bench, HOT.between(part.getLast(), part.getFirst() + 1)))
                .as(as)
                .isEqualTo(part);
        ConcurrentLinkedQueue<Long> parallel = new ConcurrentLinkedQueue<>();
        bench.log.findInParallel(
                HOT, 3, () -> (address, segment, offset, length) -> parallel.add(address));
        assertThat(parallel).as(as).containsExactlyInAnyOrderElementsOf(all);
    }

    @Test
    void several_chains_show_what_one_shows_also_after_recovery_with_and_without_checkpoint() {
        for (int chains : new int[] {1, 2, 16}) {
            SimDisk disk = LogBench.disk(SEED);
            try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                    IngestSession session = bench.log.openSession("s")) {
                ingest(session, 300);
                assertThat(bench.log.register("hot", TYPE, chains).chainCount()).isEqualTo(chains);
                ingest(session, 1_200);
                if (chains == 2) {
                    bench.log.checkpoint();
                }
                ingest(session, 100);
                check(bench, 1_200, "live, %d chains".formatted(chains));
                session.awaitDurable();
            }
            try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
                check(bench, 1_200, "reopened, %d chains".formatted(chains));
                try (IngestSession session = bench.log.openSession("s2")) {
                    ingest(session, 100);
                }
                check(bench, 1_275, "goes on, %d chains".formatted(chains));
            }
        }
    }

    @Test
    void the_chains_of_a_property_are_about_equally_long() {
        try (LogBench bench = LogBench.simulated(SEED, null, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            int id = bench.log.register("hot", TYPE, 4).id();
            ingest(session, 1_000);
            ChainHeads heads = bench.log.registry().chainHeads();
            assertThat(heads.hashes(Property.ofText(id, "a"))).hasSize(4).doesNotHaveDuplicates();
            List<Integer> lengths = new ArrayList<>();
            try (var reader = bench.log.openReader("r")) {
                reader.protect();
                Property hot = Property.ofText(id, "a");
                for (long hash : heads.hashes(hot)) {
                    var walk = bench.log.walk(
                            reader, hot, new long[] {hash}, bench.log.newReadAhead());
                    walk.start(bench.log.log().begin());
                    int length = 0;
                    while (walk.next()) {
                        length++;
                    }
                    lengths.add(length);
                }
            }
            int found = find(bench, HOT).size();
            assertThat(lengths.stream().mapToInt(n -> n).sum()).isEqualTo(found);
            assertThat(lengths).allSatisfy(n -> assertThat(n).isBetween(found / 8, found / 2));
        }
    }

    @Test
    void sessions_of_several_threads_meet_on_many_chains_and_lose_nothing() {
        try (LogBench bench = LogBench.onThreads(LogBench.disk(SEED), LogBench.options())) {
            bench.log.register("hot", TYPE, 8);
            AtomicInteger running = new AtomicInteger(3);
            List<Tasks.Worker> workers = new ArrayList<>();
            for (int w = 0; w < 3; w++) {
                String name = "s" + w;
                AtomicInteger rounds = new AtomicInteger(20);
                IngestSession session = bench.log.openSession(name);
                workers.add(bench.tasks.start(name, 1_000, () -> {
                    if (rounds.getAndDecrement() > 0) {
                        ingest(session, 100);
                        return true;
                    }
                    if (rounds.get() == -1) {
                        session.close();
                        running.decrementAndGet();
                        bench.tasks.signal();
                    }
                    return false;
                }));
            }
            bench.tasks.await(() -> running.get() == 0);
            workers.forEach(Tasks.Worker::close);
            check(bench, 3 * 20 * 75, "threads");
        }
    }

    @Test
    void numbers_of_chains_that_cannot_be_are_refused() {
        try (LogBench bench = LogBench.simulated(SEED, null, LogBench.options())) {
            for (int count : new int[] {0, -1, 3, 32}) {
                assertThatThrownBy(() -> bench.log.register("hot", TYPE, count))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("1, 2, 4, 8 or 16");
            }
            assertThat(bench.log.psfs()).isEmpty();
        }
    }
}
