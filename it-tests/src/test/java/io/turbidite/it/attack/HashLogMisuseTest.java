package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.LeaksOnPurpose;
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
import io.turbidite.hashlog.RecordSink;
import io.turbidite.hashlog.RejectedRecord;
import io.turbidite.hashlog.chain.Property;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfFunctions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * Every public method of a hash log's objects is called with nothing, on another log's objects, by
 * an interrupted thread, by one after the other of many threads, and out of everything that the log
 * calls back. It answers or refuses, comes back, and the log is as it was. Closed objects are the
 * hash log's own ClosedTest.
 */
class HashLogMisuseTest {
    private static final long SEED = Seeds.of("HashLogMisuseTest");
    private static final int SECONDS_MAX = 30;
    private static final int RECORDS = 20;

    /** What ends an object, and what is another room's. */
    private static final Set<String> NOT_CALLED = Set.of("close", "log");

    /** What the log calls back. */
    enum Callback {
        FUNCTION,
        LISTENER,
        SINK,
        PARALLEL_SINK
    }

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final AtomicReference<@Nullable Runnable> calledBack = new AtomicReference<>();
    private final List<String> wrong = new ArrayList<>();
    private int names;
    private int callCount;

    private HashLogOptions options() {
        return HashLogOptions.defaults()
                .withLog(LogOptions.of(new LogShape(16 << 10, 8, 4)))
                .withTable(8, 16 << 20)
                .withFunctions(new PsfFunctions(Map.of("back", (values, fields, result) -> {
                    callBack();
                    result.field(fields[0]);
                })));
    }

    /** Once: what it calls may lead here again. */
    private void callBack() {
        Runnable call = calledBack.getAndSet(null);
        if (call != null) {
            call.run();
        }
    }

    /** A log on threads of its own, with a session, a cursor, and so on. */
    private final class Opened implements AutoCloseable {
        final ThreadTasks tasks = ThreadTasks.create("misuse");
        final HashLog log;
        final IngestSession session;
        final Map<String, Object> objects = new HashMap<>();

        Opened(String name) {
            LogSite site = new LogSite(
                    name,
                    disk,
                    name,
                    tasks,
                    Clock.system(),
                    MemoryBudget.of(64 << 20),
                    new Meters(),
                    new StoreEvents());
            log = HashLog.create(site, options(), 0x1234_5678L + name.length());
            log.register("id", PsfDefinition.parse("field(id)"));
            log.register("back", PsfDefinition.parse("function(back, n)"));
            session = log.openSession("own", 0, rejected -> callBack());
            for (int i = 0; i < RECORDS; i++) {
                append(session, i, 1);
            }
            append(session, 0, 2); // the cursor's, which may delete it
            session.awaitDurable();
            LogCursor cursor = log.find(LogQuery.all());
            assertThat(cursor.next()).isTrue();
            objects.put("log", log);
            objects.put("session", session);
            objects.put("cursor", cursor);
            objects.put("subscription", log.subscribe(LogQuery.all(), false));
        }

        void isWhole() {
            int byScan = count(LogQuery.all().where("own == 1"));
            int byIndex = 0;
            for (int id = 0; id < 7; id++) {
                byIndex += count(LogQuery.property("id", Integer.toString(id)).where("own == 1"));
            }
            assertThat(byScan).isEqualTo(RECORDS);
            assertThat(byIndex).isEqualTo(RECORDS);
            try (IngestSession later = log.openSession("later" + names++)) {
                long before = later.acceptedCount();
                byte[] record = "{\"id\":1,\"n\":1}".getBytes(StandardCharsets.UTF_8);
                later.append(MemorySegment.ofArray(record), 0, record.length);
                later.awaitDurable();
                assertThat(later.acceptedCount()).isEqualTo(before + 1);
            }
        }

        private int count(LogQuery query) {
            int count = 0;
            try (LogCursor cursor = log.find(query)) {
                while (cursor.next()) {
                    count++;
                }
            }
            return count;
        }

        @Override
        public void close() {
            for (Object object : objects.values()) {
                try {
                    if (!(object instanceof HashLog)) {
                        ((AutoCloseable) object).close();
                    }
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
            log.close();
            tasks.close();
        }
    }

    private static void append(IngestSession session, int i, int own) {
        byte[] record = "{\"id\":%d,\"n\":%d,\"own\":%d}"
                .formatted(i % 7, i, own)
                .getBytes(StandardCharsets.UTF_8);
        assertThat(session.append(MemorySegment.ofArray(record), 0, record.length))
                .isTrue();
    }

    // ---- arguments
    // -------------------------------------------------------------------------------

    private static MemorySegment record() {
        return MemorySegment.ofArray("{\"id\":3,\"n\":3}".getBytes(StandardCharsets.UTF_8));
    }

    private @Nullable Object argument(Class<?> type) {
        RecordSink sink = (address, segment, offset, length) -> {};
        RejectedRecord.Listener listener = rejected -> {};
        Supplier<RecordSink> sinks = () -> sink;
        Map<Class<?>, Object> values = Map.ofEntries(
                Map.entry(String.class, "name" + names++),
                Map.entry(MemorySegment.class, record()),
                Map.entry(PsfDefinition.class, PsfDefinition.parse("field(x)")),
                Map.entry(Map.class, Map.of("name" + names++, PsfDefinition.parse("field(y)"))),
                Map.entry(LogQuery.class, LogQuery.all()),
                Map.entry(Property.class, Property.ofText(0, "1")),
                Map.entry(RecordSink.class, sink),
                Map.entry(RejectedRecord.Listener.class, listener),
                Map.entry(Supplier.class, sinks),
                Map.entry(int.class, 1),
                Map.entry(long.class, 0L),
                Map.entry(boolean.class, false));
        return values.get(type);
    }

    private @Nullable Object[] arguments(Method method, boolean withNothing) {
        Class<?>[] types = method.getParameterTypes();
        @Nullable Object[] arguments = new @Nullable Object[types.length];
        for (int i = 0; i < types.length; i++) {
            arguments[i] = withNothing ? PublicCalls.nothing(types[i]) : argument(types[i]);
        }
        return arguments;
    }

    // ---- calls
    // -----------------------------------------------------------------------------------

    private static @Nullable Throwable thrown(
            Object target, Method method, @Nullable Object[] arguments) {
        return PublicCalls.thrown(
                target, method, arguments, opened -> !(opened instanceof HybridLog));
    }

    private void judge(String what, @Nullable Throwable thrown, @Nullable Object[] arguments) {
        boolean lacks = false;
        for (Object argument : arguments) {
            lacks |= argument == null || argument.equals(-1) || argument.equals(-1L);
        }
        if (thrown instanceof StorageException said) {
            assertThat(said.getMessage()).as(what).isNotBlank().doesNotContain("failed: null");
        } else if (thrown != null && !(lacks && PublicCalls.isOfArgument(thrown))) {
            wrong.add(
                    "%s: %s at %s".formatted(what, thrown, PublicCalls.at(thrown.getStackTrace())));
        }
    }

    /** Whether it came back. */
    private boolean watched(String what, Runnable work) {
        callCount++;
        Throwable thrown = PublicCalls.start(what, () -> {
                    work.run();
                    return null;
                })
                .await(SECONDS_MAX);
        if (thrown != null && !(thrown instanceof StorageException)) {
            wrong.add(
                    "%s: %s at %s".formatted(what, thrown, PublicCalls.at(thrown.getStackTrace())));
        }
        return !(thrown instanceof PublicCalls.Hang);
    }

    private void callAll(String as, Opened opened, boolean withNothing, boolean interrupted) {
        opened.objects.forEach((name, object) -> {
            for (Method method : PublicCalls.methods(object, NOT_CALLED)) {
                if (withNothing && method.getParameterCount() == 0) {
                    continue;
                }
                String what = "%s: %s.%s".formatted(as, name, method.getName());
                @Nullable Object[] arguments = arguments(method, withNothing);
                watched(what, () -> {
                    if (interrupted) {
                        Thread.currentThread().interrupt();
                    }
                    judge(what, thrown(object, method, arguments), arguments);
                });
            }
        });
    }

    private void report(String how) {
        System.out.printf("HashLogMisuseTest: %d calls, %s%n", callCount, how);
        assertThat(wrong).isEmpty();
    }

    // ---- tests
    // -----------------------------------------------------------------------------------

    @Test
    @LeaksOnPurpose("a hanging call is reported")
    void nothing_for_an_argument_is_said_and_changes_nothing() {
        try (Opened opened = new Opened("log")) {
            callAll("null", opened, true, false);
            opened.isWhole();
        }
        report("null");
    }

    /** Each call is made by another thread, too: that of the one before has ended. */
    @Test
    @LeaksOnPurpose("a hanging call is reported")
    void an_interrupted_thread_is_answered_or_told_and_the_log_goes_on() {
        try (Opened opened = new Opened("log")) {
            callAll("interrupted", opened, false, true);
            opened.isWhole();
        }
        report("interrupted");
    }

    @Test
    void what_is_of_another_log_is_refused() {
        try (Opened one = new Opened("one");
                Opened other = new Opened("another");
                LogReader reader = other.log.openReader("reader")) {
            reader.protect();
            assertThatThrownBy(() -> one.log.walk(reader, Property.ofText(0, "1")))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> one.log.openSession("own"))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> one.log.find(LogQuery.property("nowhere", "1")))
                    .isInstanceOf(InvalidRequestException.class);
            other.log.register("far", PsfDefinition.parse("field(far)"));
            assertThatThrownBy(() -> one.log.subscribe(LogQuery.property("far", "1"), false))
                    .isInstanceOf(InvalidRequestException.class);
            reader.unprotect();
            one.isWhole();
            other.isWhole();
        }
    }

    @ParameterizedTest
    @EnumSource
    @LeaksOnPurpose("a hanging call is reported")
    void what_the_log_calls_back_may_call_everything(Callback from) {
        Opened opened = new Opened("log");
        boolean back = true;
        for (String name : List.of("log", "session", "cursor", "subscription")) {
            Object object = Objects.requireNonNull(opened.objects.get(name));
            for (Method method : PublicCalls.methods(object, NOT_CALLED)) {
                String what = "from %s: %s.%s".formatted(from, name, method.getName());
                @Nullable Object[] arguments = arguments(method, false);
                calledBack.set(() -> judge(what, thrown(object, method, arguments), arguments));
                back &= watched(what, () -> lead(from, opened));
                if (!back) {
                    report(from.name()); // the log hangs: nothing more can be asked of it
                }
                if (calledBack.getAndSet(null) != null) {
                    wrong.add(what + " was not called");
                }
            }
        }
        opened.isWhole();
        opened.close();
        report(from.name());
    }

    /** Has the log call back. */
    private void lead(Callback from, Opened opened) {
        MemorySegment record = record();
        switch (from) {
            case FUNCTION -> opened.session.append(record, 0, (int) record.byteSize());
            case LISTENER -> opened.session.append(record, 0, 5);
            case SINK -> {
                try (LogSubscription all = opened.log.subscribe(LogQuery.all(), false)) {
                    all.poll((address, segment, offset, length) -> callBack(), 1);
                }
            }
            case PARALLEL_SINK ->
                opened.log.findInParallel(
                        LogQuery.all(), 1, () -> (address, segment, offset, length) -> callBack());
        }
    }
}
