package io.turbidite.ops.fetch;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FetchWork;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.LayerWork;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.task.Tasks;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The records of a batch of keys, looked up by several workers (the worker-active lookup of PERS24
 * §4.4.2):
 *
 * <ol>
 *   <li>The batch is cut into slices; a slice is a task, and one counter says which is next.
 *       Whoever is free takes it, so a slow one holds up nobody.
 *   <li>What is found is put at the slice's place, so that the records come out in the same order
 *       whoever was faster: by slice, within one as the view hands them out.
 *   <li>The reader takes tasks too. The slice that it needs next and that nobody has begun it reads
 *       straight from the view, without a copy; while another is at that slice, it does a later
 *       one, or waits.
 *   <li>Tasks run no further ahead of the reader than a window, which bounds the memory, and what
 *       is looked up in vain for a reader who stops early.
 * </ol>
 *
 * <p>Where a slice fails, the reader gets the exception when it comes to it; of an error, such as
 * want of memory, as soon as it would wait. <em>The reader is confined to one thread;</em> {@link
 * #step} may be called by any: the counter hands each task to one thread, and its result is a
 * release store into the array, which the reader acquires.
 */
final class ParallelFetch implements RecordStream {
    private final ReadView view;
    private final int partition;
    private final KeyBatch keys;
    private final FetchOptions options;
    private final Workers workers;
    private final int sliceKeys;
    private final int sliceCount;
    private final int window;
    private final AtomicInteger nextTask = new AtomicInteger();
    private final AtomicReferenceArray<@Nullable FetchedSlice> done;

    /** Threads inside {@link #step}; nobody comes in once it is closed. */
    private final AtomicInteger inside = new AtomicInteger();

    private volatile boolean closed;

    /** Why a slice that was begun will never be done: nobody may wait for it. */
    private volatile @Nullable Error lost;

    /** The slice that the reader is at. */
    private volatile int reading = -1;

    private @Nullable FetchedSlice slice;
    private int at;
    private @Nullable RecordStream direct;
    private final Slice key = new Slice();
    private final Slice record = new Slice();
    private FetchWork work = FetchWork.NONE;
    private LayerWork layers = LayerWork.NONE;
    private long visitedCount;

    /**
     * @param keys sorted and distinct; not changed while this is open
     */
    ParallelFetch(
            ReadView view, int partition, KeyBatch keys, FetchOptions options, Workers workers) {
        this.view = view;
        this.partition = partition;
        this.keys = keys;
        this.options = options;
        this.workers = workers;
        this.sliceKeys = sliceKeys(keys.size(), workers);
        this.sliceCount = (keys.size() + sliceKeys - 1) / sliceKeys;
        this.window = 2 * workers.threadCount();
        this.done = new AtomicReferenceArray<>(sliceCount);
    }

    /**
     * Who takes tasks.
     *
     * @param threadCount the reader included
     * @param misses whether they are expected to wait for pages that are read
     * @param wake tells the others that there may be a task
     * @param spare slices that nobody uses any more
     */
    record Workers(
            Tasks tasks,
            int threadCount,
            boolean misses,
            Runnable wake,
            Queue<FetchedSlice> spare) {}

    /**
     * Four slices a thread, so that they end together. Where pages are at hand, not so short that a
     * layer is entered for few keys; where they are read, a key or a few, as each may wait.
     */
    static int sliceKeys(int keyCount, Workers workers) {
        int least = workers.misses() ? 1 : 128;
        return Math.clamp(keyCount / (4L * workers.threadCount()), least, 4_096);
    }

    /** Does a task, if there is one to do now; returns whether it did. */
    boolean step() {
        inside.incrementAndGet();
        try {
            if (closed || nextTask.get() >= Math.min(sliceCount, reading + 1 + window)) {
                return false;
            }
            int task = nextTask.getAndIncrement();
            if (task >= sliceCount) {
                return false;
            }
            try {
                done.setRelease(task, fetched(task));
            } catch (Error e) {
                lost = e;
            }
            return true;
        } finally {
            inside.decrementAndGet();
            workers.tasks().signal();
        }
    }

    @SuppressWarnings("CatchingUnchecked") // handed to the reader, whatever it is
    private FetchedSlice fetched(int task) {
        FetchedSlice used = workers.spare().poll();
        FetchedSlice fetched = used == null ? FetchedSlice.take() : used;
        try (RecordStream records = open(task)) {
            fetched.fill(records);
        } catch (RuntimeException e) {
            fetched.fail(e);
        }
        return fetched;
    }

    private RecordStream open(int task) {
        int from = task * sliceKeys;
        int to = Math.min(keys.size(), from + sliceKeys);
        return view.fetch(partition, keys.part(from, to), options);
    }

    @Override
    public boolean next() {
        while (true) {
            if (direct != null) {
                if (direct.next()) {
                    return true;
                }
                closeDirect();
            }
            if (slice != null) {
                if (++at < slice.count()) {
                    slice.key(at, key);
                    slice.record(at, record);
                    return true;
                }
                workers.spare().add(slice);
                slice = null;
            }
            if (reading + 1 >= sliceCount) {
                return false;
            }
            beginSlice(reading + 1);
        }
    }

    /** Gets at the next slice: takes it, or waits for whoever has. */
    private void beginSlice(int number) {
        if (nextTask.compareAndSet(number, number + 1)) {
            direct = open(number);
            advance(number);
            return;
        }
        FetchedSlice found = done.getAcquire(number);
        while (found == null) {
            if (!step()) {
                workers.tasks().await(() -> done.getAcquire(number) != null || lost != null);
            }
            found = done.getAcquire(number);
            Error error = lost;
            if (found == null && error != null) {
                throw error;
            }
        }
        boolean isWhole = found.isWhole(); // one that failed stays, and fails again
        done.set(number, null);
        if (isWhole) {
            work = work.plus(found.work());
            layers = layers.plus(found.layers());
            visitedCount += found.visitedCount();
            slice = found;
            at = -1;
        } else {
            direct = open(number);
        }
        advance(number);
    }

    /** The window moves on. */
    private void advance(int number) {
        reading = number;
        workers.wake().run();
    }

    private void closeDirect() {
        RecordStream open = direct;
        if (open != null) {
            direct = null;
            work = work.plus(open.work());
            layers = layers.plus(open.layers());
            visitedCount += open.visitedCount();
            open.close();
        }
    }

    @Override
    public Slice key() {
        return direct == null ? key : direct.key();
    }

    @Override
    public long timestamp() {
        if (direct != null) {
            return direct.timestamp();
        }
        return Objects.requireNonNull(slice, "it stands on no record").timestamp(at);
    }

    @Override
    public Slice record() {
        return direct == null ? record : direct.record();
    }

    @Override
    public long visitedCount() {
        return visitedCount;
    }

    @Override
    public FetchWork work() {
        return work;
    }

    @Override
    public LayerWork layers() {
        return layers;
    }

    /** Waits for the tasks under way: they read the keys. */
    @Override
    public void close() {
        closed = true;
        closeDirect();
        FetchedSlice last = slice;
        if (last != null) {
            slice = null;
            workers.spare().add(last);
        }
        workers.tasks().await(() -> inside.get() == 0);
    }
}
