package io.turbidite.ops.run;

import io.turbidite.core.Cleanup;

/**
 * One branch on its way: opens on the first step, closes at the end, fails and closes on an
 * exception. <em>Confined to one thread at a time.</em>
 */
final class BranchRun {
    private final Stage.Branch branch;
    private final RunOptions options;
    private boolean opened;
    private boolean ended;

    /**
     * @param options who may stop it: asked before each step
     */
    BranchRun(Stage.Branch branch, RunOptions options) {
        this.branch = branch;
        this.options = options;
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
