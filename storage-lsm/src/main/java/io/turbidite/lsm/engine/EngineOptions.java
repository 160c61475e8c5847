package io.turbidite.lsm.engine;

import io.turbidite.core.index.IndexKinds;
import io.turbidite.core.log.LogOptions;
import io.turbidite.lsm.schedule.BackgroundOptions;

/**
 * Budgets and durability of a store, checked and described where users give them
 * ({@code StoreOptions}). <em>Immutable.</em>
 */
public record EngineOptions(
        long writeMemoryBytes,
        long cacheBytes,
        long logBytesMax,
        LogOptions log,
        BackgroundOptions background,
        boolean directIo,
        IndexKinds indexKinds) {}
