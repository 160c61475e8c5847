package io.turbidite.feeds.command.watch;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Instrument;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Reading;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Store;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/** Shows the instruments of a store. */
@Command(
        name = "stats",
        customSynopsis = "./turbidite stats STORE [NAME...] [--all] [--json] [--debug]",
        description = {
            "Show what a store has counted and measured: docs/metrics.md explains each figure.",
            "Figures begin with the opening of the store: ask while another process holds it.",
        },
        sortOptions = false)
public final class StatsCommand implements Callable<Integer> {
    private static final double NANOS_PER_MILLI = 1e6;

    private final Console console;
    private final StoreAccess stores;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(
            index = "1..*",
            paramLabel = "NAME",
            description =
                    "How figures' names begin, such as cache or write.stall; all without any.")
    private List<String> names = List.of();

    @Option(names = "--all", description = "Those too that are 0; any that are named are shown.")
    private boolean all;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public StatsCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        return stores.use(given, this::print);
    }

    private int print(Store store) {
        List<Instrument> instruments = store.meters().instruments();
        for (String name : names) {
            if (instruments.stream().noneMatch(one -> one.name().startsWith(name))) {
                throw new InvalidRequestException(
                        "no figure's name begins with '%s'; the first parts of names are %s"
                                .formatted(
                                        name,
                                        instruments.stream()
                                                .map(one -> one.name().replaceFirst("\\..*", ""))
                                                .distinct()
                                                .collect(Collectors.joining(", "))));
            }
        }
        instruments.stream()
                .filter(one -> names.isEmpty() || names.stream().anyMatch(one.name()::startsWith))
                .forEach(this::print);
        if (!stores.isShared() && !common.json) {
            console.err()
                    .println(
                            "note: no other process holds %s: the figures are of this command's opening"
                                    .formatted(given.directory()));
        }
        return ExitCode.OK;
    }

    private boolean showsZeros() {
        return all || !names.isEmpty();
    }

    private void print(Instrument instrument) {
        switch (instrument) {
            case Counter counter -> print(instrument, counter.sum());
            case Reading reading -> print(instrument, reading.value());
            case Latency latency -> {
                Latency.Summary times = latency.summary();
                if (times.count() == 0 && !showsZeros()) {
                    return;
                }
                if (common.json) {
                    line(instrument)
                            .put("count", times.count())
                            .put("nanosSum", times.nanosSum())
                            .put("p50Nanos", times.p50Nanos())
                            .put("p99Nanos", times.p99Nanos())
                            .put("p999Nanos", times.p999Nanos())
                            .put("maxNanos", times.maxNanos())
                            .printTo(console.out());
                } else {
                    console.out()
                            .println("%s %s, half within %s, 99 %% within %s, longest %s"
                                    .formatted(
                                            name(instrument),
                                            Words.count(times.count(), "time"),
                                            millis(times.p50Nanos()),
                                            millis(times.p99Nanos()),
                                            millis(times.maxNanos())));
                }
            }
        }
    }

    private void print(Instrument instrument, long value) {
        if (value == 0 && !showsZeros()) {
            return;
        }
        if (common.json) {
            line(instrument).put("value", value).printTo(console.out());
        } else {
            console.out().println("%s %s".formatted(name(instrument), Words.number(value)));
        }
    }

    private static Json.Line line(Instrument instrument) {
        return Json.line().put("name", instrument.name()).put("tags", instrument.tags());
    }

    private static String name(Instrument instrument) {
        return instrument.name() + (instrument.tags().isEmpty() ? "" : instrument.tags());
    }

    private static String millis(long nanos) {
        return Words.millis(nanos / NANOS_PER_MILLI);
    }
}
