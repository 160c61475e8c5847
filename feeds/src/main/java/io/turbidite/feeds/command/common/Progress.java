package io.turbidite.feeds.command.common;

import io.turbidite.feeds.FeedProgress;

import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

import org.jspecify.annotations.Nullable;

import java.io.PrintStream;

/** A bar of the source's bytes on a terminal, nothing elsewhere; gone when closed. */
public final class Progress implements FeedProgress, AutoCloseable {
    /** Fits the narrowest usual terminal. */
    private static final int WIDTH_CHARS = 79;

    private static final int INTERVAL_MILLIS = 200;

    private final @Nullable ProgressBar bar;
    private final PrintStream err;

    private Progress(@Nullable ProgressBar bar, PrintStream err) {
        this.bar = bar;
        this.err = err;
    }

    public static Progress of(Console console, String task) {
        if (!console.terminal()) {
            return new Progress(null, console.err());
        }
        return new Progress(
                new ProgressBarBuilder()
                        .setTaskName(task)
                        .setStyle(ProgressBarStyle.ASCII)
                        .setUnit(" MiB", 1 << 20)
                        .setInitialMax(1)
                        .setUpdateIntervalMillis(INTERVAL_MILLIS)
                        .setConsumer(new ConsoleProgressBarConsumer(console.err(), WIDTH_CHARS))
                        .clearDisplayOnFinish()
                        .build(),
                console.err());
    }

    @Override
    public void at(long records, long rejected, long sourceBytes, long sourceBytesTotal) {
        if (bar != null) {
            bar.maxHint(Math.max(1, Math.max(sourceBytesTotal, sourceBytes))); // 0: without end
            bar.stepTo(
                    Math.max(bar.getCurrent(), sourceBytes)); // a stopped run begins no file anew
            bar.setExtraMessage(" " + Words.count(records, "record"));
        }
    }

    @Override
    public void away(String why) {
        err.println("note: %s; waits until it is back".formatted(why));
    }

    @Override
    public void close() {
        if (bar != null) {
            bar.close();
        }
    }
}
