package io.turbidite.ops.run;

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
     * Goes on until the last stage has pushed a frame or is at its end; the first call runs all
     * stages before it.
     *
     * @return whether there may be more
     */
    public boolean step() {
        if (ended) {
            return false;
        }
        if (last == null) {
            for (Stage stage : stages.subList(0, stages.size() - 1)) {
                runWhole(stage);
            }
            last = newRun(stages.getLast().branches().getFirst());
        }
        ended = !last.step();
        return !ended;
    }

    /** Releases everything that any stage holds; what was not read is dropped. */
    @Override
    public void close() {
        ended = true;
        Cleanup cleanup = new Cleanup();
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

    private void runWhole(Stage stage) {
        List<BranchRun> runs = stage.branches().stream().map(this::newRun).toList();
        Tasks tasks = options.tasks();
        if (tasks == null || runs.size() == 1) {
            for (BranchRun run : runs) {
                while (run.step()) {
                    // each step does a frame's worth of work
                }
            }
            return;
        }
        SideBySide.run(tasks, runs);
    }
}
