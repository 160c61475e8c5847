package io.turbidite.core.cache;

import io.turbidite.core.ClosedException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Pages are pinned, evicted and loaded again, and the file is closed under its readers: whoever has a page
 * pinned reads that page until it lets go, and in the end every pin is given back.
 */
@Param(name = "page", gen = IntGen.class, conf = "0:5")
@Param(name = "thread", gen = ThreadIdGen.class)
public class BufferCacheLincheckTest {
    private static final Tasks TASKS = ThreadTasks.create("lincheck");
    private static final int THREADS = 3;
    private static final int PAGE_COUNT = 6;

    /** Four of six fit: each thread may hold one and pin one more, but for the third. */
    private static final int PAGE_BYTES = 16 << 10;

    private final PatternFile pages = new PatternFile(7, PAGE_COUNT, page -> PAGE_BYTES);
    private final BufferCache cache = BufferCache.create(
            MemoryBudget.of(1 << 20).account("cache"),
            BufferCache.BYTES_MIN,
            TASKS,
            Clock.system());
    private final CachedFile file = cache.register("f", PAGE_COUNT, pages);
    private final AtomicReferenceArray<@Nullable Frame> held =
            new AtomicReferenceArray<>(THREADS + 2);

    /** The page's number, after a look at its bytes; -1 if the file is closed. */
    @Operation
    public int read(@Param(name = "page") int page) {
        try {
            Frame frame = file.pin(page);
            pages.checkSome(page, frame.segment());
            frame.unpin();
            return page;
        } catch (ClosedException closed) {
            return -1;
        }
    }

    /** Keeps a page pinned. */
    @Operation
    public int hold(@Param(name = "thread") int thread, @Param(name = "page") int page) {
        letGo(thread);
        try {
            Frame frame = file.pin(page);
            held.set(thread, frame);
            return page;
        } catch (ClosedException closed) {
            return -1;
        }
    }

    /** The number of the page held, after a look at its bytes; -1 if there is none. */
    @Operation
    public int letGo(@Param(name = "thread") int thread) {
        Frame frame = held.getAndSet(thread, null);
        if (frame == null) {
            return -1;
        }
        pages.checkSome(frame.page, frame.segment());
        frame.unpin();
        return frame.page;
    }

    @Operation
    public void close() {
        file.close();
    }

    @Validate
    public void everyPinIsGivenBack() {
        int pinned = 0;
        for (int thread = 0; thread < held.length(); thread++) {
            pinned += held.get(thread) == null ? 0 : 1;
        }
        CacheStatistics statistics = cache.statistics();
        if (statistics.bytesHeld() > BufferCache.BYTES_MIN
                || statistics.pinnedFrameCount() > pinned) {
            throw new IllegalStateException(
                    "%d pages are held in %s".formatted(pinned, statistics));
        }
        for (int thread = 0; thread < held.length(); thread++) {
            letGo(thread);
        }
        cache.checkInvariants();
        if (cache.statistics().pinnedFrameCount() != 0) {
            throw new IllegalStateException("pinned by nobody: " + cache.statistics());
        }
        cache.close();
    }

    @Test
    void pinning_against_eviction_is_linearizable() {
        new StressOptions()
                .iterations(Boolean.getBoolean("long") ? 300 : 6)
                .invocationsPerIteration(Boolean.getBoolean("long") ? 5_000 : 150)
                .threads(THREADS)
                .actorsPerThread(5)
                .actorsBefore(2)
                .actorsAfter(0)
                .sequentialSpecification(Model.class)
                .check(BufferCacheLincheckTest.class);
    }

    /** The same without memory; what a run of Lincheck is compared with. */
    public static final class Model {
        private final Map<Integer, Integer> held = new HashMap<>();
        private boolean closed;

        public int read(int page) {
            return closed ? -1 : page;
        }

        public int hold(int thread, int page) {
            held.remove(thread);
            if (closed) {
                return -1;
            }
            held.put(thread, page);
            return page;
        }

        public int letGo(int thread) {
            Integer page = held.remove(thread);
            return page == null ? -1 : page;
        }

        public void close() {
            closed = true;
        }
    }
}
