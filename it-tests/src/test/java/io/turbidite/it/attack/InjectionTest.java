package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/**
 * Something is thrown, or the calling thread interrupted, at the nth call of the disk, for every n in turn,
 * below every kind of public call. Each call comes back within ten seconds, with what was thrown or a
 * {@link StorageException}; what was acknowledged is there after reopening, and the store is sound.
 */
class InjectionTest {
    private static final long SEED = Seeds.of("InjectionTest");

    /** Every so manyth call of the disk. */
    private static final int STRIDE = Tier.count(31, 7, 1);

    /** The trace on threads and a real disk takes longer. */
    private static final int INTERRUPT_STRIDE = Tier.count(97, 31, 3);

    private static final long MILLIS_MAX = 10_000;

    /** What no part of the store expects from a disk. */
    enum Thrown {
        OUT_OF_MEMORY {
            @Override
            Error make() {
                return new OutOfMemoryError("injected");
            }
        },
        STACK_OVERFLOW {
            @Override
            Error make() {
                return new StackOverflowError("injected");
            }
        },
        ASSERTION {
            @Override
            Error make() {
                return new AssertionError("injected");
            }
        };

        abstract Error make();
    }

    /** A trace of public calls, and what it knows to be acknowledged. */
    private static final class Trace {
        private final Map<Long, String> acknowledged = new TreeMap<>();
        private final Map<Long, String> attempted = new TreeMap<>();
        private final List<String> wrong = new ArrayList<>();
        private final Function<Disk, Store> opener;
        private @Nullable Store store;

        Trace(Function<Disk, Store> opener) {
            this.opener = opener;
        }

        /** Ends early where the store or the dataset could not be had. */
        void run(Disk disk) {
            step("open", () -> store = opener.apply(disk));
            Store opened = store;
            if (opened == null) {
                return;
            }
            step(
                    "createDataset",
                    () -> opened.createDataset(DatasetSpec.named("T")
                            .field("id", "int64")
                            .field("user", "string")
                            .primaryKey("id")
                            .index(IndexSpec.btree("by_user", "user"))));
            Dataset dataset = opened.findDataset("T");
            if (dataset != null) {
                calls(opened, dataset);
            }
            step("close", opened::close);
        }

        private void calls(Store opened, Dataset dataset) {
            Map<String, Runnable> calls = new LinkedHashMap<>();
            calls.put("upsert", () -> write(dataset, 0, 12, "a"));
            calls.put("flush", dataset::flush);
            calls.put("upsert again", () -> write(dataset, 6, 12, "b"));
            calls.put("createIndex", () -> dataset.createIndex(IndexSpec.btree("by_id", "id")));
            calls.put("flush again", dataset::flush);
            calls.put("merge", dataset::mergeAll);
            calls.put("snapshot", () -> {
                try (Snapshot snapshot = opened.openSnapshot()) {
                    assertThat(snapshot).isNotNull();
                }
            });
            calls.put("search", () -> search(dataset));
            calls.put("disableIndex", () -> dataset.disableIndex("by_id"));
            calls.put("enableIndex", () -> dataset.enableIndex("by_id"));
            calls.put("repair", dataset::repair);
            calls.put("load", () -> load(opened));
            calls.put("sync", opened::sync);
            calls.put("verify", opened::verify);
            calls.put("dropIndex", () -> dataset.dropIndex("by_id"));
            calls.put("dropDataset", () -> opened.dropDataset("Loaded"));
            calls.put("upsert at last", () -> write(dataset, 12, 12, "c"));
            calls.forEach(this::step);
        }

        private static void load(Store opened) {
            Dataset loaded = opened.createDataset(
                    DatasetSpec.named("Loaded").field("id", "int64").primaryKey("id"));
            try (BulkLoader loader = loaded.bulkLoad(5)) {
                for (long id = 0; id < 5; id++) {
                    loader.add(loaded.newRecordWriter().write(Map.of("id", id)));
                }
                loader.finish();
            }
        }

        private void write(Dataset dataset, long from, int count, String user) {
            for (long id = from; id < from + count; id++) {
                attempted.put(id, user);
                dataset.upsert(Map.of("id", id, "user", user));
                acknowledged.put(id, user);
                attempted.remove(id);
            }
        }

        private static void search(Dataset dataset) {
            try (ReadView view = dataset.openView();
                    IndexCursor cursor =
                            view.search(0, "by_user", KeyRange.all(), FilterPredicate.none())) {
                while (cursor.next()) {
                    assertThat(cursor.secondaryKey()).isNotNull();
                }
            }
        }

        private void step(String name, Runnable call) {
            long begin = System.nanoTime();
            try {
                call.run();
            } catch (StorageException told) {
                if (String.valueOf(told.getMessage()).contains("failed: null")) {
                    wrong.add("%s: %s".formatted(name, told));
                }
            } catch (Error | RuntimeException thrown) {
                if (!isInjected(thrown)) {
                    wrong.add("%s: %s".formatted(name, thrown));
                }
            }
            long millis = (System.nanoTime() - begin) / 1_000_000;
            if (millis > MILLIS_MAX) {
                wrong.add("%s took %d ms".formatted(name, millis));
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

        /** What the sound disk holds afterwards. */
        void check(Disk disk) {
            try (Store reopened = opener.apply(disk)) {
                Dataset dataset = reopened.findDataset("T");
                acknowledged.forEach((id, user) -> {
                    Map<String, ?> record = dataset == null ? null : dataset.get(id);
                    Object found = record == null ? null : record.get("user");
                    if (!user.equals(found)
                            && !String.valueOf(attempted.get(id)).equals(found)) {
                        wrong.add("%d is %s and not %s".formatted(id, found, user));
                    }
                });
                wrong.addAll(
                        reopened.verify().errors().stream().map(String::valueOf).toList());
            }
        }
    }

    private static Store simulated(Disk disk) {
        SimClock clock = new SimClock();
        return Store.open(disk, new SimTasks(SEED, clock), clock, StoreModel.options());
    }

    /** Runs the trace in a thread that is given up on when it hangs. */
    private static void watched(Trace trace, Runnable run, String as) throws InterruptedException {
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        run.run();
                    } catch (Throwable e) {
                        failure.set(e);
                    }
                },
                "injected");
        thread.setDaemon(true);
        thread.start();
        thread.join(12 * MILLIS_MAX);
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
        assertThat(trace.wrong).as(as).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    @LeaksOnPurpose("a store whose opening or closing was broken leaves what it held")
    void what_is_thrown_below_any_call_leaves_the_store_good_or_stopped(Thrown kind)
            throws InterruptedException {
        AtomicLong calls = new AtomicLong();
        SimDisk counted = new SimDisk(SEED, Profile.STRICT);
        counted.onOperation(step -> calls.incrementAndGet());
        Trace whole = new Trace(InjectionTest::simulated);
        watched(whole, () -> whole.run(counted), "whole");
        List<AssertionError> failures = new ArrayList<>();
        List<Thrown> kinds = List.of(Thrown.values());
        long begin = kinds.indexOf(kind) * (long) STRIDE / kinds.size();
        for (long at = begin; at < calls.get(); at += STRIDE) {
            String as =
                    "%s at call %d; %s".formatted(kind, at, Seeds.replay("InjectionTest", SEED));
            SimDisk disk = new SimDisk(SEED, Profile.STRICT);
            AtomicLong left = new AtomicLong(at);
            disk.onOperation(step -> {
                if (left.getAndDecrement() == 0) {
                    throw kind.make();
                }
            });
            Trace trace = new Trace(InjectionTest::simulated);
            try {
                watched(trace, () -> trace.run(disk), as);
                disk.onOperation(step -> {});
                SimDisk after = disk.copy();
                watched(trace, () -> trace.check(after), as);
            } catch (AssertionError e) {
                failures.add(e);
            }
        }
        // all of them are looked at, so that one run shows every hole
        assertThat(failures).isEmpty();
        System.out.printf(
                "InjectionTest: %s at every %d. of %d calls%n", kind, STRIDE, calls.get());
    }

    /** Calls {@code before} before each call of the disk and its files. */
    private static Disk watching(Disk disk, Runnable before) {
        return proxy(Disk.class, disk, before);
    }

    private static <T> T proxy(Class<T> type, T target, Runnable before) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    before.run();
                    try {
                        Object answer = method.invoke(target, arguments);
                        return answer instanceof DiskFile file
                                ? proxy(DiskFile.class, file, before)
                                : answer;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    @Test
    @LeaksOnPurpose("a store whose opening or closing was broken leaves what it held")
    void an_interrupt_at_any_call_of_the_disk_is_told_by_name(@TempDir Path directory)
            throws InterruptedException {
        long calls = interrupted(directory.resolve("whole"), Long.MAX_VALUE, "whole");
        for (long at = 0; at < calls; at += INTERRUPT_STRIDE) {
            interrupted(
                    directory.resolve("store" + at),
                    at,
                    "interrupt at call %d; %s".formatted(at, Seeds.replay("InjectionTest", SEED)));
        }
        System.out.printf(
                "InjectionTest: interrupts at every %d. of %d calls%n", INTERRUPT_STRIDE, calls);
    }

    /** The number of calls that the caller's thread made. */
    private static long interrupted(Path directory, long at, String as)
            throws InterruptedException {
        AtomicLong made = new AtomicLong();
        Trace trace = new Trace(disk -> Store.open(
                disk, ThreadTasks.create("injected"), Clock.system(), StoreModel.options()));
        watched(
                trace,
                () -> {
                    Thread caller = Thread.currentThread();
                    trace.run(watching(RealDisk.open(directory), () -> {
                        if (Thread.currentThread().equals(caller) && made.getAndIncrement() == at) {
                            caller.interrupt();
                        }
                    }));
                },
                as);
        watched(trace, () -> trace.check(RealDisk.open(directory)), as);
        return made.get();
    }
}
