package io.turbidite.ops.cluster;

import org.apache.hyracks.api.job.IJobLifecycleListener;
import org.apache.hyracks.api.job.JobId;
import org.apache.hyracks.api.job.JobSpecification;
import org.apache.hyracks.api.job.JobStatus;
import org.apache.hyracks.api.result.IResultManager;
import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Who is told that a job has failed or ended, by its name. <em>Thread-safe.</em> */
final class JobEnds implements IJobLifecycleListener {
    private final Map<String, Waiting> waiting = new ConcurrentHashMap<>();
    private final Map<JobId, String> names = new ConcurrentHashMap<>();

    /** The node whose task was the first to fail. */
    private final Map<JobId, String> failedNodes = new ConcurrentHashMap<>();

    private volatile @Nullable IResultManager results;

    /**
     * Who waits for a job.
     *
     * @param failed told that it has failed; tasks may be at work still
     * @param ended told that no task is at work any more, and why; null: it went well
     */
    record Waiting(Consumer<Throwable> failed, Consumer<@Nullable Throwable> ended) {}

    /** The engine's list of results, from which jobs that have ended are taken. */
    void forgetIn(IResultManager list) {
        results = list;
    }

    void expect(String name, Waiting who) {
        waiting.put(name, who);
    }

    /** Tells that a job has ended; later calls tell nobody. */
    void tell(String name, @Nullable Throwable cause) {
        Waiting who = waiting.remove(name);
        if (who != null) {
            who.ended().accept(cause);
        }
    }

    /** All jobs are ended because of this, whatever their tasks tell. */
    void failAll(Throwable cause) {
        waiting.values().forEach(who -> who.failed().accept(cause));
    }

    void tellAll(Throwable cause) {
        waiting.keySet().forEach(name -> tell(name, cause));
    }

    /** A task of a job has failed on a node. */
    void failedOn(JobId id, String node) {
        // under the lock of its name, which its end takes away first: none is kept behind it
        names.computeIfPresent(id, (job, name) -> {
            failedNodes.putIfAbsent(job, node);
            return name;
        });
    }

    /** A job has failed, and its tasks are ordered to end. */
    void failed(JobId id, JobStatus status, @Nullable List<Exception> exceptions) {
        String name = names.get(id);
        Waiting who = name == null ? null : waiting.get(name);
        Throwable cause = causeOf(id, status, exceptions);
        if (who != null && cause != null) {
            who.failed().accept(cause);
        }
    }

    @Override
    public void notifyJobCreation(JobId id, JobSpecification job) {
        names.put(id, String.valueOf(job.getProperty(JobMaker.NAME)));
    }

    @Override
    public void notifyJobStart(JobId id) {
        // its reader waits for rows
    }

    @Override
    public void notifyJobFinish(JobId id, JobStatus status, @Nullable List<Exception> exceptions) {
        String name = names.remove(id);
        Throwable cause = causeOf(id, status, exceptions);
        failedNodes.remove(id);
        if (name != null) {
            tell(name, cause);
        }
        IResultManager list = results;
        if (list != null) {
            // it would keep a record of each job for a day
            list.sweep(id);
        }
    }

    private @Nullable Throwable causeOf(
            JobId id, JobStatus status, @Nullable List<Exception> exceptions) {
        if (exceptions == null || exceptions.isEmpty()) {
            return status == JobStatus.TERMINATED
                    ? null
                    : new ClusterException("the job ended as " + status, null);
        }
        Exception first = exceptions.getFirst();
        for (Exception other : exceptions.subList(1, exceptions.size())) {
            attach(other, first);
        }
        String node = failedNodes.get(id);
        return node == null ? first : Failures.at(node, first);
    }

    @SuppressWarnings("ReferenceEquality") // an exception can't be attached to itself
    private static void attach(Exception next, Exception first) {
        if (next != first && !List.of(first.getSuppressed()).contains(next)) {
            first.addSuppressed(next);
        }
    }
}
