package io.turbidite.core.cache;

/**
 * The sizes in which page memory is handed out: four steps in every doubling, from 4 KiB to 32 MiB,
 * so that a page wastes a fifth of its slot at most (pages under 4 KiB excepted) and the common
 * sizes, powers of two, waste nothing.
 */
final class SizeClasses {
    static final int SLOT_BYTES_MIN = 4 << 10;
    static final int PAGE_BYTES_MAX = 32 << 20;
    static final int COUNT = 53;

    private SizeClasses() {}

    /** The smallest class that holds {@code pageBytes}. */
    static int of(int pageBytes) {
        if (pageBytes <= SLOT_BYTES_MIN) {
            return 0;
        }
        int last = pageBytes - 1;
        int shift = 29 - Integer.numberOfLeadingZeros(last);
        int quarters = (last >>> shift) + 1;
        return (shift - 10) * 4 + quarters - 4;
    }

    /** Bytes of a slot of the class: 4, 5, 6, 7, 8, 10, 12, 14, 16 KiB and so on. */
    static int bytes(int sizeClass) {
        return (4 + (sizeClass & 3)) << (10 + (sizeClass >>> 2));
    }
}
