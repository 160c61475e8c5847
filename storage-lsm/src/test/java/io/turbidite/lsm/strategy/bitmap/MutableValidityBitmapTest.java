package io.turbidite.lsm.strategy.bitmap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StoreFailedException;
import io.turbidite.core.memory.MemoryBudget;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

class MutableValidityBitmapTest {
    private static final long SEED = Long.getLong("turbidite.seed", 11);

    private final MemoryBudget budget = MemoryBudget.of(1 << 20);
    private final MemoryBudget.Account account = budget.account("live bitmaps");

    @AfterEach
    void all_memory_is_given_back() {
        assertThat(budget.bytesUsed()).isZero();
    }

    private static List<Long> invalidEntries(MutableValidityBitmap bitmap, long snapshot) {
        List<Long> invalidEntries = new ArrayList<>();
        bitmap.forEachInvalid(snapshot, invalidEntries::add);
        return invalidEntries;
    }

    @Test
    void an_entry_is_invalid_from_its_successor_on() {
        try (MutableValidityBitmap bitmap = MutableValidityBitmap.create(
                new MutableValidityBitmap.Memory(account, account), 130)) {
            assertThat(bitmap.invalidate(64, 20, () -> 0)).isTrue();
            assertThat(bitmap.isInvalid(64, 19)).isFalse();
            assertThat(bitmap.isInvalid(64, 20)).isTrue();
            assertThat(bitmap.isInvalid(63, 20)).isFalse();
            assertThat(bitmap.invalidatedAt(64)).isEqualTo(20);
            assertThat(bitmap.invalidatedAt(65)).isEqualTo(MutableValidityBitmap.VALID);
            assertThat(invalidEntries(bitmap, 19)).isEmpty();
            assertThat(invalidEntries(bitmap, 20)).containsExactly(64L);
        }
    }

    @Test
    void the_next_invalid_entry_is_the_one_that_is_found_one_by_one() {
        SplittableRandom random = new SplittableRandom(SEED);
        int entries = 300;
        try (MutableValidityBitmap bitmap = MutableValidityBitmap.create(
                new MutableValidityBitmap.Memory(account, account), entries)) {
            for (int i = 0; i < 12; i++) {
                long ordinal = random.nextInt(entries);
                if (random.nextInt(4) == 0) {
                    bitmap.settle(ordinal);
                } else {
                    bitmap.invalidate(ordinal, 1 + random.nextInt(20), () -> 0);
                }
                for (int from = 0; from < entries; from++) {
                    int end = from + random.nextInt(entries - from + 1);
                    long snapshot = random.nextInt(22);
                    long next = from;
                    while (next < end && !bitmap.isInvalid(next, snapshot)) {
                        next++;
                    }
                    assertThat(bitmap.nextInvalid(from, end, snapshot)).isEqualTo(next);
                }
            }
        }
    }

    @Test
    void an_entry_dies_once() {
        try (MutableValidityBitmap bitmap = MutableValidityBitmap.create(
                new MutableValidityBitmap.Memory(account, account), 1)) {
            bitmap.invalidate(0, 20, () -> 0);
            assertThat(bitmap.invalidate(0, 30, () -> 0)).isFalse();
            assertThat(bitmap.invalidatedAt(0)).isEqualTo(20);
            assertThat(bitmap.invalidCount()).isEqualTo(1);
        }
    }

    @Test
    void bits_that_two_threads_set_in_one_word_are_all_there() throws Exception {
        int entries = 200_000;
        try (MutableValidityBitmap bitmap = MutableValidityBitmap.create(
                        new MutableValidityBitmap.Memory(account, account), entries);
                ExecutorService pool = Executors.newFixedThreadPool(2)) {
            CyclicBarrier start = new CyclicBarrier(2);
            List<Callable<Integer>> halves = new ArrayList<>();
            for (int half = 0; half < 2; half++) {
                int first = half;
                halves.add(() -> {
                    start.await();
                    for (int i = first; i < entries; i += 2) {
                        bitmap.settle(i);
                    }
                    return first;
                });
            }
            for (Future<Integer> one : pool.invokeAll(halves)) {
                one.get();
            }
            assertThat(bitmap.invalidCount()).isEqualTo(entries);
            assertThat(invalidEntries(bitmap, 0)).hasSize(entries);
        }
    }

    @Test
    void a_settled_entry_is_invalid_for_everybody() {
        try (MutableValidityBitmap bitmap = MutableValidityBitmap.create(
                new MutableValidityBitmap.Memory(account, account), 10)) {
            bitmap.settle(9);
            bitmap.invalidate(3, 20, () -> 0);
            assertThat(bitmap.isInvalid(9, 0)).isTrue();
            assertThat(bitmap.invalidatedAt(9)).isEqualTo(MutableValidityBitmap.SETTLED);
            assertThat(invalidEntries(bitmap, 1)).containsExactly(9L);
        }
    }

    @Test
    void invalidations_that_the_horizon_has_passed_are_forgotten_when_room_is_needed() {
        try (MutableValidityBitmap bitmap = MutableValidityBitmap.create(
                new MutableValidityBitmap.Memory(account, account), 100_000)) {
            for (int i = 0; i < 100_000; i++) {
                long now = i + 1L;
                bitmap.invalidate(i, now, () -> now - 10);
            }
            assertThat(bitmap.listedCount()).isLessThan(64);
            assertThat(bitmap.isInvalid(99_995, 99_995)).isFalse();
            assertThat(bitmap.isInvalid(99_994, 99_995)).isTrue();
            assertThat(bitmap.invalidatedAt(5)).isEqualTo(MutableValidityBitmap.SETTLED);
        }
    }

    @Test
    void what_is_forgotten_is_given_back_and_what_is_not_is_kept() {
        long words;
        try (MutableValidityBitmap bitmap = MutableValidityBitmap.create(
                new MutableValidityBitmap.Memory(account, account), 10_000)) {
            words = budget.bytesUsed();
            for (int i = 0; i < 10_000; i++) {
                bitmap.invalidate(i, i + 1L, () -> 0);
            }
            long full = budget.bytesUsed();
            bitmap.forgetInvalidations(() -> 0);
            assertThat(budget.bytesUsed()).isEqualTo(full);
            bitmap.forgetInvalidations(() -> 9_980);
            assertThat(budget.bytesUsed() - words).isLessThan((full - words) / 64);
            assertThat(bitmap.listedCount()).isEqualTo(20);
            assertThat(bitmap.isInvalid(9_980, 9_980)).isFalse();
            assertThat(bitmap.isInvalid(9_980, 9_981)).isTrue();
            assertThat(bitmap.invalidatedAt(9_979)).isEqualTo(MutableValidityBitmap.SETTLED);
            bitmap.forgetInvalidations(() -> 20_000);
            assertThat(budget.bytesUsed()).isEqualTo(words);
            assertThat(bitmap.isInvalid(9_999, 20_000)).isTrue();
        }
    }

    @Test
    void says_what_was_set_since_the_last_save_began() {
        try (MutableValidityBitmap bitmap = MutableValidityBitmap.create(
                new MutableValidityBitmap.Memory(account, account), 10)) {
            assertThat(bitmap.isUnsaved()).isFalse();
            bitmap.invalidate(1, 1, () -> 0);
            assertThat(bitmap.isUnsaved()).isTrue();
            bitmap.beginSave();
            assertThat(bitmap.isUnsaved()).isFalse();
            bitmap.failSave();
            assertThat(bitmap.isUnsaved()).isTrue();
        }
    }

    @Test
    void without_memory_the_store_says_so_and_nothing_is_kept() {
        assertThatThrownBy(() -> MutableValidityBitmap.create(
                        new MutableValidityBitmap.Memory(account, account), 1L << 40))
                .isInstanceOf(StoreFailedException.class)
                .hasMessageContaining("live bitmaps");
    }

    @Test
    void agrees_with_a_map_of_times() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int round = 0; round < 20; round++) {
            int entries = 1 + random.nextInt(2_000);
            Map<Long, Long> model = new HashMap<>();
            try (MutableValidityBitmap bitmap = MutableValidityBitmap.create(
                    new MutableValidityBitmap.Memory(account, account), entries)) {
                long horizon = 0;
                for (long now = 1; now < 1_500; now++) {
                    long ordinal = random.nextInt(entries);
                    long oldest = horizon;
                    boolean invalidated = bitmap.invalidate(ordinal, now, () -> oldest);
                    assertThat(invalidated).isEqualTo(model.putIfAbsent(ordinal, now) == null);
                    if (random.nextInt(50) == 0) {
                        horizon += random.nextLong(now - horizon + 1);
                    }
                    long asked = random.nextInt(entries);
                    long snapshot = horizon + random.nextLong(now - horizon + 1);
                    assertThat(bitmap.isInvalid(asked, snapshot))
                            .as("seed %d, entry %d at %d", SEED, asked, snapshot)
                            .isEqualTo(model.getOrDefault(asked, Long.MAX_VALUE) <= snapshot);
                }
                long snapshot = horizon;
                assertThat(invalidEntries(bitmap, snapshot))
                        .isEqualTo(model.entrySet().stream()
                                .filter(invalidation -> invalidation.getValue() <= snapshot)
                                .map(Map.Entry::getKey)
                                .sorted()
                                .toList());
            }
        }
    }
}
