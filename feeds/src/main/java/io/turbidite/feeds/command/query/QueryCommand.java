package io.turbidite.feeds.command.query;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.DisabledIndexes;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.RowOutput;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.feeds.command.plot.CellPicture;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.ops.Explanation;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Asks a dataset. */
@Command(
        name = "query",
        customSynopsis = "./turbidite query STORE DATASET [predicates] [options]",
        description = {
            "Print the records of a dataset that match all predicates, one JSON object a line.",
            "Every predicate works on every field of a fitting type; an index makes it fast.",
            "Values are written as the field's type is: -17, 2013-07-04T10:15:30Z, [x,y], true.",
        },
        sortOptions = false,
        footer = {
            "",
            "Example: ./turbidite query turbidite-quickstart Flights --eq origin=JFK \\",
            "           --range dep_delay_min=120.. --group dest --order count:desc --limit 5"
        })
public final class QueryCommand implements Callable<Integer> {
    /** In the store's directory; its files are gone when the query ends. */
    private final Console console;

    private final StoreAccess stores;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(index = "1", paramLabel = "DATASET", description = "Name of the dataset.")
    private String datasetName = "";

    @Mixin
    private final Question question = new Question();

    @Option(
            names = "--plot",
            paramLabel = "FILE",
            description =
                    "Draw the cells of --group-cell too, coloured by count; FILE ends in .svg or .png.")
    private @Nullable String plot;

    @Option(
            names = "--csv",
            description =
                    "Print the rows as CSV: a line of names, then a line a row. Null is empty.")
    private boolean csv;

    @Option(
            names = "--explain",
            description =
                    "Tell on standard error how the answer came about, with estimated and actual rows.")
    private boolean explain;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public QueryCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        return stores.use(given, store -> {
            try (SpillDirectory _ = SpillDirectory.of(store, stores.isShared())) {
                return ask(store);
            }
        });
    }

    private int ask(Store store) {
        AtomicBoolean stopped = new AtomicBoolean();
        try (Interrupts.Watch watch = console.interrupts().watch(() -> stopped.set(true))) {
            RunOptions options = options(store).withStop(stopped::get);
            Dataset dataset = store.dataset(datasetName);
            CellPicture picture = plot == null ? null : picture(plot);
            Query query = question.on(dataset).with(options);
            DisabledIndexes.tell(
                    store,
                    dataset,
                    given.directory(),
                    console,
                    index -> !machineReads() && question.asksFor(index.fields().getFirst()));
            long startNanos = console.clock().monotonicNanos();
            long rows;
            Explanation explanation;
            try (QueryResult result = query.run()) {
                RowOutput out = new RowOutput(console.out());
                rows = picture != null
                        ? forEachCell(result, picture, out)
                        : csv ? CsvRows.write(result, out) : result.forEachJson(out);
                explanation = result.explain();
            } catch (CancellationException e) {
                return ExitCode.INTERRUPTED;
            } catch (UncheckedIOException e) {
                // nobody reads on; whether that is worth a word, Main knows
                return ExitCode.FAILED;
            }
            console.out().flush();
            if (picture != null) {
                picture.write(
                        "%s by cells of %s".formatted(datasetName, question.cellSizes()),
                        question.cellField(),
                        dataset.type());
            }
            double millis = Words.toMillis(console.clock().monotonicNanos() - startNanos);
            if (explain) {
                console.err()
                        .println(
                                common.json
                                        ? Json.text(explanation.toMap())
                                        : explanation.toString());
            } else if (console.terminal() && !common.json) {
                console.err()
                        .println("%s in %s: %s"
                                .formatted(
                                        Words.count(rows, "row"),
                                        Words.millis(millis),
                                        explanation.access()));
            }
            return watch.interrupted() ? ExitCode.INTERRUPTED : ExitCode.OK;
        }
    }

    /** A picture of the cells that are asked for. */
    private CellPicture picture(String file) {
        if (!question.groupsByCell()) {
            throw new InvalidRequestException(
                    "--plot draws the cells of --group-cell f=dx,dy, and there is none");
        }
        if (csv) {
            throw new InvalidRequestException("--plot prints its cells as JSON: leave --csv out");
        }
        if (!question.counts()) {
            throw new InvalidRequestException(
                    "--plot draws the counts of cells: beside aggregates, ask for --count too");
        }
        return CellPicture.to(console.directory().resolve(PathArgument.path("--plot", file)));
    }

    private static long forEachCell(QueryResult result, CellPicture picture, OutputStream out) {
        ByteSink json = new ByteSink(256, Integer.MAX_VALUE - 8);
        long rows = 0;
        try {
            while (result.next()) {
                json.clear();
                result.toJson(json);
                out.write(json.putByte('\n').asSlice(new Slice()).toByteArray());
                picture.add(result);
                rows++;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return rows;
    }

    /** Whether standard error is JSON. */
    private boolean machineReads() {
        return explain && common.json;
    }

    private RunOptions options(Store store) {
        return RunOptions.defaults()
                .withSpill(store.environment().disk(), StoreFiles.SPILL)
                .withTasks(store.environment().tasks());
    }
}
