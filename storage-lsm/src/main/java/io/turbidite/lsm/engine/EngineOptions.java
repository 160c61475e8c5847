package io.turbidite.lsm.engine;

import io.turbidite.core.index.IndexKinds;
import io.turbidite.core.log.LogOptions;
import io.turbidite.lsm.schedule.BackgroundOptions;

import org.jspecify.annotations.Nullable;

/**
 * Budgets and durability of a store, checked and described where users give them
 * ({@code StoreOptions}). <em>Immutable.</em>
 *
 * @param runtime what the store shares with others; null if it has all of it to itself
 */
public record EngineOptions(
        long writeMemoryBytes,
        long cacheBytes,
        long queryMemoryBytes,
        long logBytesMax,
        LogOptions log,
        BackgroundOptions background,
        boolean directIo,
        IndexKinds indexKinds,
        @Nullable EngineRuntime runtime) {}
