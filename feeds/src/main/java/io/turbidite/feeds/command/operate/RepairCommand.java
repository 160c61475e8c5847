package io.turbidite.feeds.command.operate;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.DatasetDescription;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.RepairCounts;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

import java.util.concurrent.Callable;

/** Repairs secondary indexes. */
@Command(
        name = "repair",
        customSynopsis = "./turbidite repair STORE [DATASET [INDEX]] [--json] [--debug]",
        description = {
            "Find the obsolete entries of indexes that are not eager, and mark them.",
            "Searches pass them over at once, merges drop them. Without DATASET all datasets are repaired,",
            "without INDEX all indexes.",
        },
        sortOptions = false)
public final class RepairCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "DATASET",
            description = "Name of the dataset.")
    private @Nullable String dataset;

    @Parameters(
            index = "2",
            arity = "0..1",
            paramLabel = "INDEX",
            description = "Name of the index.")
    private @Nullable String index;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public RepairCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        try (Store store = given.openToChange()) {
            String name = dataset;
            if (name != null) {
                repair(store, store.dataset(name));
                return ExitCode.OK;
            }
            for (DatasetDescription described : store.describe().datasets()) {
                if (hasObsolete(described)) {
                    repair(store, store.dataset(described.name()));
                } else {
                    skip(described.name());
                }
            }
        }
        return ExitCode.OK;
    }

    private static boolean hasObsolete(DatasetDescription described) {
        // the first is the primary
        return described.partitions().getFirst().indexes().stream()
                .skip(1)
                .anyMatch(one -> one.state().equals("ready")
                        && !one.maintenance().equals(Maintenance.EAGER.label()));
    }

    /** What is in memory counts as well: the key trees are those of components. */
    private void repair(Store store, Dataset target) {
        String name = index;
        long startNanos = console.clock().monotonicNanos();
        target.flush();
        RepairCounts counts;
        try (var _ = StoreProgress.repairing(console, store, target.name(), name)) {
            counts = name == null ? target.repair() : target.repair(name);
        }
        double seconds = (console.clock().monotonicNanos() - startNanos) / 1e9;
        if (common.json) {
            Json.line()
                    .put("dataset", target.name())
                    .put("index", name)
                    .put("components", counts.components())
                    .put("checked", counts.checked())
                    .put("spared", counts.spared())
                    .put("searched", counts.searched())
                    .put("marked", counts.marked())
                    .put("keyPages", counts.keyPages())
                    .put("seconds", seconds)
                    .printTo(console.out());
        } else {
            console.out()
                    .println("%s%s: %s, %s"
                            .formatted(
                                    target.name(),
                                    name == null ? "" : ", index " + name,
                                    text(counts),
                                    Words.seconds(seconds)));
        }
    }

    private static String text(RepairCounts counts) {
        return counts.components() == 0
                ? "no component has entries to check"
                : "%s of %s checked %s obsolete, in %s"
                        .formatted(
                                Words.number(counts.marked()),
                                Words.number(counts.checked()),
                                counts.checked() == 1 ? "entry is" : "entries are",
                                Words.count(counts.components(), "component"));
    }

    private void skip(String name) {
        if (common.json) {
            Json.line()
                    .put("dataset", name)
                    .put("skipped", "no index can have obsolete entries")
                    .printTo(console.out());
        } else {
            console.out()
                    .println("%s: no index can have obsolete entries, nothing to do"
                            .formatted(name));
        }
    }
}
