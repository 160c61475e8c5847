package io.turbidite.feeds.command.query;

import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.RowOutput;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.catalog.StoreCatalog;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.job.JobGraph;
import io.turbidite.ops.job.JobParts;
import io.turbidite.ops.run.RunOptions;

import java.io.UncheckedIOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One job: a class of its own, because those of all commands are looked through at every start, and
 * what their methods take is loaded then.
 */
final class JobAnswer {
    private final Console console;
    private final Store store;
    private final JobGraph graph;

    JobAnswer(Console console, Store store, String text) {
        this.console = console;
        this.store = store;
        this.graph = JobGraph.fromJson(
                text, JobParts.of(store.datasets()).changing(StoreCatalog.of(store, false)));
    }

    /** Whether a job changes the store. */
    static boolean changes(String text) {
        return JobGraph.changes(text);
    }

    /** Draws it; returns the exit code. */
    int explain(boolean json) {
        console.out().print(json ? graph.toJson() : graph.draw());
        console.out().flush();
        return ExitCode.OK;
    }

    /** Runs it and prints its rows; returns the exit code. */
    int print(boolean json) {
        AtomicBoolean stopped = new AtomicBoolean();
        try (Interrupts.Watch watch = console.interrupts().watch(() -> stopped.set(true))) {
            RunOptions options = RunOptions.defaults()
                    .withSpill(store.environment().disk(), StoreFiles.SPILL)
                    .withTasks(store.environment().tasks())
                    .withStop(stopped::get);
            long startNanos = console.clock().monotonicNanos();
            long rows;
            JobQuery job = JobQuery.of(graph).with(options);
            try (QueryResult result = job.run()) {
                rows = result.forEachJson(new RowOutput(console.out()));
            } catch (CancellationException e) {
                tellChanged(job);
                return ExitCode.INTERRUPTED;
            } catch (UncheckedIOException e) {
                // nobody reads on; whether that is worth a word, Main knows
                return ExitCode.FAILED;
            } catch (RuntimeException e) {
                tellChanged(job);
                throw e;
            }
            if (console.terminal() && !json) {
                double millis = Words.toMillis(console.clock().monotonicNanos() - startNanos);
                console.err()
                        .println("%s in %s"
                                .formatted(Words.count(rows, "row"), Words.millis(millis)));
            }
            return watch.interrupted() ? ExitCode.INTERRUPTED : ExitCode.OK;
        }
    }

    /** Batches stay that were written before a failure. */
    private void tellChanged(JobQuery failed) {
        failed.changed().forEach((sink, count) -> {
            if (count > 0) {
                console.err()
                        .println("turbidite: operator '%s': %s changed before the job ended"
                                .formatted(sink, Words.count(count, "record")));
            }
        });
    }
}
