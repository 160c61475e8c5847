package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.HashLogOptions;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.LogCursor;
import io.turbidite.hashlog.LogQuery;
import io.turbidite.hashlog.LogSubscription;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfFunctions;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.AbstractMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What a user hands in throws, be it an error of the JVM: records, listeners of events and
 * rejections, functions of PSFs, sinks. The call passes it on or refuses by type, nothing hangs,
 * the next calls work, and all that was acknowledged is there after reopening.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ThrowingUserTest {
    private static final long SEED = Seeds.of("ThrowingUserTest");

    /** What no log or store expects of its user. */
    enum Thrown {
        OUT_OF_MEMORY,
        STACK_OVERFLOW,
        ILLEGAL_STATE;

        void now() {
            switch (this) {
                case OUT_OF_MEMORY -> throw new OutOfMemoryError("injected");
                case STACK_OVERFLOW -> throw new StackOverflowError("injected");
                case ILLEGAL_STATE -> throw new IllegalStateException("injected");
            }
        }
    }

    /** Passed on as it is, or a refusal that says it. */
    private static void fails(Runnable call) {
        try {
            call.run();
        } catch (StorageException refused) {
            assertThat(refused.getMessage()).isNotBlank().doesNotContain("failed: null");
            return;
        } catch (RuntimeException | Error thrown) {
            assertThat(thrown).hasMessage("injected");
            return;
        }
        throw new AssertionError("nothing was thrown");
    }

    // ---- stores
    // ----------------------------------------------------------------------------------

    /** Throws at the nth look at any of its fields, in whatever way. */
    private static final class ThrowingMap extends AbstractMap<String, Object> {
        private final Map<String, Object> fields = new HashMap<>();
        private final Thrown kind;
        private final AtomicInteger left;

        ThrowingMap(long id, Thrown kind, int left) {
            fields.put("id", id);
            fields.put("user", "thrown");
            fields.put("open", "not declared");
            this.kind = kind;
            this.left = new AtomicInteger(left);
        }

        private void look() {
            if (left.getAndDecrement() <= 0) {
                kind.now();
            }
        }

        @Override
        public @Nullable Object get(@Nullable Object key) {
            look();
            return fields.get(key);
        }

        @Override
        public boolean containsKey(@Nullable Object key) {
            look();
            return fields.containsKey(key);
        }

        @Override
        public int size() {
            look();
            return fields.size();
        }

        @Override
        public Set<Entry<String, Object>> entrySet() {
            look();
            return fields.entrySet();
        }
    }

    private static Store open(Path directory) {
        return Store.open(directory, StoreModel.options());
    }

    private static void upsert(Dataset dataset, long from, long to) {
        for (long id = from; id < to; id++) {
            dataset.upsert(Map.of("id", id, "user", "u" + id));
        }
    }

    private static void isWhole(Store store, long count) {
        Dataset dataset = store.dataset("T");
        for (long id = 0; id < count; id++) {
            assertThat(dataset.get(id)).containsEntry("user", "u" + id);
        }
        assertThat(dataset.get(1_000L)).isNull();
        assertThat(store.verify().errors()).isEmpty();
    }

    private static Dataset create(Store store) {
        return store.createDataset(DatasetSpec.named("T")
                .field("id", "int64")
                .field("user", "string")
                .primaryKey("id")
                .index(IndexSpec.btree("by_user", "user")));
    }

    @ParameterizedTest
    @EnumSource
    void a_record_that_throws_is_not_written(Thrown kind, @TempDir Path directory) {
        try (Store store = open(directory)) {
            Dataset dataset = create(store);
            upsert(dataset, 0, 10);
            fails(() -> dataset.upsert(new ThrowingMap(1_000, kind, 0)));
            fails(() -> dataset.insert(new ThrowingMap(1_000, kind, 0)));
            fails(() -> dataset.newRecordWriter().write(new ThrowingMap(1_000, kind, 0)));
            upsert(dataset, 10, 20);
            // one writer, which has half a record in it
            var writer = dataset.newRecordWriter();
            for (int left = 0; left < 3; left++) {
                int looks = left;
                try {
                    writer.write(new ThrowingMap(1_000, kind, looks));
                } catch (StorageException refused) {
                    assertThat(refused.getMessage()).isNotBlank();
                } catch (RuntimeException | Error thrown) {
                    assertThat(thrown).hasMessage("injected");
                }
                dataset.upsertRecord(
                        writer.write(Map.of("id", 20L + left, "user", "u" + (20 + left))));
            }
            dataset.flush();
            isWhole(store, 23);
        }
        try (Store store = open(directory)) {
            isWhole(store, 23);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_listener_of_events_that_throws_breaks_no_call(Thrown kind, @TempDir Path directory) {
        AtomicLong told = new AtomicLong();
        try (Store store = open(directory)) {
            Dataset dataset = create(store);
            for (long round = 0; round < 5; round++) {
                store.events().listen(event -> {
                    told.incrementAndGet();
                    kind.now();
                });
                upsert(dataset, 10 * round, 10 * round + 10);
                dataset.flush();
            }
            store.events().listen(event -> {
                told.incrementAndGet();
                kind.now();
            });
            dataset.mergeAll();
            store.sync();
            isWhole(store, 50);
        }
        assertThat(told).hasPositiveValue();
        try (Store store = open(directory)) {
            isWhole(store, 50);
        }
    }

    // ---- hash logs
    // -------------------------------------------------------------------------------

    private static HashLogOptions options(Thrown kind, AtomicInteger calls) {
        return HashLogOptions.defaults()
                .withLog(LogOptions.of(new LogShape(16 << 10, 8, 4)))
                .withTable(8, 16 << 20)
                .withFunctions(new PsfFunctions(Map.of("odd", (values, fields, result) -> {
                    if (calls.incrementAndGet() % 2 == 1) {
                        kind.now();
                    }
                    result.field(fields[0]);
                })));
    }

    private static LogSite site(SimDisk disk, ThreadTasks tasks, StoreEvents events) {
        return new LogSite(
                "test",
                disk,
                "log",
                tasks,
                Clock.system(),
                MemoryBudget.of(64 << 20),
                new Meters(),
                events);
    }

    private static boolean append(IngestSession session, String text) {
        byte[] record = text.getBytes(StandardCharsets.UTF_8);
        return session.append(MemorySegment.ofArray(record), 0, record.length);
    }

    /** A function that fails refuses its record; that memory is out is passed on. */
    private static boolean takes(IngestSession session, int i) {
        try {
            return append(session, "{\"id\":1,\"n\":%d}".formatted(i));
        } catch (OutOfMemoryError passedOn) {
            assertThat(passedOn).hasMessage("injected");
            return false;
        }
    }

    private static int count(HashLog log, LogQuery query) {
        int count = 0;
        try (LogCursor cursor = log.find(query)) {
            while (cursor.next()) {
                count++;
            }
        }
        return count;
    }

    @ParameterizedTest
    @EnumSource
    void what_a_log_calls_back_may_throw(Thrown kind) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        AtomicInteger calls = new AtomicInteger();
        HashLogOptions options = options(kind, calls);
        StoreEvents events = new StoreEvents();
        events.listen(event -> kind.now());
        int taken = 0;
        try (ThreadTasks tasks = ThreadTasks.create("throwing");
                HashLog log = HashLog.create(site(disk, tasks, events), options, 0x1234_5678L)) {
            log.register("id", PsfDefinition.parse("field(id)"));
            IngestSession session = log.openSession("s", 0, rejected -> kind.now());
            for (int i = 0; i < 20; i++) {
                assertThat(append(session, "{\"id\":1,\"n\":%d}".formatted(i))).isTrue();
                taken++;
                fails(() -> append(session, "{\"id\":tru}"));
            }
            session.close();
            int odd =
                    log.register("odd", PsfDefinition.parse("function(odd, n)")).id();
            try (IngestSession told = log.openSession("told")) {
                for (int i = 0; i < 20; i++) {
                    taken += takes(told, i) ? 1 : 0;
                }
                assertThat(told.acceptedCount()).isEqualTo(10);
                // whoever gets an error knows of its record by that
                assertThat(told.rejectedCount()).isEqualTo(kind == Thrown.OUT_OF_MEMORY ? 0 : 10);
            }
            log.deregister(odd);
            sinks(log, kind, taken);
            log.checkpoint();
            events.listen(event -> kind.now());
            log.awaitDurable();
            assertThat(count(log, LogQuery.all())).isEqualTo(taken);
        }
        try (ThreadTasks tasks = ThreadTasks.create("throwing");
                HashLog log = HashLog.open(site(disk, tasks, new StoreEvents()), options)) {
            assertThat(count(log, LogQuery.all())).isEqualTo(taken);
            assertThat(count(log, LogQuery.property("id", "1"))).isEqualTo(taken);
        }
    }

    /** What a sink threw at is handed over again. */
    private static void sinks(HashLog log, Thrown kind, int taken) {
        AtomicInteger seen = new AtomicInteger();
        try (LogSubscription all = log.subscribe(LogQuery.all(), false)) {
            fails(() -> all.poll((address, segment, offset, length) -> kind.now(), 10));
            int polled = 0;
            for (int count = 1; count > 0; polled += count) {
                count = all.poll((address, segment, offset, length) -> seen.incrementAndGet(), 7);
            }
            assertThat(polled).isEqualTo(taken);
            assertThat(seen).hasValue(taken);
        }
        fails(() -> log.findInParallel(LogQuery.all(), 2, () -> {
            kind.now();
            return (address, segment, offset, length) -> {};
        }));
        fails(() -> log.findInParallel(
                LogQuery.all(), 2, () -> (address, segment, offset, length) -> kind.now()));
        AtomicInteger found = new AtomicInteger();
        log.findInParallel(
                LogQuery.all(),
                2,
                () -> (address, segment, offset, length) -> found.incrementAndGet());
        assertThat(found).hasValue(taken);
    }
}
