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
    private boolean opened;
    private boolean ended;

    /**
     * @param options who may stop it: asked before each step
     */
    BranchRun(Stage.Branch branch, RunOptions options) {
        this.branch = branch;
        this.options = options;
        this.clock = options.clock();
    }

    /** Whether there may be more to do. */
    boolean step() {
        if (ended) {
            return false;
        }
        try {
            options.checkNotStopped();
            if (!opened) {
                opened = true;
                branch.first().open();
                branch.source().open();
            }
            boolean more = clock == null ? branch.source().step() : timedStep(clock);
            if (!more) {
                end();
            }
            return more;
        } catch (RuntimeException | Error e) {
            new Cleanup().add(this::abandon).runAfter(e);
            throw e;
        }
    }

    private boolean timedStep(Clock of) {
        long begun = of.threadNanos();
        try {
            return branch.source().step();
        } finally {
            long took = of.threadNanos() - begun;
            branch.timed().forEach(meter -> meter.work().took(took));
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
