package io.turbidite.hashlog.registry;

import io.turbidite.core.InvalidRequestException;

/**
 * Addresses over which a PSF is indexed by a sorted run. <em>Immutable.</em>
 *
 * @param number of the run's file
 * @param from inclusive
 * @param to exclusive; durable before the run was made
 */
public record HistoryRun(long number, long from, long to) {
    public HistoryRun {
        if (number < 1 || from < 0 || to <= from) {
            throw new InvalidRequestException("run %d from %d to %d".formatted(number, from, to));
        }
    }
}
