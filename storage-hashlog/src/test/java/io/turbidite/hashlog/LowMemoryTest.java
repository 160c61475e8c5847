package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.memory.Holders;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.MemoryCheck;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.psf.PsfDefinition;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * The nth time that a hash log wants memory off the heap there is none, for every n in turn: the
 * budget refuses, or the JVM throws. Each call comes back, with a typed error or the JVM's; nothing
 * is held after the closing, neither memory nor files nor workers; what was acknowledged is there
 * after reopening.
 */
class LowMemoryTest {
    private static final long SEED = Seeds.of("LowMemoryTest");
    private static final int STRIDE = Tier.count(7, 1, 1);
    private static final long MILLIS_MAX = 60_000;
    private static final int RECORDS = 400;

    /** How there is no memory. */
    enum Lack {
        REFUSED,
        THROWN
    }

    /** Counts demands, and turns one of them down. */
    private static final class Gate implements MemoryCheck {
        private final Map<String, Integer> owners = new TreeMap<>();
        private final Lack lack;
        private final long refused;
        private long count;
        private String refusedOwner = "nobody";

        Gate(Lack lack, long refused) {
            this.lack = lack;
            this.refused = refused;
        }

        private boolean isRefused(String owner) {
            owners.merge(owner, 1, Integer::sum);
            if (count++ != refused) {
                return false;
            }
            refusedOwner = owner;
            if (lack == Lack.THROWN) {
                throw new OutOfMemoryError("injected");
            }
            return true;
        }

        @Override
        public boolean reserves(String owner, long bytes) {
            return !isRefused(owner);
        }

        @Override
        public void allocates(String owner, long bytes) {
            if (lack == Lack.THROWN) {
                boolean never = isRefused(owner);
                assertThat(never).isFalse();
            }
        }
    }

    /** A small table, so that it grows and folds; a small ring, so that queries read from disk. */
    private static HashLogOptions options() {
        return HashLogOptions.defaults()
                .withLog(LogOptions.of(LogBench.SHAPE).withDirectIo(true))
                .withTable(6, 16 << 20);
    }

    /** Two lives of a log, with all kinds of calls. */
    private static final class Trace {
        private final SimDisk disk;
        private final List<String> wrong = new ArrayList<>();
        private final List<String> refusals = new ArrayList<>();
        private int acknowledged;
        private int workersLeft;

        Trace(SimDisk disk) {
            this.disk = disk;
        }

        private void run() {
            life(this::write);
            life(this::ask);
        }

        private void life(Consumer<HashLog> calls) {
            SimClock clock = new SimClock();
            SimTasks tasks = new SimTasks(SEED, clock);
            LogSite site = new LogSite(
                    "test",
                    disk,
                    "log",
                    tasks,
                    clock,
                    MemoryBudget.of(640 << 20),
                    new Meters(),
                    new StoreEvents());
            AtomicReference<@Nullable HashLog> opened = new AtomicReference<>();
            step("open", () -> opened.set(HashLog.openOrCreate(site, options(), LogBench.LOG_ID)));
            HashLog log = opened.get();
            if (log != null) {
                calls.accept(log);
                step("a while", () -> tasks.runForMicros(300_000));
                step("close", log::close);
                step("close again", log::close);
            }
            workersLeft += tasks.workerCount();
            tasks.close();
        }

        private void write(HashLog log) {
            append(log, 100);
            step("register", () -> log.register("type", PsfDefinition.parse("field(type)")));
            step("register n", () -> log.register("n", PsfDefinition.parse("field(n)")));
            append(log, RECORDS);
            step("index", () -> {
                try (HistoryIndexing indexing = log.indexHistory("type")) {
                    indexing.await();
                }
            });
            step("checkpoint", log::checkpoint);
            append(log, RECORDS + 100);
        }

        private void append(HashLog log, int until) {
            step("append to " + until, () -> {
                int from = LogState.of(log).numbersOf("s").size();
                try (IngestSession session = log.openSession("s")) {
                    for (int i = from; i < until; i++) {
                        MemorySegment record = LogBench.segment(LogState.event("s", i));
                        session.append(record, 0, (int) record.byteSize());
                    }
                    session.awaitDurable();
                    acknowledged = until;
                }
            });
        }

        private void ask(HashLog log) {
            Map<String, LogQuery> queries = new LinkedHashMap<>();
            queries.put("all", LogQuery.all());
            queries.put("chain", LogQuery.property("type", "t1"));
            queries.put("scan", LogQuery.all().where("n > 3"));
            queries.forEach((name, query) -> step(name, () -> {
                try (LogCursor cursor = log.find(query)) {
                    while (cursor.next()) {
                        assertThat(cursor.length()).isPositive();
                    }
                }
            }));
            step(
                    "parallel",
                    () -> log.findInParallel(
                            LogQuery.property("type", "t2"), 2, () -> (_, _, _, _) -> {}));
            step("subscription", () -> {
                try (LogSubscription subscription = log.subscribe(LogQuery.all(), true)) {
                    assertThat(subscription.poll((_, _, _, _) -> {}, RECORDS)).isNotNegative();
                }
            });
            step("delete", () -> {
                try (LogCursor cursor = log.find(LogQuery.all().where("w == \"none\""))) {
                    assertThat(cursor.next()).isFalse();
                }
            });
            step("truncate", () -> log.truncate(log.log().begin() + 1));
            append(log, RECORDS + 200);
        }

        private void step(String name, Runnable call) {
            try {
                call.run();
            } catch (StorageException told) {
                refusals.add("%s: %s".formatted(name, told));
                if (String.valueOf(told.getMessage()).contains("failed: null")) {
                    wrong.add("%s: %s".formatted(name, told));
                }
            } catch (Error | RuntimeException thrown) {
                if (!isInjected(thrown)) {
                    wrong.add("%s: %s".formatted(name, thrown));
                }
            }
        }

        private static boolean isInjected(Throwable thrown) {
            for (Throwable at = thrown; at != null; at = at.getCause()) {
                if ("injected".equals(at.getMessage())) {
                    return true;
                }
            }
            return false;
        }

        private void check() {
            try (LogBench bench = LogBench.reopened(SEED, disk.copy(), options())) {
                LogState state = LogState.of(bench.log);
                List<Integer> numbers = state.numbersOf("s");
                for (int i = 0; i < numbers.size(); i++) {
                    assertThat(numbers.get(i)).isEqualTo(i);
                }
                assertThat(numbers).hasSizeGreaterThanOrEqualTo(acknowledged);
                state.checkChains(bench.log, "reopened");
            }
        }
    }

    private static void watched(Runnable run, String as) throws InterruptedException {
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Thread thread = Thread.ofPlatform().daemon().name("injected").start(() -> {
            try {
                run.run();
            } catch (Throwable e) {
                failure.set(e);
            }
        });
        thread.join(MILLIS_MAX);
        if (thread.isAlive()) {
            StringBuilder stack = new StringBuilder();
            for (StackTraceElement element : thread.getStackTrace()) {
                stack.append("\n  at ").append(element);
            }
            throw new AssertionError("%s hangs%s".formatted(as, stack));
        }
        if (failure.get() != null) {
            throw new AssertionError(as, failure.get());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_log_without_memory_is_good_or_stopped(Lack lack) throws InterruptedException {
        Gate counting = new Gate(lack, Long.MAX_VALUE);
        Trace whole = new Trace(new SimDisk(SEED, Profile.STRICT));
        watched(() -> ScopedValue.where(MemoryCheck.BOUND, counting).run(whole::run), "whole");
        assertThat(whole.wrong).isEmpty();
        assertThat(whole.refusals).isEmpty();
        assertThat(whole.acknowledged).isEqualTo(RECORDS + 200);
        assertThat(whole.workersLeft).isZero();
        assertThat(counting.count).isGreaterThan(15);
        List<String> failures = new ArrayList<>();
        for (long at = 0; at < counting.count; at += STRIDE) {
            Gate gate = new Gate(lack, at);
            String as =
                    "%s at demand %d; %s".formatted(lack, at, Seeds.replay("LowMemoryTest", SEED));
            Set<Object> before = Holders.now();
            Trace trace = new Trace(new SimDisk(SEED, Profile.STRICT));
            try {
                watched(() -> ScopedValue.where(MemoryCheck.BOUND, gate).run(trace::run), as);
                assertThat(trace.wrong).as(as).isEmpty();
                assertThat(Holders.now()).as("left: %s", as).isEqualTo(before);
                assertThat(trace.disk.openHandles()).as(as).isEmpty();
                assertThat(trace.workersLeft).as("workers: %s", as).isZero();
                watched(trace::check, as);
            } catch (AssertionError e) {
                StringWriter text = new StringWriter();
                e.printStackTrace(new PrintWriter(text));
                failures.add("of %s: %s".formatted(gate.refusedOwner, text));
            }
        }
        System.out.printf(
                "LowMemoryTest: %s at every %d. of %d demands: %s%n",
                lack, STRIDE, counting.count, counting.owners);
        // all of them are looked at, so that one run shows every hole
        assertThat(failures).isEmpty();
    }
}
