package io.turbidite.feeds;

import io.turbidite.core.log.Durability;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schedule.BackgroundOptions;
import io.turbidite.lsm.schedule.MergeScheduler;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;

/** Turns the section {@code store} of a definition into options. Static, without state. */
final class StoreOptionsReader {
    private static final List<String> DURABILITIES =
            List.of("sync", "interval", "process", "buffered");
    private static final List<String> MERGE_SCHEDULERS =
            Arrays.stream(MergeScheduler.values()).map(MergeScheduler::label).toList();

    private StoreOptionsReader() {}

    static StoreOptions read(Section root) {
        StoreOptions options = StoreDefaults.options();
        Section section = root.child("store");
        if (section == null) {
            return options;
        }
        String durability = section.choice("durability", DURABILITIES, List.of());
        if (durability != null) {
            options =
                    options.withDurability(Durability.valueOf(durability.toUpperCase(Locale.ROOT)));
        }
        options = with(section, "writeMemoryBytes", options, StoreOptions::withWriteMemoryBytes);
        options = with(section, "cacheBytes", options, StoreOptions::withCacheBytes);
        options = with(section, "queryMemoryBytes", options, StoreOptions::withQueryMemoryBytes);
        options = with(
                section,
                "logBytesMax",
                options,
                (before, bytes) -> before.withLog(bytes, before.log()));
        String scheduler = section.choice("mergeScheduler", MERGE_SCHEDULERS, List.of());
        if (scheduler != null) {
            options = options.withBackground(
                    options.background().withMergeScheduler(MergeScheduler.of(scheduler)));
        }
        options = with(
                section,
                "ioBytesPerSecond",
                options,
                (before, bytes) ->
                        before.withBackground(before.background().withIoBytesPerSecond(bytes)));
        options = with(
                section,
                "syncBytes",
                options,
                (before, bytes) -> before.withBackground(before.background().withSyncBytes(bytes)));
        Integer workers = section.integer("mergeWorkers", 1, BackgroundOptions.MERGE_WORKERS_MAX);
        if (workers != null) {
            options = options.withBackground(options.background().withMergeWorkers(workers));
        }
        Integer backlog = section.integer("backlogComponentsMax", 4, Integer.MAX_VALUE);
        if (backlog != null) {
            options =
                    options.withBackground(options.background().withBacklogComponentsMax(backlog));
        }
        options = options.withDirectIo(section.truth("directIo", options.directIo()));
        section.end();
        return options;
    }

    private static StoreOptions with(
            Section section,
            String key,
            StoreOptions before,
            BiFunction<StoreOptions, Long, StoreOptions> change) {
        Long bytes = section.bytes(key);
        StoreOptions after =
                bytes == null ? null : section.convert(key, bytes, b -> change.apply(before, b));
        return after == null ? before : after;
    }
}
