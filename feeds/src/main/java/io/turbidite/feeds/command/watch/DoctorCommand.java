package io.turbidite.feeds.command.watch;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.health.Finding;
import io.turbidite.feeds.health.Findings;
import io.turbidite.feeds.health.RegionPlaces;
import io.turbidite.lsm.Store;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Says what of a store gives cause to worry, and what to do. */
@Command(
        name = "doctor",
        customSynopsis = "./turbidite doctor STORE [--json] [--debug]",
        description = {
            "Say what of a store gives cause to worry, with the figure and what to do.",
            "While another process holds the store, it tells the figures of its work; otherwise"
                    + " they are",
            "those of this command's opening, which shows what lies on disk. Nothing is changed.",
            "Metrics that only a running server can judge are counted, and named by --json.",
            "The exit code is 0 if there is nothing to worry about, and 1 if there is.",
        },
        sortOptions = false)
public final class DoctorCommand implements Callable<Integer> {
    private final Console console;
    private final StoreAccess stores;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public DoctorCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        return stores.use(given, this::print);
    }

    private int print(Store store) {
        boolean held = stores.isShared();
        List<Finding> found =
                new ArrayList<>(held ? Findings.of(store) : Findings.ofFigures(store));
        found.addAll(RegionPlaces.of(store));
        List<String> untold = held ? Findings.metricsThatWait(store) : Findings.metricsOfServers();
        if (common.json) {
            Json.line()
                    .put("store", given.directory())
                    .put("held", held)
                    .put("findings", found.stream().map(Finding::toMap).toList())
                    .put("untold", untold)
                    .printTo(console.out());
        } else {
            String note = held
                    ? "note: another process holds %s: the figures are since its opening"
                    : "note: no other process holds %s: the figures are of this command's opening";
            console.err().println(note.formatted(given.directory()));
            if (!untold.isEmpty()) {
                String why = held
                        ? "note: %d of %d metrics are not judged: that takes a minute of ./turbidite serve"
                        : "note: %d of %d metrics are not judged: that takes a running ./turbidite serve";
                int all = Findings.metrics().size();
                console.err().println(why.formatted(untold.size(), all));
            }
            if (found.isEmpty()) {
                console.out().println("nothing to worry about");
            }
            found.forEach(this::print);
        }
        return found.isEmpty() ? ExitCode.OK : ExitCode.FAILED;
    }

    private void print(Finding finding) {
        String metric = finding.metric();
        console.out().println("%s: %s".formatted(finding.level(), finding.what()));
        if (metric != null) {
            console.out().println("  %s is %s".formatted(metric, finding.figureText()));
        }
        console.out().println("  " + finding.advice());
    }
}
