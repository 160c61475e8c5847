package io.turbidite.lsm.merge.run;

import io.turbidite.lsm.schedule.MergeScheduler;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Work under way that is advanced step by step, by several workers: says which goes on next.
 *
 * <p>Under {@link MergeScheduler#FAIR} those that wait go on in turn; under
 * {@link MergeScheduler#GREEDY} the one with the least left to do. While the I/O budget is the
 * narrow place, greedy gives all of it to one: {@code takersMax} is 1 then.
 *
 * <p><em>Thread-safe</em> by its monitor, held for no more than a walk over the queue.
 */
public final class RunQueue<J extends RunQueue.Job> {
    private final MergeScheduler scheduler;
    private final int takersMax;
    private final ArrayDeque<J> waiting = new ArrayDeque<>();
    private final List<J> taken = new ArrayList<>();

    /** Work that has steps. */
    @FunctionalInterface
    public interface Job {
        /** How much is left to do, in bytes; asked while the job waits. */
        long remainingBytes();
    }

    /**
     * @param takersMax how many may be advanced at the same time
     */
    public RunQueue(MergeScheduler scheduler, int takersMax) {
        this.scheduler = scheduler;
        this.takersMax = takersMax;
    }

    /** Lets a new job wait for its turn. */
    public synchronized void add(J job) {
        waiting.addLast(job);
    }

    /** The job whose turn it is, for one step; null if none waits or enough are taken. */
    public synchronized @Nullable J take() {
        if (waiting.isEmpty() || taken.size() >= takersMax) {
            return null;
        }
        J next = waiting.peekFirst();
        if (scheduler == MergeScheduler.GREEDY) {
            for (J job : waiting) {
                if (job.remainingBytes() < next.remainingBytes()) {
                    next = job;
                }
            }
        }
        waiting.remove(next);
        taken.add(next);
        return next;
    }

    /** The step is over, the job is not: it waits for its next turn, behind the others. */
    public synchronized void giveBack(J job) {
        remove(job);
        waiting.addLast(job);
    }

    /** A taken job is over. */
    public synchronized void remove(J job) {
        boolean was = taken.remove(job);
        assert was : job + " was not taken";
    }

    /** All that are under way, for their number and what they have left; a copy. */
    public synchronized List<J> jobs() {
        List<J> jobs = new ArrayList<>(taken);
        jobs.addAll(waiting);
        return jobs;
    }

    public synchronized int size() {
        return taken.size() + waiting.size();
    }
}
