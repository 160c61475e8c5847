package io.turbidite.core.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.ClosedException;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The cache under several threads: every page that is pinned is checked to be that page. */
class BufferCacheStressTest {
    private static final int WORKERS = 4;
    private static final int ROUNDS = Tier.count(12, 60, 2_000);

    private final ConcurrentLinkedQueue<Throwable> errors = new ConcurrentLinkedQueue<>();
    private final ThreadTasks tasks = ThreadTasks.create("stress", (_, error) -> errors.add(error));
    private final MemoryBudget budget = MemoryBudget.of(64 << 20);

    @AfterEach
    void stop() {
        tasks.close();
        assertThat(List.copyOf(errors)).isEmpty();
        assertThat(budget.bytesUsed()).isZero();
    }

    private BufferCache cacheOf(long bytesMax) {
        return BufferCache.create(
                budget.account("cache"),
                CacheOptions.of(bytesMax),
                tasks,
                Clock.system(),
                new Meters());
    }

    /** One turn of one worker. */
    private interface Turn {
        void run(SplittableRandom random);
    }

    private void race(int rounds, Turn turn) {
        AtomicInteger done = new AtomicInteger();
        for (int worker = 0; worker < WORKERS; worker++) {
            SplittableRandom random = new SplittableRandom(worker * 77L + rounds);
            int[] left = {rounds};
            Tasks.Step step = () -> {
                // a worker may be stepped again after it said that it has no more to do
                if (left[0] > 0) {
                    turn.run(random);
                    if (--left[0] == 0) {
                        done.incrementAndGet();
                    }
                }
                return left[0] > 0;
            };
            tasks.start("worker" + worker, 3_600_000_000L, step);
        }
        tasks.await(() -> done.get() == WORKERS || !errors.isEmpty());
    }

    @Test
    void pinned_pages_are_what_they_should_be_while_memory_moves() {
        int[] sizes = new int[300];
        SplittableRandom sizing = new SplittableRandom(5);
        for (int page = 0; page < sizes.length; page++) {
            sizes[page] = switch (page % 10) {
                case 0 -> sizing.nextInt(1, 4_000);
                case 1 -> sizing.nextInt(4_000, 200_000);
                case 2 -> page % 50 == 2 ? 700_000 : 9_000;
                default -> 32 << 10;
            };
        }
        PatternFile pages = new PatternFile(21, sizes.length, page -> sizes[page]);
        try (BufferCache cache = cacheOf(6 << 20)) {
            CachedFile file = cache.register("f", sizes.length, oneAtATime(pages, sizes.length));
            race(ROUNDS, random -> {
                for (int i = 0; i < 500; i++) {
                    // skewed: small numbers often
                    int page = random.nextInt(1 + random.nextInt(sizes.length));
                    int other = random.nextInt(sizes.length);
                    PageFrame frame = file.pin(page);
                    PageFrame second = file.pin(other);
                    pages.checkSome(other, second.segment());
                    second.unpin();
                    pages.checkSome(page, frame.segment());
                    frame.unpin();
                }
                long held = cache.statistics().bytesHeld();
                if (held > 6 << 20) {
                    throw new AssertionError(held + " bytes held");
                }
            });
            CacheStatistics statistics = cache.statistics();
            assertThat(statistics.pinnedFrameCount()).isZero();
            assertThat(statistics.loadCount()).isEqualTo(pages.loadCount());
            cache.checkInvariants();
            // every pin found its page or loaded it, once
            assertThat(statistics.hitCount() + statistics.loadCount())
                    .isEqualTo(2L * WORKERS * ROUNDS * 500);
        }
    }

    /** Fails where a page is loaded while it is being loaded. */
    private static PageLoader oneAtATime(PageLoader pages, int pageCount) {
        AtomicIntegerArray underWay = new AtomicIntegerArray(pageCount);
        return new PageLoader() {
            @Override
            public int pageBytes(int page) {
                return pages.pageBytes(page);
            }

            @Override
            public void load(int page, MemorySegment target) {
                if (underWay.getAndIncrement(page) != 0) {
                    throw new AssertionError("page " + page + " is loaded twice at once");
                }
                pages.load(page, target);
                underWay.decrementAndGet(page);
            }
        };
    }

    @Test
    void a_page_that_many_miss_is_loaded_once() {
        int pageCount = 200;
        PatternFile pages = new PatternFile(22, pageCount, _ -> 4_096);
        AtomicInteger loading = new AtomicInteger();
        PageLoader slow = new PageLoader() {
            @Override
            public int pageBytes(int page) {
                return 4_096;
            }

            @Override
            public void load(int page, MemorySegment target) {
                loading.incrementAndGet();
                // several times over, so that the others come while it lasts
                for (int i = 0; i < 20; i++) {
                    pages.load(page, target);
                }
            }
        };
        try (BufferCache cache = cacheOf(4 << 20)) {
            CachedFile file = cache.register("f", pageCount, slow);
            race(1, _ -> {
                for (int page = 0; page < pageCount; page++) {
                    PageFrame frame = file.pin(page);
                    pages.checkAll(page, frame.segment());
                    frame.unpin();
                }
            });
            assertThat(loading.get()).isEqualTo(pageCount);
            assertThat(cache.statistics().hitCount()).isEqualTo((WORKERS - 1L) * pageCount);
        }
    }

    @Test
    void failing_loads_reach_every_waiter_and_the_others_go_on() {
        int pageCount = 64;
        PatternFile pages = new PatternFile(23, pageCount, _ -> 8_192);
        AtomicInteger calls = new AtomicInteger();
        PageLoader flaky = new PageLoader() {
            @Override
            public int pageBytes(int page) {
                return 8_192;
            }

            @Override
            public void load(int page, MemorySegment target) {
                if (calls.incrementAndGet() % 3 == 0) {
                    throw new CorruptionException("f", page, "page", "sound", "not");
                }
                pages.load(page, target);
            }
        };
        AtomicInteger failed = new AtomicInteger();
        try (BufferCache cache = cacheOf(256 << 10)) {
            CachedFile file = cache.register("f", pageCount, flaky);
            race(ROUNDS, random -> {
                for (int i = 0; i < 200; i++) {
                    int page = random.nextInt(pageCount);
                    try {
                        PageFrame frame = file.pin(page);
                        pages.checkSome(page, frame.segment());
                        frame.unpin();
                    } catch (CorruptionException e) {
                        failed.incrementAndGet();
                    }
                }
            });
            assertThat(failed.get()).isEqualTo(calls.get() / 3);
            assertThat(cache.statistics().failedLoadCount()).isEqualTo(failed.get());
            cache.checkInvariants();
            assertThat(cache.statistics().pinnedFrameCount()).isZero();
        }
    }

    @Test
    void files_come_and_go_while_they_are_read() {
        int files = 6;
        int pageCount = 40;
        AtomicReferenceArray<CachedFile> open = new AtomicReferenceArray<>(files);
        AtomicReferenceArray<PatternFile> contents = new AtomicReferenceArray<>(files);
        for (int i = 0; i < files; i++) {
            contents.set(i, new PatternFile(30 + i, pageCount, page -> 2_000 + page * 500));
        }
        try (BufferCache cache = cacheOf(1 << 20)) {
            for (int i = 0; i < files; i++) {
                open.set(i, cache.register("f" + i, pageCount, contents.get(i)));
            }
            race(ROUNDS, random -> {
                for (int i = 0; i < 200; i++) {
                    int which = random.nextInt(files);
                    CachedFile file = open.get(which);
                    PatternFile content = contents.get(which);
                    try {
                        PageFrame frame = file.pin(random.nextInt(pageCount));
                        content.checkSome(frame.page, frame.segment());
                        if (i % 50 == 0) {
                            // this very file, with a page pinned
                            open.set(which, cache.register("f", pageCount, content));
                            file.close();
                            content.checkSome(frame.page, frame.segment());
                        }
                        frame.unpin();
                    } catch (ClosedException e) {
                        assertThat(open.get(which)).isNotSameAs(file);
                    }
                }
            });
            for (int i = 0; i < files; i++) {
                open.get(i).close();
            }
            assertThat(cache.statistics().frameCount()).isZero();
            cache.checkInvariants();
        }
    }

    @Test
    void nothing_is_left_when_all_files_are_closed() {
        int pageCount = 40;
        PatternFile content = new PatternFile(40, pageCount, page -> 2_000 + page * 500);
        try (BufferCache cache = cacheOf(1 << 20)) {
            race(ROUNDS, random -> {
                try (CachedFile file = cache.register("f", pageCount, content)) {
                    for (int i = 0; i < 50; i++) {
                        PageFrame frame = file.pin(random.nextInt(pageCount));
                        content.checkSome(frame.page, frame.segment());
                        frame.unpin();
                    }
                }
            });
            CacheStatistics statistics = cache.statistics();
            assertThat(statistics.frameCount()).isZero();
            assertThat(statistics.pinnedFrameCount()).isZero();
            assertThat(statistics.hitCount() + statistics.loadCount())
                    .isEqualTo(50L * WORKERS * ROUNDS);
        }
    }

    @Test
    void a_miss_waits_for_an_unpin_when_all_is_pinned() {
        PatternFile pages = new PatternFile(50, 64, _ -> 32 << 10);
        try (BufferCache cache = cacheOf(256 << 10)) {
            CachedFile file = cache.register("f", 64, pages);
            // four workers with two pins each want all eight frames most of the time
            race(ROUNDS, random -> {
                for (int i = 0; i < 50; i++) {
                    int page = random.nextInt(64);
                    int other = random.nextInt(64);
                    PageFrame frame = file.pin(page);
                    PageFrame second = file.pin(other);
                    pages.checkSome(page, frame.segment());
                    pages.checkSome(other, second.segment());
                    frame.unpin();
                    second.unpin();
                }
            });
            assertThat(cache.statistics().failedLoadCount()).isZero();
        }
    }

    @Test
    void closing_the_cache_under_readers_gives_them_typed_errors() {
        for (int i = 0; i < 5; i++) {
            PatternFile pages = new PatternFile(60 + i, 64, _ -> 32 << 10);
            BufferCache cache = cacheOf(512 << 10);
            CachedFile file = cache.register("f", 64, pages);
            AtomicInteger ended = new AtomicInteger();
            AtomicInteger pins = new AtomicInteger();
            for (int worker = 0; worker < WORKERS; worker++) {
                SplittableRandom random = new SplittableRandom(worker);
                tasks.start("reader" + worker, 3_600_000_000L, () -> {
                    try {
                        int page = random.nextInt(64);
                        PageFrame frame = file.pin(page);
                        pins.incrementAndGet();
                        pages.checkSome(page, frame.segment());
                        frame.unpin();
                        return true;
                    } catch (ClosedException | IllegalStateException e) {
                        ended.incrementAndGet();
                        return false;
                    }
                });
            }
            tasks.await(() -> pins.get() > 1_000 || !errors.isEmpty());
            cache.close();
            tasks.await(() -> ended.get() >= WORKERS || !errors.isEmpty());
        }
    }
}
