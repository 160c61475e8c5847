package io.turbidite.bench;

import io.turbidite.bench.feed.ServeSuite;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.util.concurrent.Callable;

/** {@code bench serve}. */
@Command(
        name = "serve",
        description = "A served store: at rest, watched, scraped, with idle connections.",
        mixinStandardHelpOptions = true)
final class ServeCommand implements Callable<Integer> {
    @Option(names = "--records", description = "tweets there are (default ${DEFAULT-VALUE})")
    int records = 200_000;

    @Option(names = "--seconds", description = "of each figure (default ${DEFAULT-VALUE})")
    int seconds = 20;

    @Mixin
    Main.Places places = new Main.Places();

    @Override
    public Integer call() throws IOException {
        return places.report("serve", new ServeSuite(records, seconds, places.directory).run());
    }
}
