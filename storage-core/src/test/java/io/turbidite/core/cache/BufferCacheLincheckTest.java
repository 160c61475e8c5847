package io.turbidite.core.cache;

import io.turbidite.core.ClosedException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Tier;
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

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Pages are pinned, evicted and loaded again, and the file is closed under its readers: whoever has
 * a page pinned reads that page until it lets go, and in the end every pin is given back.
 */
@LeaksOnPurpose("Lincheck leaves its last instance as it is")
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
    private final AtomicReferenceArray<@Nullable PageFrame> held =
            new AtomicReferenceArray<>(THREADS + 2);
    private volatile boolean closing;

    /**
     * Looks at a page. What a pin beside {@link #close} gives is not said, so it is not told
     * either.
     */
    @Operation
    public int read(@Param(name = "page") int page) {
        PageFrame frame = pin(page);
        if (frame != null) {
            pages.checkSome(page, frame.segment());
            frame.unpin();
        }
        return page;
    }

    /** Keeps a page pinned. */
    @Operation
    public int hold(@Param(name = "thread") int thread, @Param(name = "page") int page) {
        letGo(thread);
        held.set(thread, pin(page));
        return page;
    }

    /** Looks at the page held once more, if there is one. */
    @Operation
    public void letGo(@Param(name = "thread") int thread) {
        PageFrame frame = held.getAndSet(thread, null);
        if (frame != null) {
            pages.checkSome(frame.page, frame.segment());
            frame.unpin();
        }
    }

    @Operation
    public void close() {
        closing = true;
        file.close();
    }

    /** Null if the file is closed, which it must not be before somebody closes it. */
    private @Nullable PageFrame pin(int page) {
        try {
            return file.pin(page);
        } catch (ClosedException closed) {
            if (!closing) {
                throw new IllegalStateException("page %d of an open file".formatted(page), closed);
            }
            return null;
        }
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
        for (int page = 0; closing && page < PAGE_COUNT; page++) {
            if (pin(page) != null) {
                throw new IllegalStateException("page %d of a closed file".formatted(page));
            }
        }
        cache.checkInvariants();
        if (cache.statistics().pinnedFrameCount() != 0) {
            throw new IllegalStateException("pinned by nobody: " + cache.statistics());
        }
        cache.close();
    }

    @Test
    void pinning_against_eviction_is_linearizable() {
        Tier.notQuick("a run of Lincheck");
        new StressOptions()
                .iterations(Tier.count(3, 6, 300))
                .invocationsPerIteration(Tier.count(18, 150, 5_000))
                .threads(THREADS)
                .actorsPerThread(5)
                .actorsBefore(2)
                .actorsAfter(0)
                .sequentialSpecification(Model.class)
                .check(BufferCacheLincheckTest.class);
    }

    /** What the calls tell; all else is looked at where it happens. */
    public static final class Model {
        public int read(int page) {
            return page;
        }

        public int hold(int thread, int page) {
            return page;
        }

        public void letGo(int thread) {}

        public void close() {}
    }
}
