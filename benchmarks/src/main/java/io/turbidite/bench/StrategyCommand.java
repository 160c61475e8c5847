package io.turbidite.bench;

import io.turbidite.bench.report.Report;
import io.turbidite.bench.strategy.StrategySuite;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;

/** {@code ./turbidite bench insert|upsert|…}: one experiment on maintenance strategies. */
@Command(mixinStandardHelpOptions = true)
final class StrategyCommand implements Callable<Integer> {
    private record Experiment(
            String name, String description, Function<StrategySuite, List<Report>> run) {}

    private static final List<Experiment> EXPERIMENTS = List.of(
            new Experiment(
                    "insert",
                    "Inserts of unique keys with and without a primary key index (LUO19 Fig. 11).",
                    StrategySuite::insert),
            new Experiment(
                    "upsert",
                    "Upserts under each maintenance strategy (LUO19 Fig. 12, 13).",
                    StrategySuite::upsert),
            new Experiment(
                    "query",
                    "Secondary queries under each maintenance strategy (LUO19 Fig. 14, 15).",
                    StrategySuite::query),
            new Experiment(
                    "filter",
                    "Scans of a span of time under each maintenance strategy (LUO19 Fig. 16).",
                    StrategySuite::filter),
            new Experiment(
                    "repair",
                    "Repair of secondaries by key trees and by the primary (LUO19 Fig. 17, 18).",
                    StrategySuite::repair),
            new Experiment(
                    "deferred",
                    "Small records, half deletes, under each maintenance strategy (DEFER18 Fig. 7).",
                    StrategySuite::deferred));

    private final Experiment experiment;

    @Option(names = "--tweets", description = "a store (default ${DEFAULT-VALUE})")
    int tweets = 300_000;

    @Option(
            names = "--warm-up",
            description = "smaller rounds before those that count (default ${DEFAULT-VALUE})")
    int warmUpRounds = 3;

    @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
    int rounds = 3;

    @Mixin
    Main.Places places = new Main.Places();

    private StrategyCommand(Experiment experiment) {
        this.experiment = experiment;
    }

    /** Makes each experiment a subcommand. */
    static void addAll(CommandLine bench) {
        for (Experiment experiment : EXPERIMENTS) {
            CommandLine command = new CommandLine(new StrategyCommand(experiment));
            command.getCommandSpec().usageMessage().description(experiment.description());
            bench.addSubcommand(experiment.name(), command);
        }
    }

    @Override
    public Integer call() throws IOException {
        StrategySuite suite = new StrategySuite(tweets, warmUpRounds, rounds, places.directory);
        return places.report(experiment.name(), experiment.run().apply(suite));
    }
}
