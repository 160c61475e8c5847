package io.turbidite.core.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CacheFullException;
import io.turbidite.core.ClosedException;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

class BufferCacheTest {
    private static final int PAGE = 32 << 10;

    private final ConcurrentLinkedQueue<Throwable> errors = new ConcurrentLinkedQueue<>();
    private final ThreadTasks tasks =
            ThreadTasks.create("cache-test", (_, error) -> errors.add(error));
    private final MemoryBudget budget = MemoryBudget.of(64 << 20);
    private final MemoryBudget.Account account = budget.account("cache");

    @AfterEach
    void nothing_is_left_of_the_budget() {
        tasks.close();
        assertThat(budget.bytesUsed()).isZero();
    }

    private BufferCache cacheOf(long bytesMax) {
        CacheOptions options = CacheOptions.of(bytesMax).withFullWaitMicros(20_000);
        return BufferCache.create(account, options, tasks, Clock.system(), new Meters());
    }

    @Test
    void a_hit_gives_the_same_frame_and_loads_nothing() {
        PatternFile pages = new PatternFile(1, 10, _ -> PAGE);
        try (BufferCache cache = cacheOf(1 << 20)) {
            CachedFile file = cache.register("f", 10, pages);
            PageFrame first = file.pin(3);
            PageFrame second = file.pin(3);
            assertThat(second).isSameAs(first);
            pages.checkAll(3, first.segment());
            first.unpin();
            second.unpin();
            file.pin(3).unpin();
            CacheStatistics statistics = cache.statistics();
            assertThat(statistics.hitCount()).isEqualTo(2);
            assertThat(statistics.loadCount()).isEqualTo(1);
            assertThat(statistics.hitRate()).isEqualTo(2.0 / 3);
            assertThat(statistics.frameCount()).isEqualTo(1);
            assertThat(statistics.pinnedFrameCount()).isZero();
            assertThat(pages.loadCount()).isEqualTo(1);
        }
    }

    @Test
    void the_segment_is_exactly_the_page() {
        int[] sizes = {1, 7, 100, 4_096, 4_097, 32_768, 33_000, 300_000, 1 << 20, 3_000_001};
        PatternFile pages = new PatternFile(2, sizes.length, page -> sizes[page]);
        try (BufferCache cache = cacheOf(16 << 20)) {
            CachedFile file = cache.register("f", sizes.length, pages);
            for (int page = 0; page < sizes.length; page++) {
                PageFrame frame = file.pin(page);
                pages.checkAll(page, frame.segment());
                frame.unpin();
            }
        }
    }

    @Test
    void memory_never_exceeds_what_the_cache_was_given() {
        SplittableRandom random = new SplittableRandom(11);
        int[] sizes = new int[400];
        for (int page = 0; page < sizes.length; page++) {
            int magnitude = random.nextInt(10, 21);
            sizes[page] = random.nextInt(1, 1 << magnitude);
        }
        long bytesMax = 3 << 20;
        PatternFile pages = new PatternFile(3, sizes.length, page -> sizes[page]);
        try (BufferCache cache = cacheOf(bytesMax)) {
            assertThat(account.bytesUsed()).isEqualTo(bytesMax);
            CachedFile file = cache.register("f", sizes.length, pages);
            for (int i = 0; i < 5_000; i++) {
                int page = random.nextInt(sizes.length);
                PageFrame frame = file.pin(page);
                pages.checkSome(page, frame.segment());
                frame.unpin();
                if (i % 16 == 0) {
                    assertThat(cache.statistics().bytesHeld()).isLessThanOrEqualTo(bytesMax);
                }
            }
            CacheStatistics statistics = cache.statistics();
            assertThat(statistics.evictionCount()).isPositive();
            assertThat(statistics.hitCount() + statistics.loadCount()).isEqualTo(5_000);
            assertThat(statistics.loadCount()).isEqualTo(pages.loadCount());
            cache.checkInvariants();
        }
    }

    @Test
    void memory_moves_to_the_page_size_that_is_in_use() {
        long bytesMax = 8 << 20;
        int[] sizes = {4_096, PAGE, 300_000, 1 << 20, 5 << 20, 4_096, 128 << 10};
        try (BufferCache cache = cacheOf(bytesMax)) {
            for (int size : sizes) {
                int pageCount = (int) (4 * bytesMax / size);
                PatternFile pages = new PatternFile(size, pageCount, _ -> size);
                CachedFile file = cache.register("f" + size, pageCount, pages);
                for (int page = 0; page < pageCount; page++) {
                    PageFrame frame = file.pin(page);
                    pages.checkSome(page, frame.segment());
                    frame.unpin();
                }
                CacheStatistics statistics = cache.statistics();
                assertThat(statistics.bytesHeld()).isLessThanOrEqualTo(bytesMax);
                // all but a little is now of this size: 300,000 bytes lie in slots of 320 KiB
                assertThat((long) statistics.frameCount() * size)
                        .isGreaterThan(size == 5 << 20 ? size - 1 : bytesMax * 3 / 4);
            }
        }
    }

    @Test
    void pages_in_use_survive_a_scan() {
        PatternFile hot = new PatternFile(4, 20, _ -> PAGE);
        PatternFile cold = new PatternFile(5, 2_000, _ -> PAGE);
        try (BufferCache cache = cacheOf(2 << 20)) {
            CachedFile hotFile = cache.register("hot", 20, hot);
            CachedFile coldFile = cache.register("cold", 2_000, cold);
            for (int page = 0; page < 2_000; page++) {
                coldFile.pin(page).unpin();
                hotFile.pin(page % 20).unpin();
            }
            assertThat(cold.loadCount()).isEqualTo(2_000);
            assertThat(hot.loadCount()).isLessThan(30);
        }
    }

    @Test
    void background_work_does_not_wait_for_readers() {
        PatternFile pages = new PatternFile(6, 200, _ -> PAGE);
        try (BufferCache cache = cacheOf(1 << 20)) {
            CachedFile file = cache.register("f", 200, pages);
            List<PageFrame> pinned = new ArrayList<>();
            for (int page = 0; page < 32; page++) {
                pinned.add(file.pin(page));
            }
            List<PageFrame> background = new ArrayList<>();
            assertThat(BufferCache.inBackground(() -> {
                        for (int page = 40; page < 72; page++) {
                            background.add(file.pin(page));
                        }
                        // no reader shares what it has, so none can keep it
                        assertThat(file.holds(40)).isFalse();
                        // that is a megabyte: it is not for ever
                        assertThatThrownBy(() -> file.pin(72))
                                .isInstanceOf(CacheFullException.class);
                        return true;
                    }))
                    .isTrue();
            for (int i = 0; i < background.size(); i++) {
                pages.checkAll(40 + i, background.get(i).segment());
                background.get(i).unpin();
            }
            assertThatThrownBy(() -> file.pin(50)).isInstanceOf(CacheFullException.class);
            assertThatThrownBy(() -> background.getFirst().segment().get(ValueLayout.JAVA_BYTE, 0))
                    .isInstanceOf(IllegalStateException.class);
            BufferCache.inBackground(() -> {
                for (int page = 100; page < 200; page++) {
                    PageFrame frame = file.pin(page);
                    pages.checkAll(page, frame.segment());
                    frame.unpin();
                }
                return true;
            });
            pinned.forEach(PageFrame::unpin);
            file.pin(50).unpin();
            cache.checkInvariants();
        }
    }

    @Test
    void when_all_frames_are_pinned_a_miss_fails_and_the_cache_goes_on() {
        PatternFile pages = new PatternFile(6, 100, _ -> PAGE);
        try (BufferCache cache = cacheOf(1 << 20)) {
            CachedFile file = cache.register("f", 100, pages);
            List<PageFrame> pinned = new ArrayList<>();
            for (int page = 0; page < 32; page++) {
                pinned.add(file.pin(page));
            }
            assertThatThrownBy(() -> file.pin(50))
                    .isInstanceOf(CacheFullException.class)
                    .hasMessageContaining("pinned by open cursors");
            assertThat(cache.statistics().pinnedFrameCount()).isEqualTo(32);
            assertThat(cache.statistics().failedLoadCount()).isEqualTo(1);
            pinned.removeFirst().unpin();
            PageFrame frame = file.pin(50);
            pages.checkAll(50, frame.segment());
            frame.unpin();
            for (int page = 1; page < 32; page++) {
                PageFrame held = pinned.get(page - 1);
                pages.checkAll(page, held.segment());
                held.unpin();
            }
        }
    }

    @Test
    void a_failed_load_leaves_no_frame() {
        PatternFile pages = new PatternFile(7, 10, _ -> PAGE);
        int[] failures = {3};
        PageLoader loader = new PageLoader() {
            @Override
            public int pageBytes(int page) {
                if (page == 9) {
                    throw new CorruptionException("f", 9, "directory", "0", "1");
                }
                return pages.pageBytes(page);
            }

            @Override
            public void load(int page, MemorySegment target) {
                if (failures[0]-- > 0) {
                    throw new CorruptionException("f", 64, "page", "1", "2");
                }
                pages.load(page, target);
            }
        };
        try (BufferCache cache = cacheOf(1 << 20)) {
            CachedFile file = cache.register("f", 10, loader);
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> file.pin(2)).isInstanceOf(CorruptionException.class);
                assertThat(cache.statistics().frameCount()).isZero();
            }
            assertThatThrownBy(() -> file.pin(9)).isInstanceOf(CorruptionException.class);
            PageFrame frame = file.pin(2);
            pages.checkAll(2, frame.segment());
            frame.unpin();
            CacheStatistics statistics = cache.statistics();
            assertThat(statistics.failedLoadCount()).isEqualTo(4);
            assertThat(statistics.loadCount()).isEqualTo(1);
            assertThat(statistics.hitCount()).isZero();
            assertThat(statistics.frameCount()).isEqualTo(1);
        }
    }

    @Test
    void a_closed_file_gives_its_memory_back_and_refuses_pins() {
        PatternFile pages = new PatternFile(8, 10, _ -> PAGE);
        try (BufferCache cache = cacheOf(1 << 20)) {
            CachedFile file = cache.register("f", 10, pages);
            PageFrame pinned = file.pin(1);
            file.pin(2).unpin();
            file.close();
            file.close();
            assertThatThrownBy(() -> file.pin(1)).isInstanceOf(ClosedException.class);
            assertThatThrownBy(() -> file.pin(2)).isInstanceOf(ClosedException.class);
            assertThatThrownBy(() -> file.pin(5)).isInstanceOf(ClosedException.class);
            assertThat(cache.statistics().frameCount()).isEqualTo(1);
            pages.checkAll(1, pinned.segment());
            pinned.unpin();
            assertThat(cache.statistics().frameCount()).isZero();
            assertThat(cache.statistics().pinnedFrameCount()).isZero();
        }
    }

    @Test
    void after_the_cache_is_closed_a_pinned_page_cannot_be_read() {
        PatternFile pages = new PatternFile(9, 10, _ -> PAGE);
        BufferCache cache = cacheOf(1 << 20);
        CachedFile file = cache.register("f", 10, pages);
        PageFrame pinned = file.pin(1);
        cache.close();
        cache.close();
        assertThat(account.bytesUsed()).isZero();
        assertThatThrownBy(() -> pinned.segment().get(Bytes.U8, 0))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> file.pin(1)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> cache.register("g", 1, pages)).isInstanceOf(ClosedException.class);
        pinned.unpin();
        file.close();
    }

    @Test
    void wrong_requests_are_refused() {
        PatternFile pages = new PatternFile(10, 2, page -> page == 0 ? 33 << 20 : 0);
        try (BufferCache cache = cacheOf(1 << 20)) {
            CachedFile file = cache.register("f", 2, pages);
            assertThatThrownBy(() -> file.pin(0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> file.pin(1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> file.pin(2)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> file.pin(-1)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(cache.statistics().frameCount()).isZero();
        }
        assertThatThrownBy(() -> cacheOf(1L << 40))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("memory budget");
        assertThatThrownBy(() -> cacheOf(10)).isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void a_page_larger_than_the_cache_is_read_beside_it() {
        PatternFile pages = new PatternFile(10, 3, page -> page < 2 ? 2 << 20 : PAGE);
        Meters meters = new Meters();
        try (BufferCache cache = BufferCache.create(
                account, CacheOptions.of(1 << 20), tasks, Clock.system(), meters)) {
            CachedFile file = cache.register("f", 3, pages);
            for (int round = 0; round < 3; round++) {
                PageFrame first = file.pin(0);
                PageFrame second = file.pin(1);
                PageFrame small = file.pin(2);
                pages.checkAll(0, first.segment());
                pages.checkAll(1, second.segment());
                pages.checkAll(2, small.segment());
                assertThat(largeBytes(meters)).isEqualTo(4 << 20);
                first.unpin();
                second.unpin();
                small.unpin();
            }
            assertThat(pages.loadCount())
                    .as("two each time, the small one once")
                    .isEqualTo(7);
            assertThat(largeBytes(meters)).isZero();
            assertThat(account.bytesUsed()).isEqualTo(1 << 20);
            cache.checkInvariants();
        }
    }

    private static long largeBytes(Meters meters) {
        return meters.instruments().stream()
                .filter(instrument -> instrument.name().equals("cache.large.bytes"))
                .mapToLong(instrument -> ((Reading) instrument).value())
                .sum();
    }

    @Test
    void pages_larger_than_the_cache_are_bounded_too() {
        PatternFile pages = new PatternFile(10, 6, _ -> 30 << 20);
        CacheOptions options = CacheOptions.of(1 << 20).withFullWaitMicros(1_000);
        MemoryBudget.Account ample = MemoryBudget.of(1L << 30).account("cache");
        try (BufferCache cache =
                BufferCache.create(ample, options, tasks, Clock.system(), new Meters())) {
            CachedFile file = cache.register("f", 6, pages);
            List<PageFrame> pinned = new ArrayList<>();
            for (int page = 0; page < 4; page++) {
                pinned.add(file.pin(page));
            }
            assertThatThrownBy(() -> file.pin(4)).isInstanceOf(CacheFullException.class);
            pinned.removeFirst().unpin();
            pinned.add(file.pin(4));
            pages.checkAll(4, pinned.getLast().segment());
            pinned.forEach(PageFrame::unpin);
            cache.checkInvariants();
        }
    }

    @Test
    void the_smallest_cache_works() {
        PatternFile pages = new PatternFile(11, 50, page -> 1 + page * 700);
        try (BufferCache cache = cacheOf(BufferCache.BYTES_MIN)) {
            CachedFile file = cache.register("f", 50, pages);
            for (int i = 0; i < 500; i++) {
                int page = i * 7 % 50;
                PageFrame frame = file.pin(page);
                pages.checkSome(page, frame.segment());
                frame.unpin();
            }
            assertThat(cache.statistics().bytesHeld()).isLessThanOrEqualTo(64 << 10);
        }
    }

    @Test
    void hot_pages_of_one_size_survive_a_scan_of_another() {
        PatternFile hot = new PatternFile(13, 20, _ -> 8 << 10);
        PatternFile cold = new PatternFile(14, 2_000, _ -> PAGE);
        try (BufferCache cache = cacheOf(2 << 20)) {
            CachedFile hotFile = cache.register("hot", 20, hot);
            CachedFile coldFile = cache.register("cold", 2_000, cold);
            for (int page = 0; page < 2_000; page++) {
                coldFile.pin(page).unpin();
                hotFile.pin(page % 20).unpin();
            }
            assertThat(hot.loadCount()).isLessThan(30);
        }
    }

    @Test
    void a_file_that_is_closed_while_a_page_loads_keeps_no_frame() {
        PatternFile pages = new PatternFile(15, 2, _ -> PAGE);
        List<CachedFile> self = new ArrayList<>();
        PageLoader closing = new PageLoader() {
            @Override
            public int pageBytes(int page) {
                return PAGE;
            }

            @Override
            public void load(int page, MemorySegment target) {
                pages.load(page, target);
                self.getFirst().close();
            }
        };
        try (BufferCache cache = cacheOf(1 << 20)) {
            CachedFile file = cache.register("f", 2, closing);
            self.add(file);
            assertThatThrownBy(() -> file.pin(0)).isInstanceOf(ClosedException.class);
            assertThat(cache.statistics().frameCount()).isZero();
            cache.checkInvariants();
        }
    }

    @Test
    void a_waiting_miss_goes_on_as_soon_as_a_page_is_unpinned() {
        PatternFile pages = new PatternFile(16, 100, _ -> PAGE);
        CacheOptions options = CacheOptions.of(1 << 20).withFullWaitMicros(3_000_000);
        try (BufferCache cache =
                BufferCache.create(account, options, tasks, Clock.system(), new Meters())) {
            CachedFile file = cache.register("f", 100, pages);
            List<PageFrame> pinned = new ArrayList<>();
            for (int page = 0; page < 32; page++) {
                pinned.add(file.pin(page));
            }
            AtomicBoolean served = new AtomicBoolean();
            tasks.start("waiter", 3_600_000_000L, () -> {
                if (!served.get()) {
                    PageFrame frame = file.pin(50);
                    pages.checkAll(50, frame.segment());
                    frame.unpin();
                    served.set(true);
                }
                return false;
            });
            tasks.await(cache::isAwaited);
            pinned.removeFirst().unpin();
            tasks.await(() -> served.get() || !errors.isEmpty());
            assertThat(List.copyOf(errors)).isEmpty();
            pinned.forEach(PageFrame::unpin);
            cache.checkInvariants();
        }
    }

    /** What a reader meets that took the frame from the array just before it was given up. */
    @Test
    void a_dead_frame_cannot_be_pinned() {
        PatternFile pages = new PatternFile(17, 1, _ -> PAGE);
        try (BufferCache cache = cacheOf(1 << 20)) {
            PageFrame frame = cache.register("f", 1, pages).pin(0);
            assertThat(frame.tryKill()).as("while it is pinned").isFalse();
            frame.unpin();
            assertThat(frame.tryKill()).isTrue();
            assertThat(frame.tryKill()).as("twice").isFalse();
            assertThat(frame.tryPin()).isFalse();
            assertThat(frame.isPinned()).isFalse();
        }
    }

    /** What a reader meets that took the frame from the array just before its file was closed. */
    @Test
    void the_last_reader_of_a_doomed_frame_frees_it_even_if_its_pin_failed() {
        PatternFile pages = new PatternFile(18, 2, _ -> PAGE);
        try (BufferCache cache = cacheOf(1 << 20)) {
            CachedFile file = cache.register("f", 2, pages);
            PageFrame frame = file.pin(0);
            frame.unpin();
            assertThat(frame.doom()).as("nobody has it").isTrue();
            assertThat(frame.tryPin()).isFalse();
            assertThat(frame.isDead()).isTrue();
            assertThat(cache.statistics().frameCount()).isZero();
            assertThat(file.knows(frame)).isFalse();
            cache.checkInvariants();
        }
    }

    @Test
    void an_unpin_too_many_is_noticed() {
        PatternFile pages = new PatternFile(12, 1, _ -> PAGE);
        try (BufferCache cache = cacheOf(1 << 20)) {
            PageFrame frame = cache.register("f", 1, pages).pin(0);
            frame.unpin();
            assertThatThrownBy(frame::unpin)
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("unpinned twice");
        }
    }
}
