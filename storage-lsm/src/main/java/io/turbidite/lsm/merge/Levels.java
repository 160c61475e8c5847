package io.turbidite.lsm.merge;

/**
 * Levels by size: level i holds components from {@code ratio}^i bytes on, below
 * {@code ratio}^(i+1).
 *
 * <p>The scale is absolute and has no unit, so nobody has to say how large a flush is: the small
 * components of a secondary fall into levels as those of the primary do, only nearer to zero.
 * Stateless.
 */
final class Levels {
    private Levels() {}

    /** The level of a component: the whole part of log_ratio(bytes), 0 for an empty one. */
    static int levelOf(long bytes, int ratio) {
        int level = 0;
        for (long left = bytes; left >= ratio; left /= ratio) {
            level++;
        }
        return level;
    }
}
