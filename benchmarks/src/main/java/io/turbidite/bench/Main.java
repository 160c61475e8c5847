package io.turbidite.bench;

import io.turbidite.bench.engine.EngineSuite;
import io.turbidite.bench.report.Report;

import org.openjdk.jmh.runner.RunnerException;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

/** {@code ./turbidite bench SUITE}: runs a suite, writes table, JSON and plot. */
@Command(
        name = "turbidite bench",
        description = "Runs an experiment suite.",
        mixinStandardHelpOptions = true,
        subcommands = {Main.EngineCommand.class, Main.JmhCommand.class})
public final class Main implements Runnable {
    private Main() {}

    public static void main(String[] args) {
        System.exit(new CommandLine(new Main()).execute(args));
    }

    @Override
    public void run() {
        CommandLine.usage(this, System.out);
    }

    @Command(
            name = "engine",
            description = "Upserts, gets, scans and secondary queries beside RocksDB and Hyracks.",
            mixinStandardHelpOptions = true)
    static final class EngineCommand implements Callable<Integer> {
        @Option(names = "--upserts", description = "tweets a round (default ${DEFAULT-VALUE})")
        int upserts = 1_000_000;

        @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
        int rounds = 3;

        @Option(
                names = "--scenarios",
                split = ",",
                description = "numbers of the tables to make (default: all)")
        List<Integer> scenarios = List.of();

        @Option(names = "--out", description = "where the result goes (default ${DEFAULT-VALUE})")
        Path out = Path.of("docs", "experiments");

        @Option(names = "--dir", description = "where the stores lie (default: a temporary one)")
        Path directory = Path.of(System.getProperty("java.io.tmpdir"), "turbidite-bench");

        @Override
        public Integer call() throws IOException {
            Files.createDirectories(directory);
            List<Integer> numbers = scenarios.isEmpty()
                    ? IntStream.rangeClosed(1, EngineSuite.scenarioCount()).boxed().toList()
                    : scenarios;
            List<Report> reports = new EngineSuite(upserts, rounds, directory).run(numbers);
            Report.writeAll(out, "engine", reports);
            reports.forEach(report -> System.out.println(report.table()));
            return 0;
        }
    }

    @Command(
            name = "jmh",
            description = "Runs JMH with the arguments that follow.",
            mixinStandardHelpOptions = true)
    static final class JmhCommand implements Callable<Integer> {
        @Parameters(arity = "0..*")
        List<String> arguments = List.of();

        @Override
        public Integer call() throws IOException, RunnerException {
            org.openjdk.jmh.Main.main(arguments.toArray(String[]::new));
            return 0;
        }
    }

    @Override
    public String toString() {
        return Arrays.toString(new String[] {"engine", "jmh"});
    }
}
