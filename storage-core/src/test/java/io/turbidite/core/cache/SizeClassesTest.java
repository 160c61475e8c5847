package io.turbidite.core.cache;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SizeClassesTest {
    @Test
    void every_page_gets_the_smallest_class_that_holds_it() {
        for (int pageBytes = 1; pageBytes < 300_000; pageBytes++) {
            check(pageBytes);
        }
        for (int pageBytes = 300_000; pageBytes < SizeClasses.PAGE_BYTES_MAX; pageBytes += 997) {
            check(pageBytes);
        }
        for (int sizeClass = 0; sizeClass < SizeClasses.COUNT; sizeClass++) {
            int bytes = SizeClasses.bytes(sizeClass);
            check(bytes);
            assertThat(SizeClasses.of(bytes)).isEqualTo(sizeClass);
        }
        assertThat(SizeClasses.bytes(SizeClasses.COUNT - 1)).isEqualTo(SizeClasses.PAGE_BYTES_MAX);
    }

    @Test
    void a_page_above_4_KiB_wastes_a_fifth_at_most() {
        for (int pageBytes = 4_097; pageBytes < 1 << 20; pageBytes += 13) {
            int slot = SizeClasses.bytes(SizeClasses.of(pageBytes));
            assertThat(slot - pageBytes).isLessThanOrEqualTo(slot / 5);
        }
    }

    private static void check(int pageBytes) {
        int sizeClass = SizeClasses.of(pageBytes);
        boolean holds = SizeClasses.bytes(sizeClass) >= pageBytes;
        boolean smallest = sizeClass == 0 || SizeClasses.bytes(sizeClass - 1) < pageBytes;
        if (!holds || !smallest) {
            throw new AssertionError(pageBytes + " bytes got class " + sizeClass);
        }
    }
}
