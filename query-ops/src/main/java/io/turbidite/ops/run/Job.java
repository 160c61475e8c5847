package io.turbidite.ops.run;

import io.turbidite.core.Cleanup;
import io.turbidite.core.task.Tasks;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * Stages of operators, run one after the other; the last one step by step, as its reader wants
 * rows.
 *
 * <p>Owned by a query's result. <em>Confined to one thread at a time</em>; the branches of a stage
 * other than the last run on workers of their own if there are {@link Tasks}.
 */
public final class Job implements AutoCloseable {
    private final List<Stage> stages;
    private final RunOptions options;
    private @Nullable BranchRun last;

    /** The branch of an earlier stage that is under way on this thread. */
    private @Nullable BranchRun running;

    /** What there is to do in the stage that is under way; null: it was not begun. */
    private @Nullable List<Stage.Branch> branches;

    private int stageIndex;
    private int branchIndex;
    private boolean ended;

    /**
     * @param stages the last has one branch
     * @param options whether branches run side by side, and who may stop them
     */
    public Job(List<Stage> stages, RunOptions options) {
        this.stages = List.copyOf(stages);
        this.options = options;
        assert stages.getLast().branches().size() == 1 : "a result has one reader";
    }

    /**
     * Goes on until the last stage has pushed a frame, is at its end or {@link #isPaused}; the
     * first calls run all stages before it.
     *
     * @return whether there may be more
     */
    public boolean step() {
        if (ended) {
            return false;
        }
        if (last == null) {
            if (!runEarlier()) {
                return true;
            }
            last = newRun(stages.getLast().branches().getFirst());
        }
        ended = !last.step();
        return !ended;
    }

    /** Whether the last step stopped because nothing is there yet. */
    public boolean isPaused() {
        BranchRun run = last == null ? running : last;
        return run != null && run.isPaused();
    }

    /** Releases everything that any stage holds; what was not read is dropped. */
    @Override
    public void close() {
        ended = true;
        Cleanup cleanup = new Cleanup();
        if (running != null) {
            cleanup.add(running::abandon);
        }
        if (last != null) {
            cleanup.add(last::abandon);
        }
        for (Stage stage : stages) {
            cleanup.addAll(stage.branches(), branch -> branch.source().close());
        }
        cleanup.run();
    }

    private BranchRun newRun(Stage.Branch branch) {
        return new BranchRun(branch, options);
    }

    /** Whether all stages but the last are at their end; else one of them is paused. */
    private boolean runEarlier() {
        while (stageIndex < stages.size() - 1) {
            List<Stage.Branch> begun = branches;
            if (begun == null) {
                // what an earlier stage found may leave nothing for some of them
                begun = stages.get(stageIndex).branches().stream()
                        .filter(branch -> !branch.source().hasNothing())
                        .toList();
                branches = begun;
            }
            Tasks tasks = options.tasks();
            if (tasks != null && begun.size() > 1) {
                SideBySide.run(
                        tasks,
                        options.share(),
                        begun.stream()
                                .map(branch -> BranchRun.sideBySide(branch, options))
                                .toList());
            } else if (!runInTurn(begun)) {
                return false;
            }
            branches = null;
            stageIndex++;
        }
        return true;
    }

    private boolean runInTurn(List<Stage.Branch> begun) {
        for (; branchIndex < begun.size(); branchIndex++) {
            BranchRun run = running == null ? newRun(begun.get(branchIndex)) : running;
            running = run;
            while (run.step()) {
                // each step does a frame's worth of work
                if (run.isPaused()) {
                    return false;
                }
            }
            running = null;
        }
        branchIndex = 0;
        return true;
    }
}
