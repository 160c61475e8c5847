package io.turbidite.bench;

import io.turbidite.bench.operators.OperatorSuite;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.concurrent.Callable;

/** {@code ./turbidite bench operators}. */
@Command(
        name = "operators",
        description = "Operators of queries beside DuckDB's: CPU, spilling, partitions, JDBC.",
        mixinStandardHelpOptions = true)
final class OperatorCommand implements Callable<Integer> {
    @Option(names = "--flights", description = "the sample of flights (default ${DEFAULT-VALUE})")
    Path flights = Path.of("feeds", "samples", "flights-2013.csv.gz");

    @Option(names = "--tweets", description = "tweets to make (default ${DEFAULT-VALUE})")
    int tweets = 5_000_000;

    @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
    int rounds = 5;

    @Mixin
    Main.Places places = new Main.Places();

    @Override
    public Integer call() throws IOException, SQLException {
        return places.report(
                "operators", new OperatorSuite(flights, tweets, rounds, places.directory).run());
    }
}
