package io.turbidite.feeds.command.common;

import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A bar of work that goes on by itself and can be asked how far it is: on a terminal, nothing
 * elsewhere; gone when closed. A thread of its own asks, some times a second.
 */
public final class WatchedProgress implements AutoCloseable {
    /** Fits the narrowest usual terminal. */
    private static final int WIDTH_CHARS = 79;

    private static final int INTERVAL_MILLIS = 200;

    private final @Nullable ProgressBar bar;
    private final @Nullable ScheduledExecutorService asking;

    private WatchedProgress(@Nullable ProgressBar bar, @Nullable ScheduledExecutorService asking) {
        this.bar = bar;
        this.asking = asking;
    }

    /** Nobody watches. */
    static WatchedProgress none() {
        return new WatchedProgress(null, null);
    }

    /** Work that is counted in bytes. */
    public static WatchedProgress ofBytes(
            Console console, String task, LongSupplier done, LongSupplier total) {
        return of(console, task, " MiB", 1 << 20, done, total);
    }

    /** Work that is counted in entries of indexes. */
    public static WatchedProgress ofEntries(
            Console console, String task, LongSupplier done, LongSupplier total) {
        return of(console, task, " entries", 1, done, total);
    }

    private static WatchedProgress of(
            Console console,
            String task,
            String unit,
            long unitSize,
            LongSupplier done,
            LongSupplier total) {
        if (!console.terminal()) {
            return none();
        }
        ProgressBar bar = new ProgressBarBuilder()
                .setTaskName(task)
                .setStyle(ProgressBarStyle.ASCII)
                .setUnit(unit, unitSize)
                .setInitialMax(1)
                .setUpdateIntervalMillis(INTERVAL_MILLIS)
                .setConsumer(new ConsoleProgressBarConsumer(console.err(), WIDTH_CHARS))
                .clearDisplayOnFinish()
                .build();
        ScheduledExecutorService asking = Executors.newSingleThreadScheduledExecutor(
                work -> Thread.ofPlatform().daemon().name("progress").unstarted(work));
        var _ = asking.scheduleWithFixedDelay(
                () -> show(bar, done.getAsLong(), total.getAsLong()),
                0,
                INTERVAL_MILLIS,
                TimeUnit.MILLISECONDS);
        return new WatchedProgress(bar, asking);
    }

    /** What was estimated may turn out to be more. */
    private static void show(ProgressBar bar, long done, long total) {
        bar.maxHint(Math.max(1, Math.max(total, done)));
        bar.stepTo(Math.max(bar.getCurrent(), done));
    }

    @Override
    public void close() {
        if (asking != null && bar != null) {
            asking.close();
            bar.close();
        }
    }
}
