package io.turbidite.bench;

import io.turbidite.bench.ycsb.Mix;
import io.turbidite.bench.ycsb.YcsbSuite;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;

/** {@code bench ycsb}. */
@Command(
        name = "ycsb",
        description = "YCSB A to F by the public API, warm and cold, beside RocksDB.",
        mixinStandardHelpOptions = true)
final class YcsbCommand implements Callable<Integer> {
    @Option(
            names = "--workloads",
            split = ",",
            description = "of ${COMPLETION-CANDIDATES} (default: all)")
    Set<Mix> workloads = EnumSet.allOf(Mix.class);

    @Option(names = "--records", description = "of 1 KB, to load (default ${DEFAULT-VALUE})")
    int records = 1_000_000;

    @Option(
            names = "--operations",
            description = "of each workload a round; a tenth of E (default ${DEFAULT-VALUE})")
    int operations = 300_000;

    @Option(
            names = "--cold-operations",
            description = "the first ones of a new process (default ${DEFAULT-VALUE})")
    int coldOperations = 300_000;

    @Option(
            names = "--warm-up",
            description = "rounds before those that count (default ${DEFAULT-VALUE})")
    int warmUpRounds = 3;

    @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
    int rounds = 5;

    @Option(
            names = "--cold-rounds",
            description = "new processes for each workload and engine (default ${DEFAULT-VALUE})")
    int coldRounds = 3;

    @Mixin
    Main.Places places = new Main.Places();

    @Override
    public Integer call() throws IOException {
        YcsbSuite.Setting setting = new YcsbSuite.Setting(
                List.copyOf(EnumSet.copyOf(workloads)),
                records,
                operations,
                coldOperations,
                warmUpRounds,
                rounds,
                coldRounds);
        return places.report("ycsb", new YcsbSuite(setting, places.directory).run());
    }
}
