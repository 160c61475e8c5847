package io.turbidite.bench;

import io.turbidite.bench.engine.GrowthSuite;
import io.turbidite.bench.peer.RecordSize;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;

/** {@code bench growth}. */
@Command(
        name = "growth",
        description = "What an operation costs as data grows, beside RocksDB.",
        mixinStandardHelpOptions = true)
final class GrowthCommand implements Callable<Integer> {
    @Option(
            names = "--records",
            description = "SMALL, of 72 bytes, or TWEETS, of 500 (default ${DEFAULT-VALUE})")
    RecordSize size = RecordSize.SMALL;

    @Option(
            names = "--sizes",
            split = ",",
            description =
                    "upserts of each store, two sizes or more; for 100000000 give it a heap of"
                            + " 2 GiB (default 300000,1000000,3000000,10000000)")
    List<Integer> sizes = List.of(300_000, 1_000_000, 3_000_000, 10_000_000);

    @Option(names = "--gets", description = "of each kind a store (default ${DEFAULT-VALUE})")
    int gets = 200_000;

    @Option(
            names = "--warm-up",
            description = "rounds before those that count (default ${DEFAULT-VALUE})")
    int warmUpRounds = 2;

    @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
    int rounds = 3;

    @Option(
            names = "--write-memory",
            description = "MiB of each engine, whatever the size (default ${DEFAULT-VALUE})")
    int writeMemoryMib = 16;

    @Option(
            names = "--cache",
            description = "MiB of each engine, whatever the size (default ${DEFAULT-VALUE})")
    int cacheMib = 1_024;

    @Mixin
    Main.Places places = new Main.Places();

    @Override
    public Integer call() throws IOException {
        GrowthSuite.Setting setting = new GrowthSuite.Setting(
                size, sizes, gets, warmUpRounds, rounds, writeMemoryMib, cacheMib);
        return places.report("growth", new GrowthSuite(setting, places.directory).run());
    }
}
