package io.turbidite.bench;

import io.turbidite.bench.planner.Calibration;
import io.turbidite.bench.planner.PlannerSuite;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;

/** {@code ./turbidite bench planner}. */
@Command(
        name = "planner",
        description = "What the planner takes against the cheapest of all ways.",
        mixinStandardHelpOptions = true)
final class PlannerCommand implements Callable<Integer> {
    @Option(
            names = "--calibrate",
            arity = "0..1",
            fallbackValue = "query-ops/src/main/resources/io/turbidite/ops/plan/costs.txt",
            description =
                    "measure what steps cost and write it for the planner (without a file: the one"
                            + " of the sources); ask nothing")
    @Nullable
    Path costs;

    @Option(names = "--queries", description = "random questions (default ${DEFAULT-VALUE})")
    int queries = 300;

    @Option(names = "--records", description = "of the largest dataset (default ${DEFAULT-VALUE})")
    int records = 200_000;

    @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
    int rounds = 5;

    @Option(names = "--seed", description = "of the questions (default ${DEFAULT-VALUE})")
    long seed = 17;

    @Mixin
    Main.Places places = new Main.Places();

    @Override
    public Integer call() throws IOException {
        Path file = costs;
        if (file != null) {
            return places.report(
                    "planner-costs", List.of(new Calibration(places.directory).run(file)));
        }
        return places.report(
                "planner",
                new PlannerSuite(queries, records, rounds, seed, places.directory).run());
    }
}
