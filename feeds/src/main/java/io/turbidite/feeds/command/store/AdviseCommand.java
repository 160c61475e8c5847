package io.turbidite.feeds.command.store;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.strategy.advice.Advice;
import io.turbidite.lsm.strategy.advice.Advice.IndexAdvice;
import io.turbidite.lsm.strategy.advice.Cost;
import io.turbidite.lsm.strategy.advice.RepairDecision;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

/** Says what other maintenance strategies would cost and save. */
@Command(
        name = "advise",
        customSynopsis = "./turbidite advise STORE [DATASET] [--json] [--debug]",
        description = {
            "Compare what maintenance strategies would cost the indexes of a dataset.",
            "It goes by what was written and asked so far, and says why. Nothing is changed.",
            "Queries by a command that opens the store itself are not counted.",
        },
        sortOptions = false)
public final class AdviseCommand implements Callable<Integer> {
    private final Console console;
    private final StoreAccess stores;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "DATASET",
            description = "One dataset; without it, all that have indexes.")
    private @Nullable String dataset;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public AdviseCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        return stores.use(given, this::print);
    }

    private int print(Store store) {
        List<Dataset> asked = dataset == null
                ? store.datasets().stream()
                        .filter(one -> !one.indexes().isEmpty())
                        .toList()
                : List.of(store.dataset(dataset));
        List<Advice> advice = asked.stream().map(Dataset::advise).toList();
        if (common.json) {
            Json.line()
                    .put("store", given.directory())
                    .put("datasets", advice.stream().map(AdviseCommand::toMap).toList())
                    .printTo(console.out());
        } else if (advice.isEmpty()) {
            console.out().println("no dataset of %s has an index".formatted(given.directory()));
        } else {
            advice.forEach(one -> print(one, console.out()));
            console.out()
                    .println("queries by a command that opens the store itself are not counted");
        }
        return ExitCode.OK;
    }

    /** What {@code advise --json} prints of a dataset. */
    public static Map<String, @Nullable Object> toMap(Advice advice) {
        return Json.line()
                .put("dataset", advice.dataset())
                .put("pagesNow", Math.round(advice.nowPages()))
                .put("pagesAdvised", Math.round(advice.advisedPages()))
                .put("reasons", advice.reasons())
                .put(
                        "indexes",
                        advice.indexes().stream().map(AdviseCommand::toMap).toList())
                .toMap();
    }

    private static Map<String, @Nullable Object> toMap(IndexAdvice index) {
        Json.Line costs = Json.line();
        index.costs()
                .forEach((strategy, cost) -> costs.put(
                        strategy.label(),
                        Json.line()
                                .put("written", Math.round(cost.written()))
                                .put("merging", Math.round(cost.merging()))
                                .put("querying", Math.round(cost.querying()))
                                .toMap()));
        Json.Line refused = Json.line();
        index.refused().forEach((strategy, reason) -> refused.put(strategy.label(), reason));
        RepairDecision repair = index.repair();
        return Json.line()
                .put("index", index.index())
                .put("maintenance", index.now().label())
                .put("advised", index.advised().label())
                .put("repair", repair == null ? null : repair.placement().label())
                .put("reasons", index.reasons())
                .put("costs", costs.toMap())
                .put("refused", refused.toMap())
                .toMap();
    }

    private static void print(Advice advice, PrintStream out) {
        out.println("dataset " + advice.dataset());
        advice.reasons().forEach(line -> out.println("  " + line));
        for (IndexAdvice index : advice.indexes()) {
            out.println("  index %s: %s%s"
                    .formatted(
                            index.index(),
                            index.now().label(),
                            index.isChange() ? ", better " + index.advised().label() : ""));
            index.reasons().forEach(line -> out.println("    " + line));
            out.println("    pages              written   for merges  for queries");
            for (Maintenance strategy : Maintenance.values()) {
                Cost cost = index.costs().get(strategy);
                out.println(
                        cost == null
                                ? "    %-14s refused".formatted(strategy.label())
                                : String.format(
                                        Locale.ROOT,
                                        "    %-14s %,11.0f  %,11.0f  %,11.0f",
                                        strategy.label(),
                                        cost.written(),
                                        cost.merging(),
                                        cost.querying()));
            }
        }
    }
}
