package io.turbidite.ops.run;

import io.turbidite.core.Cleanup;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

/**
 * One branch on its way: opens on the first step, closes at the end, fails and closes on an
 * exception. <em>Confined to one thread at a time.</em>
 */
final class BranchRun {
    private final Stage.Branch branch;
    private final RunOptions options;
    private final @Nullable Clock clock;

    /** Who waits for it where it runs beside others; null: its steps are the reader's. */
    private final @Nullable Thread waiting;

    private boolean opened;
    private boolean ended;

    /**
     * @param options who may stop it: asked before each step
     */
    BranchRun(Stage.Branch branch, RunOptions options) {
        this(branch, options, null);
    }

    private BranchRun(Stage.Branch branch, RunOptions options, @Nullable Thread waiting) {
        this.waiting = waiting;
        this.branch = branch;
        this.options = options;
        this.clock = options.clock();
    }

    /** One that workers step, or the thread that makes it and waits for them. */
    static BranchRun sideBySide(Stage.Branch branch, RunOptions options) {
        return new BranchRun(branch, options, Thread.currentThread());
    }

    /** Whether there may be more to do. */
    boolean step() {
        Clock timing = clock;
        if (ended || timing == null) {
            return !ended && move();
        }
        // with opening and end: a sort is done when what it has collected is opened
        long begun = timing.threadNanos();
        try {
            return move();
        } finally {
            long took = timing.threadNanos() - begun;
            boolean isBeside = waiting != null && !waiting.equals(Thread.currentThread());
            branch.timed().forEach(meter -> meter.work().tookExactly(took, isBeside));
        }
    }

    private boolean move() {
        try {
            options.checkNotStopped();
            if (!opened) {
                opened = true;
                branch.first().open();
                branch.source().open();
            }
            boolean more = branch.source().step();
            if (!more) {
                end();
            }
            return more;
        } catch (RuntimeException | Error e) {
            new Cleanup().add(this::abandon).runAfter(e);
            throw e;
        }
    }

    /** Whether the last step stopped because nothing is there yet. */
    boolean isPaused() {
        return !ended && branch.source().isPaused();
    }

    /** Ends it before its source does. */
    void abandon() {
        if (opened && !ended) {
            new Cleanup().add(branch.first()::fail).add(this::end).run();
        }
    }

    private void end() {
        ended = true;
        new Cleanup().add(branch.source()::close).add(branch.first()::close).run();
    }
}
