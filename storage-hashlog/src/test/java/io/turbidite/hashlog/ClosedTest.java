package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.hashlog.chain.Property;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfFunctions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * What is closed says so: every call, whoever waits, whoever calls from a callback; and nothing is
 * written any more.
 */
@Timeout(60)
class ClosedTest {
    private static final long SEED = Seeds.of("ClosedTest");

    /** Figures and names that need nothing of the log; they are good for a last report. */
    private static final Map<Class<?>, Set<String>> FACTS = Map.of(
            HashLog.class,
                    Set.of(
                            "log",
                            "options",
                            "recoveredSerial",
                            "recoveredSessions",
                            "toString",
                            "close"),
            IngestSession.class,
                    Set.of(
                            "serial",
                            "durableSerial",
                            "acceptedCount",
                            "rejectedCount",
                            "payloadBytes",
                            "logBytes",
                            "name",
                            "toString",
                            "close"),
            LogCursor.class, Set.of("isTruncated", "parts", "scannedCount", "hopCount", "close"),
            LogSubscription.class, Set.of("position", "skippedBytes", "backlogBytes", "close"),
            HistoryIndexing.class, Set.of("isDone", "indexedBytes", "close"),
            LogReader.class,
                    Set.of(
                            "unprotect",
                            "isProtected",
                            "isInMemory",
                            "touch",
                            "holds",
                            "segment",
                            "offset",
                            "damaged",
                            "gone",
                            "blocksRead",
                            "log",
                            "close"));

    private static void ingest(IngestSession session, int count) {
        for (int i = 0; i < count; i++) {
            MemorySegment record =
                    LogBench.segment(LogState.event(session.name(), (int) session.serial()));
            session.append(record, 0, (int) record.byteSize());
        }
    }

    private @Nullable LogReader reader;

    private @Nullable Object argument(Class<?> type) {
        if (type == int.class) {
            return 1;
        } else if (type == long.class) {
            return 0L;
        } else if (type == boolean.class) {
            return false;
        } else if (type == String.class) {
            return "type";
        } else if (type == MemorySegment.class) {
            return LogBench.segment("{\"type\":1}");
        } else if (type == PsfDefinition.class) {
            return PsfDefinition.parse("field(x)");
        } else if (type == Property.class) {
            return Property.ofText(0, "t1");
        } else if (type == LogReader.class) {
            return reader;
        } else if (type == LogQuery.class) {
            return LogQuery.all();
        } else if (type == RejectedRecord.Listener.class) {
            return (RejectedRecord.Listener) record -> {};
        } else if (type == RecordSink.class) {
            return (RecordSink) (address, segment, offset, length) -> {};
        } else if (type == Supplier.class) {
            return (Supplier<RecordSink>) () -> (address, segment, offset, length) -> {};
        }
        return null;
    }

    /** Calls every public method; returns those that do not throw as closed. */
    private Set<String> open(Object closed) throws IllegalAccessException {
        Set<String> open = new TreeSet<>();
        for (Method method : closed.getClass().getDeclaredMethods()) {
            if (!Modifier.isPublic(method.getModifiers())
                    || Modifier.isStatic(method.getModifiers())
                    || method.isSynthetic()) {
                continue;
            }
            @Nullable Object[] arguments = new @Nullable Object[method.getParameterCount()];
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = argument(method.getParameterTypes()[i]);
            }
            try {
                method.invoke(closed, arguments);
                open.add(method.getName());
            } catch (InvocationTargetException e) {
                if (!(e.getCause() instanceof ClosedException)) {
                    open.add(method.getName() + ": " + e.getCause());
                }
            }
        }
        return open;
    }

    @Test
    void every_call_behind_a_close_throws_and_writes_nothing() throws IllegalAccessException {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        List<Object> objects = new ArrayList<>();
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            bench.register("type");
            IngestSession session = bench.log.openSession("s");
            ingest(session, 300);
            bench.register("n");
            LogReader protectedReader = bench.log.openReader("reader");
            protectedReader.protect();
            reader = protectedReader;
            LogCursor cursor = bench.log.find(LogQuery.all());
            assertThat(cursor.next()).isTrue();
            objects.addAll(List.of(
                    bench.log,
                    session,
                    cursor,
                    bench.log.subscribe(LogQuery.all(), false),
                    bench.log.indexHistory("n"),
                    protectedReader));
            bench.log.close();
            byte[] registry = disk.content("log/HASHLOG");
            long steps = disk.stepCount();
            for (Object object : objects) {
                assertThat(open(object))
                        .as(object.getClass().getSimpleName())
                        .isSubsetOf(FACTS.get(object.getClass()));
            }
            assertThat(disk.stepCount()).isEqualTo(steps);
            assertThat(disk.content("log/HASHLOG")).isEqualTo(registry);
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void what_is_closed_itself_throws_while_the_log_goes_on() throws IllegalAccessException {
        try (LogBench bench = LogBench.simulated(SEED, LogBench.disk(SEED), LogBench.options())) {
            bench.register("type");
            IngestSession session = bench.log.openSession("s");
            ingest(session, 10);
            LogCursor cursor = bench.log.find(LogQuery.all());
            LogSubscription subscription = bench.log.subscribe(LogQuery.all(), false);
            session.close();
            cursor.close();
            subscription.close();
            for (Object object : List.of(session, cursor, subscription)) {
                assertThat(open(object))
                        .as(object.getClass().getSimpleName())
                        .isSubsetOf(FACTS.get(object.getClass()));
            }
        }
    }

    // ---- waits ----------------------------------------------------------------------------------

    /** Somebody who does something on a thread of his own. */
    private static final class Someone {
        private final AtomicReference<@Nullable Throwable> outcome = new AtomicReference<>();
        private final AtomicBoolean done = new AtomicBoolean();

        Someone(Tasks tasks, Runnable work) {
            AtomicBoolean begun = new AtomicBoolean();
            tasks.start("someone", 1_000_000, () -> {
                if (begun.compareAndSet(false, true)) {
                    try {
                        work.run();
                    } catch (RuntimeException e) {
                        outcome.set(e);
                    }
                    done.set(true);
                    tasks.signal();
                }
                return false;
            });
        }

        @Nullable
        Throwable await(Tasks tasks) {
            tasks.await(done::get);
            return outcome.get();
        }
    }

    @Test
    void a_close_wakes_all_who_wait() {
        for (int round = 0; round < 10; round++) {
            try (ThreadTasks others = ThreadTasks.create("others");
                    LogBench bench = LogBench.onThreads(
                            new SimDisk(SEED, Profile.STRICT), LogBench.options())) {
                bench.register("type");
                LogSubscription subscription = bench.log.subscribe(LogQuery.all(), true);
                List<Someone> waiting = List.of(
                        new Someone(others, () -> subscription.await(Long.MAX_VALUE / 2)),
                        new Someone(others, () -> {
                            try (LogSubscription own = bench.log.subscribe(LogQuery.all(), false)) {
                                own.await(3_600_000_000L);
                            }
                        }));
                AtomicBoolean late = new AtomicBoolean();
                long until = bench.site.clock().monotonicNanos() + 20_000_000;
                bench.tasks.await(() -> {
                    late.set(bench.site.clock().monotonicNanos() >= until);
                    return late.get();
                });
                bench.log.close();
                for (Someone someone : waiting) {
                    assertThat(someone.await(others)).isInstanceOf(ClosedException.class);
                }
            }
        }
    }

    @Test
    void a_registration_that_waits_for_a_session_is_woken() {
        try (ThreadTasks others = ThreadTasks.create("others");
                LogBench bench =
                        LogBench.onThreads(new SimDisk(SEED, Profile.STRICT), LogBench.options())) {
            AtomicBoolean registering = new AtomicBoolean();
            AtomicBoolean go = new AtomicBoolean();
            Someone ingesting = new Someone(others, () -> {
                try (IngestSession session = bench.log.openSession("s", 0, record -> {})) {
                    while (!go.get()) {
                        ingest(session, 1);
                    }
                }
            });
            Someone registers = new Someone(others, () -> {
                for (int i = 0; i < 1_000; i++) {
                    registering.set(true);
                    bench.log.register("p" + i, PsfDefinition.parse("field(n)"));
                }
            });
            bench.tasks.await(registering::get);
            bench.log.close();
            assertThat(registers.await(others)).isInstanceOf(ClosedException.class);
            go.set(true);
            assertThat(ingesting.await(others)).isInstanceOf(ClosedException.class);
        }
    }

    @Test
    void cursors_and_sessions_that_work_are_waited_for() {
        for (int round = 0; round < 20; round++) {
            SimDisk disk = new SimDisk(SEED, Profile.STRICT);
            try (ThreadTasks others = ThreadTasks.create("others");
                    LogBench bench = LogBench.onThreads(disk, LogBench.options())) {
                bench.register("type");
                AtomicBoolean some = new AtomicBoolean();
                List<Someone> working = new ArrayList<>();
                working.add(new Someone(others, () -> {
                    try (IngestSession session = bench.log.openSession("s")) {
                        while (true) {
                            ingest(session, 50);
                            some.set(true);
                        }
                    }
                }));
                for (int i = 0; i < 2; i++) {
                    LogQuery query = i == 0 ? LogQuery.all() : LogQuery.property("type", "t1");
                    working.add(new Someone(others, () -> {
                        while (true) {
                            try (LogCursor cursor = bench.log.find(query)) {
                                while (cursor.next()) {
                                    assertThat(cursor.length()).isPositive();
                                }
                            }
                        }
                    }));
                }
                working.add(new Someone(others, () -> {
                    while (true) {
                        bench.log.findInParallel(
                                LogQuery.all(),
                                2,
                                () -> (address, segment, offset, length) -> assertThat(
                                                segment.get(Bytes.U8, offset))
                                        .isEqualTo((byte) '{'));
                    }
                }));
                bench.tasks.await(some::get);
                bench.log.close();
                for (Someone someone : working) {
                    assertThat(someone.await(others)).isInstanceOf(ClosedException.class);
                }
            }
            assertThat(disk.openHandles()).isEmpty();
        }
    }

    /** A caller is inside for a moment even if it is refused: the close may meet this moment. */
    @Test
    void calls_that_come_while_a_close_waits_do_not_keep_it() {
        try (ThreadTasks others = ThreadTasks.create("others");
                LogBench bench = LogBench.onThreads(null, LogBench.options())) {
            AtomicReference<Callers.@Nullable Caller> newest = new AtomicReference<>();
            AtomicBoolean stop = new AtomicBoolean();
            Someone stubborn = new Someone(others, () -> {
                while (!stop.get()) {
                    Callers.Caller caller = newest.get();
                    if (caller != null) {
                        try {
                            caller.enter();
                            caller.exit();
                        } catch (ClosedException refused) {
                            Thread.onSpinWait(); // and tries again
                        }
                    }
                }
            });
            try {
                for (int round = 0; round < 300_000; round++) {
                    Callers callers = new Callers(bench.log.log());
                    newest.set(callers.open("a caller"));
                    assertThat(callers.beginClose()).as("round %d", round).isTrue();
                    callers.endClose();
                }
            } finally {
                stop.set(true);
            }
            assertThat(stubborn.await(others)).isNull();
        }
    }

    // ---- callbacks ------------------------------------------------------------------------------

    private static MemorySegment line(String text) {
        return LogBench.segment(text);
    }

    @Test
    void a_callback_may_close_the_log_and_its_call_says_so() {
        AtomicReference<@Nullable HashLog> closing = new AtomicReference<>();
        Runnable close = () -> {
            HashLog log = closing.get();
            if (log != null) {
                log.close();
            }
        };
        PsfFunctions functions =
                new PsfFunctions(Map.of("closing", (values, fields, result) -> close.run()));
        for (boolean threads : new boolean[] {false, true}) {
            for (int way = 0; way < 4; way++) {
                closing.set(null);
                SimDisk disk = new SimDisk(SEED, Profile.STRICT);
                HashLogOptions options = LogBench.options().withFunctions(functions);
                try (LogBench bench = threads
                        ? LogBench.onThreads(disk, options)
                        : LogBench.simulated(SEED, disk, options)) {
                    HashLog log = bench.log;
                    bench.register("type");
                    log.register("closing", PsfDefinition.parse("function(closing, n)"));
                    IngestSession session = log.openSession("s", 0, record -> close.run());
                    ingest(session, 100);
                    session.awaitDurable();
                    closing.set(log);
                    int chosen = way;
                    assertThatThrownBy(() -> {
                                switch (chosen) {
                                    case 0 -> session.append(line("{\"type\":tru}"), 0, 12);
                                    case 1 -> ingest(session, 1);
                                    case 2 -> {
                                        LogSubscription all = log.subscribe(LogQuery.all(), true);
                                        assertThat(all.poll((a, s, o, l) -> close.run(), 10))
                                                .isEqualTo(1);
                                        all.poll((a, s, o, l) -> fail("handed over"), 10);
                                    }
                                    default ->
                                        log.findInParallel(
                                                LogQuery.all(),
                                                2,
                                                () -> (a, s, o, l) -> close.run());
                                }
                            })
                            .as("way %d", way)
                            .isInstanceOf(ClosedException.class);
                    closing.set(null);
                }
                assertThat(disk.openHandles()).as("way %d", way).isEmpty();
                try (LogBench bench = LogBench.reopened(SEED, disk, options)) {
                    assertThat(LogState.of(bench.log).numbersOf("s")).hasSize(100);
                }
            }
        }
    }

    @Test
    void a_close_says_whose_call_keeps_it_and_can_be_tried_again() {
        AtomicBoolean inside = new AtomicBoolean();
        AtomicBoolean go = new AtomicBoolean();
        HurriedClock clock = new HurriedClock();
        try (ThreadTasks others = ThreadTasks.create("others");
                LogBench bench = LogBench.onThreads(
                        new SimDisk(SEED, Profile.STRICT), clock, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            ingest(session, 10);
            Someone slow = new Someone(others, () -> {
                try (LogSubscription all = bench.log.subscribe(LogQuery.all(), false)) {
                    all.poll(
                            (address, segment, offset, length) -> {
                                inside.set(true);
                                others.await(go::get);
                            },
                            10);
                }
            });
            others.await(inside::get);
            clock.hurry = true;
            long before = clock.monotonicNanos();
            assertThatThrownBy(bench.log::close)
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("a subscription")
                    .hasMessageContaining("10 s");
            assertThat(clock.monotonicNanos() - before).isGreaterThan(10_000_000_000L);
            clock.hurry = false;
            assertThatThrownBy(() -> bench.log.find(LogQuery.all()))
                    .isInstanceOf(ClosedException.class);
            go.set(true);
            assertThat(slow.await(others)).isNull();
            bench.log.close();
        }
    }

    /** A clock that runs ahead by a tenth of a second at each look, once it hurries. */
    private static final class HurriedClock implements Clock {
        private final AtomicLong ahead = new AtomicLong();
        private volatile boolean hurry;

        @Override
        public long wallMicros() {
            return Clock.system().wallMicros();
        }

        @Override
        public long monotonicNanos() {
            long more = hurry ? 100_000_000 : 0;
            return Clock.system().monotonicNanos() + ahead.addAndGet(more);
        }
    }
}
