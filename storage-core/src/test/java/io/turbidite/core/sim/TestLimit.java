package io.turbidite.core.sim;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * No test waits for ever. Where nothing starts or ends for 20 minutes (in the long tier: 12 hours),
 * the JVM of the tests prints the stack of each thread and halts, and the build fails with the name
 * of the class. The slowest test of the default tier takes two minutes on two busy cores.
 *
 * <p>A {@code @Timeout} does not do that: on the test's own thread it can't end one that spins, and
 * on another the test would not run where its fixture was made. JUnit finds this class by the
 * service file that names {@link LeakCheck}.
 */
public final class TestLimit
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
    /** What the JVM ends with, so that a caller can tell it from a crash. */
    static final int HALTED = 70;

    private static final Duration LIMIT = Duration.ofMinutes(Tier.count(20, 20, 12 * 60));

    private static volatile Sign last = new Sign("the start", System.nanoTime());
    private static boolean isWatched;

    private record Sign(String of, long nanos) {}

    @Override
    public void beforeAll(ExtensionContext context) {
        watch(LIMIT);
        sign("before ", context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        sign("in ", context);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        sign("after ", context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        sign("after ", context);
    }

    private static void sign(String when, ExtensionContext context) {
        sign(when + context.getRequiredTestClass().getName() + " " + context.getDisplayName());
    }

    /** Something began or ended, and {@code what} is going on now. */
    static void sign(String what) {
        last = new Sign(what, System.nanoTime());
    }

    /** Watches this JVM from now on; the first limit holds. */
    static synchronized void watch(Duration limit) {
        if (isWatched) {
            return;
        }
        isWatched = true;
        Thread watcher = new Thread(() -> watchFor(limit), "limit of tests");
        watcher.setDaemon(true);
        watcher.start();
    }

    private static void watchFor(Duration limit) {
        while (true) {
            Sign sign = last;
            long left = sign.nanos() + limit.toNanos() - System.nanoTime();
            if (left <= 0) {
                halt(sign, limit);
            }
            LockSupport.parkNanos(left);
        }
    }

    /** Past the build's capture of standard error, which is written by and by. */
    private static void halt(Sign sign, Duration limit) {
        PrintStream out = new PrintStream(
                new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        out.println("nothing has ended for " + limit.toSeconds() + " s: " + sign.of());
        for (Map.Entry<Thread, StackTraceElement[]> each :
                Thread.getAllStackTraces().entrySet()) {
            out.println(each.getKey());
            for (StackTraceElement frame : each.getValue()) {
                out.println("    at " + frame);
            }
        }
        Runtime.getRuntime().halt(HALTED);
    }
}
