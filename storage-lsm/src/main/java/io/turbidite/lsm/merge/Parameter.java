package io.turbidite.lsm.merge;

import io.turbidite.core.InvalidRequestException;

import java.util.Locale;

/**
 * What the parameters of merge policies may be; messages start with the parameter's name.
 * Stateless.
 */
final class Parameter {
    private static final double RATIO_MAX = 1_000;

    private Parameter() {}

    /** How many components are merged at a time. */
    static void checkMergeCount(String name, int count) {
        if (count < 2) {
            throw new InvalidRequestException(
                    "%s: %d must be at least 2, as one component can't be merged"
                            .formatted(name, count));
        }
    }

    static void checkAtLeast(String name, int value, int least, String because) {
        if (value < least) {
            throw new InvalidRequestException(
                    "%s: %d must be at least %d%s".formatted(name, value, least, because));
        }
    }

    static void checkRatio(String name, double ratio) {
        // NaN is not above 0 either
        if (!(ratio > 0 && ratio <= RATIO_MAX)) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT,
                    "%s: %s must be above 0 and at most %.0f",
                    name,
                    ratio,
                    RATIO_MAX));
        }
    }

    /** How many times larger each level is than the one above it. */
    static void checkLevelRatio(String name, int ratio) {
        if (ratio < 2 || ratio > RATIO_MAX) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT, "%s: %d must be from 2 to %.0f", name, ratio, RATIO_MAX));
        }
    }

    static void checkBytes(String name, long bytes) {
        if (bytes < 1) {
            throw new InvalidRequestException(
                    "%s: %d must be at least 1 byte".formatted(name, bytes));
        }
    }
}
