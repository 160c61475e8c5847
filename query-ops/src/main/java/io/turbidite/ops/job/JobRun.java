package io.turbidite.ops.job;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.task.Tasks;
import io.turbidite.ops.exchange.Exchange;
import io.turbidite.ops.exchange.JobFrames;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.job.GraphCheck.Checked;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * A job on its way, and the rows of its result.
 *
 * <p>Operators behind one another by one-to-one connectors are pulled by one worker, the last of
 * them by the reader of the result. Where rows go to others, a worker writes them into an {@link
 * Exchange}. Workers of an exchange are started when its first consumer asks for a row. A worker
 * whose queue is full, or whose input is empty, rests until it is woken.
 *
 * <p>The first failure ends the job and is thrown to the reader; what fails after it is attached to
 * it. Without {@link Tasks} the reader's thread steps the workers itself, one after another.
 *
 * <p>Thread rule: the reader's calls are <em>confined to one thread at a time</em>; workers reach
 * the failure and the list of workers by one lock, the rest by volatiles.
 */
final class JobRun implements Rows {
    /** Frames that wait for a consumer, at most. */
    static final int CAPACITY = 4;

    /** A worker that is not woken looks all the same; the time only bounds a lost wake. */
    private static final long IDLE_MICROS = 50_000;

    private final Map<String, Checked> operators = new HashMap<>();
    private final RunOptions options;
    private final MemoryBudget.Account account;
    private final JobFrames frames;
    private final long frameBytesMax;
    private final Map<String, Exchange> exchanges = new HashMap<>();
    private final Map<String, List<StageWorker>> workers = new HashMap<>();
    private final List<Tasks.Worker> started = new ArrayList<>();
    private final List<StageWorker> running = new ArrayList<>();
    private final StageWorker.Turn turn = new StageWorker.Turn();

    /** Changes whenever the reader may find more than before. */
    private final AtomicLong news = new AtomicLong();

    private final ReentrantLock lock = new ReentrantLock();
    private final Rows result;
    private volatile @Nullable Throwable failure;
    private volatile boolean stopped;
    private boolean closed;

    /**
     * Builds all operators; opens none.
     *
     * @param views what sources read, by dataset
     * @param capacity frames that wait for a consumer
     */
    JobRun(
            JobGraph graph,
            JobParts parts,
            Map<String, ReadView> views,
            Meters meters,
            RunOptions options,
            int capacity) {
        graph.checked().forEach(operator -> operators.put(operator.name(), operator));
        this.options = options;
        long frameCount = frameCount(graph, capacity);
        int frameBytes = frameBytes(frameCount, options.memoryBytesMax());
        long frameMemory = Math.max(1, frameCount * frameBytes);
        this.frameBytesMax = frameMemory;
        this.account = MemoryBudget.of(Math.max(frameMemory, options.memoryBytesMax()))
                .account("exchanges of a job");
        this.frames =
                new JobFrames(account, frameBytes, frameCount, laneCount(graph), options.share());
        RunOptions each = options.toBuilder()
                .memoryBytesMax(share(graph, options.memoryBytesMax() - frameMemory))
                // an operator is run by one worker
                .tasks(null)
                .stop(() -> stopped || options.stop().getAsBoolean())
                .build();
        for (Checked operator : graph.checked()) {
            JobConnector output = operator.output();
            if (output != null && !operator.isFollowed()) {
                exchanges.put(operator.name(), exchange(operator, output, capacity));
            }
        }
        InstanceBuilder builder = new InstanceBuilder(
                graph,
                parts,
                views,
                (from, partition) -> {
                    Exchange exchange = exchanges.get(from.name());
                    return exchange == null ? null : () -> exchange.rows(partition);
                },
                (operator, partition, view) ->
                        InstanceBuilder.reads(graph, operator, partition, view),
                meters,
                each);
        for (Checked operator : graph.checked()) {
            Exchange exchange = exchanges.get(operator.name());
            if (exchange != null) {
                workers.put(operator.name(), workers(operator, exchange, builder));
            }
        }
        this.result = builder.rows(graph.checked().getLast(), 0, turn);
    }

    /**
     * Counts the rows of each operator, all its partitions together.
     *
     * @param changed what sinks have done
     */
    record Meters(Map<String, OperatorMeter> byOperator, ChangedCounts changed) {
        static Meters of(JobGraph graph, ChangedCounts changed) {
            Map<String, OperatorMeter> meters = new HashMap<>();
            graph.operators().forEach(one -> meters.put(one.name(), new OperatorMeter()));
            return new Meters(meters, changed);
        }

        OperatorMeter of(String operator) {
            return Objects.requireNonNull(byOperator.get(operator), operator);
        }
    }

    private static Exchange.Way way(JobConnector connector) {
        return switch (connector.kind()) {
            case HASH -> Exchange.Way.HASH;
            case BROADCAST -> Exchange.Way.BROADCAST;
            case ROUND_ROBIN -> Exchange.Way.ROUND_ROBIN;
            case MERGING -> Exchange.Way.MERGE;
            case ONE_TO_ONE -> throw new IllegalStateException(connector + " is no exchange");
        };
    }

    // ---- memory ---------------------------------------------------------------------------------

    private long frameCount(JobGraph graph, int capacity) {
        long count = 0;
        for (Checked operator : graph.checked()) {
            JobConnector output = operator.output();
            if (output != null && !operator.isFollowed()) {
                count += Exchange.frameCountMax(
                        way(output),
                        operator.operator().partitions(),
                        partitions(output.to()),
                        capacity);
            }
        }
        return count;
    }

    private static int laneCount(JobGraph graph) {
        int count = 0;
        for (Checked operator : graph.checked()) {
            JobConnector output = operator.output();
            if (output != null && !operator.isFollowed()) {
                count += Exchange.laneCount(way(output), operator.operator().partitions());
            }
        }
        return Math.max(1, count);
    }

    private int partitions(String operator) {
        return operator(operator).operator().partitions();
    }

    private Checked operator(String name) {
        return Objects.requireNonNull(operators.get(name), name);
    }

    /** Frames take up to half of the memory. */
    private static int frameBytes(long frameCount, long memoryBytes) {
        long bytes = frameCount == 0 ? JobFrames.FRAME_BYTES_MAX : memoryBytes / 2 / frameCount;
        if (bytes < JobFrames.FRAME_BYTES_MIN) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT,
                    "a job with up to %,d frames between its workers needs %,d bytes of memory,"
                            + " and may use %,d: raise memoryBytesMax, or use fewer partitions",
                    frameCount,
                    2 * frameCount * JobFrames.FRAME_BYTES_MIN,
                    memoryBytes));
        }
        return (int) Math.min(JobFrames.FRAME_BYTES_MAX, bytes);
    }

    /** What is left for each instance that keeps rows. */
    private static long share(JobGraph graph, long memoryBytes) {
        long keeping = graph.checked().stream()
                .filter(operator -> operator.kind().keepsRows())
                .mapToLong(operator -> operator.operator().partitions())
                .sum();
        return Math.max(RunOptions.MEMORY_BYTES_MIN, memoryBytes / Math.max(1, keeping));
    }

    /** The most bytes of frames that there can be, unless a row is longer than a frame. */
    long frameBytesMax() {
        return frameBytesMax;
    }

    /** The most bytes of frames that there were at once. */
    long frameBytesPeak() {
        return frames.bytesPeak();
    }

    // ---- workers --------------------------------------------------------------------------------

    private Exchange exchange(Checked operator, JobConnector output, int capacity) {
        String from = operator.name();
        return new Exchange(
                way(output),
                operator.type(),
                output.fields(),
                operator.operator().partitions(),
                partitions(output.to()),
                capacity,
                frames,
                new Exchange.Wakes(
                        () -> start(from),
                        () -> wake(from),
                        consumer -> wake(stageOf(output.to()), consumer)));
    }

    /** The operator whose worker runs this one, as its last; the result itself for the reader. */
    private String stageOf(String name) {
        Checked operator = operator(name);
        while (operator.isFollowed()) {
            operator = operator(Objects.requireNonNull(operator.output()).to());
        }
        return operator.name();
    }

    private List<StageWorker> workers(
            Checked operator, Exchange exchange, InstanceBuilder builder) {
        List<StageWorker> made = new ArrayList<>();
        for (int i = 0; i < operator.operator().partitions(); i++) {
            StageWorker.Turn own = new StageWorker.Turn();
            made.add(
                    new StageWorker(this, builder.rows(operator, i, own), exchange.writer(i), own));
        }
        return made;
    }

    private List<StageWorker> workersOf(String operator) {
        return Objects.requireNonNullElse(workers.get(operator), List.of());
    }

    private void start(String operator) {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            Tasks tasks = options.tasks();
            for (StageWorker worker : workersOf(operator)) {
                running.add(worker);
                if (tasks != null) {
                    Tasks.Worker handle = tasks.start("job/" + operator, IDLE_MICROS, worker::step);
                    worker.startedAs(handle);
                    started.add(handle);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void wake(String operator) {
        workersOf(operator).forEach(StageWorker::wake);
    }

    private void wake(String operator, int partition) {
        List<StageWorker> of = workersOf(operator);
        if (of.isEmpty()) {
            tellReader();
        } else {
            of.get(partition).wake();
        }
    }

    private void tellReader() {
        news.incrementAndGet();
        Tasks tasks = options.tasks();
        if (tasks != null) {
            tasks.signal();
        }
    }

    /** Whether workers are to end. */
    boolean isStopped() {
        return stopped;
    }

    /** Ends the job; what is not the first failure is attached to it. */
    @SuppressWarnings("ReferenceEquality") // an exception can't be attached to itself
    void fail(Throwable cause) {
        lock.lock();
        try {
            Throwable first = failure;
            if (first == null) {
                failure = cause;
            } else if (first != cause && !(stopped && cause instanceof CancellationException)) {
                first.addSuppressed(cause);
            }
            stopped = true;
        } finally {
            lock.unlock();
        }
        workers.values().forEach(all -> all.forEach(StageWorker::wake));
        tellReader();
    }

    // ---- the reader -----------------------------------------------------------------------------

    @Override
    public boolean next() {
        while (true) {
            long seen = news.get();
            throwFailure();
            boolean found;
            try {
                found = result.next();
            } catch (RuntimeException | Error e) {
                // the reader's own operators fail as those of workers do
                fail(e);
                throwFailure();
                throw e;
            }
            if (found) {
                return true;
            }
            if (!result.isPaused()) {
                throwFailure();
                return false;
            }
            if (!turn.takePause()) {
                await(seen);
            }
            options.checkNotStopped();
        }
    }

    private void throwFailure() {
        switch (failure) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable e -> throw new IllegalStateException(e);
        }
    }

    /** Until there are news, or the job is to end. */
    private void await(long seen) {
        Tasks tasks = options.tasks();
        if (tasks != null) {
            await(tasks, () -> news.get() != seen || options.stop().getAsBoolean());
            return;
        }
        while (news.get() == seen) {
            boolean worked = false;
            // a step may start others
            for (int i = 0; i < running.size() && news.get() == seen; i++) {
                worked |= running.get(i).step();
            }
            for (StageWorker worker : running) {
                worked |= worker.takeWake();
            }
            if (!worked && news.get() == seen) {
                throw new IllegalStateException("the workers of a job wait for one another");
            }
            options.checkNotStopped();
        }
    }

    /** An interrupt ends no worker, but their waits for memory, as it would the reader's own. */
    private void await(Tasks tasks, BooleanSupplier news) {
        QueryMemory.Share share = options.share();
        if (share == null) {
            tasks.await(news);
        } else if (!tasks.awaitUnlessInterrupted(news)) {
            share.interruptWaits();
            try {
                tasks.await(news);
            } finally {
                share.allowWaits();
            }
        }
    }

    @Override
    public boolean isPaused() {
        return false;
    }

    @Override
    public RecordView row() {
        return result.row();
    }

    /** Ends all workers, and releases everything. */
    @Override
    public void close() {
        List<Tasks.Worker> ending;
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            stopped = true;
            ending = List.copyOf(started);
        } finally {
            lock.unlock();
        }
        Cleanup cleanup = new Cleanup();
        QueryMemory.Share share = options.share();
        if (share != null) {
            // a worker that waits for memory would be waited for
            cleanup.add(share::interruptWaits);
        }
        cleanup.addAll(ending, Tasks.Worker::close);
        if (share != null) {
            cleanup.add(share::allowWaits);
        }
        // none works any more: what they hold is this thread's
        cleanup.add(result::close);
        workers.values().forEach(all -> cleanup.addAll(all, StageWorker::close));
        cleanup.addAll(exchanges.values(), Exchange::drain);
        cleanup.add(frames::close);
        cleanup.run();
    }
}
