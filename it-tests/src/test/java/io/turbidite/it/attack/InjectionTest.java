package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Something is thrown, or the calling thread interrupted, at the nth call of the disk, for every n
 * in turn, below every kind of public call. Each call comes back within ten seconds, with what was
 * thrown or a {@link StorageException}; what was acknowledged is there after reopening, and the
 * store is sound.
 */
class InjectionTest {
    private static final long SEED = Seeds.of("InjectionTest");

    /** Every so manyth call of the disk. */
    private static final int STRIDE = Tier.count(31, 7, 1);

    /** The trace on threads and a real disk takes longer. */
    private static final int INTERRUPT_STRIDE = Tier.count(97, 31, 3);

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

    private static Store simulated(Disk disk) {
        SimClock clock = new SimClock();
        return Store.open(disk, new SimTasks(SEED, clock), clock, StoreModel.options());
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
        whole.watched(() -> whole.run(counted), "whole");
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
                trace.watched(() -> trace.run(disk), as);
                disk.onOperation(step -> {});
                SimDisk after = disk.copy();
                trace.watched(() -> trace.check(after), as);
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
        trace.watched(
                () -> {
                    Thread caller = Thread.currentThread();
                    trace.run(watching(RealDisk.open(directory), () -> {
                        if (Thread.currentThread().equals(caller) && made.getAndIncrement() == at) {
                            caller.interrupt();
                        }
                    }));
                },
                as);
        trace.watched(() -> trace.check(RealDisk.open(directory)), as);
        return made.get();
    }
}
