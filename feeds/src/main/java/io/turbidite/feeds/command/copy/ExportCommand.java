package io.turbidite.feeds.command.copy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.type.Field;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.RowOutput;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
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
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Writes the records of a dataset to a file. */
@Command(
        name = "export",
        customSynopsis = """
                ./turbidite export STORE DATASET FILE|- [--format ndjson|csv] [--select f,g]
                  [--where condition] [--separator c] [--json] [--debug]""",
        description = {
            "Write the records of a dataset, as they are at one moment, to a new file.",
            "The file is there whole or not at all; one that is there is not written over.",
        },
        sortOptions = false)
public final class ExportCommand implements Callable<Integer> {
    private static final int ROWS_CHARS = 32 << 10;

    private final Console console;
    private final StoreAccess stores;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(index = "1", paramLabel = "DATASET", description = "Name of the dataset.")
    private String datasetName = "";

    @Parameters(
            index = "2",
            paramLabel = "FILE",
            description = "The new file; - for standard output.")
    private String target = "";

    @Option(
            names = "--format",
            paramLabel = "KIND",
            description =
                    "ndjson, a JSON object a line, or csv; without it, as the file's name ends (.ndjson, .jsonl, .json, .csv).")
    private @Nullable String format;

    @Option(
            names = "--select",
            split = ",",
            paramLabel = "f,g",
            hideParamSyntax = true,
            description = "These fields only; CSV has all declared fields without it.")
    private List<String> select = List.of();

    @Option(
            names = "--where",
            paramLabel = "condition",
            description = "Records for which the condition is true, such as \"delay > 30\".")
    private @Nullable String where;

    @Option(
            names = "--separator",
            paramLabel = "c",
            description = "Between the fields of CSV; a comma without it.")
    private @Nullable String separator;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    private boolean leavesOut;

    public ExportCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        FileFormat kind = FileFormat.of(format, target);
        if (separator != null && kind != FileFormat.CSV) {
            throw new InvalidRequestException("--separator goes with csv alone");
        }
        CsvCells cells = new CsvCells(FileFormat.separator(separator));
        return stores.use(given, store -> export(store, kind, cells));
    }

    private int export(Store store, FileFormat kind, CsvCells cells) {
        AtomicBoolean stopped = new AtomicBoolean();
        try (Interrupts.Watch watch = console.interrupts().watch(() -> stopped.set(true))) {
            Dataset dataset = store.dataset(datasetName);
            Query query = Query.on(dataset)
                    .select(select)
                    .with(RunOptions.defaults()
                            .withTasks(store.environment().tasks())
                            .withStop(stopped::get));
            if (where != null) {
                query.where(where);
            }
            long count;
            try {
                count = target.equals("-")
                        ? write(query, dataset, kind, cells, new RowOutput(console.out()))
                        : writeFile(store, query, dataset, kind, cells);
            } catch (CancellationException e) {
                return ExitCode.INTERRUPTED;
            } catch (UncheckedIOException e) {
                return ExitCode.FAILED; // whoever reads standard output has gone
            }
            console.out().flush();
            say(count);
            return watch.interrupted() ? ExitCode.INTERRUPTED : ExitCode.OK;
        }
    }

    private long writeFile(
            Store store, Query query, Dataset dataset, FileFormat kind, CsvCells cells) {
        Path file = console.directory()
                .resolve(PathArgument.path("FILE", target))
                .toAbsolutePath()
                .normalize();
        Path directory = file.getParent();
        if (directory == null) {
            throw new InvalidRequestException("%s is a directory".formatted(target));
        }
        RealDisk.checkDirectory(directory);
        String own = store.describe().directory();
        if (RealDisk.open(Path.of(own)).encloses(file)) {
            throw new InvalidRequestException(
                    "%s lies inside the store in %s; export elsewhere".formatted(target, own));
        }
        try (ExportFile out =
                ExportFile.create(RealDisk.open(directory), String.valueOf(file.getFileName()))) {
            long count = write(query, dataset, kind, cells, out);
            out.finish();
            return count;
        }
    }

    private long write(
            Query query, Dataset dataset, FileFormat kind, CsvCells cells, OutputStream out) {
        try (QueryResult result = query.run()) {
            return kind == FileFormat.NDJSON
                    ? result.forEachJson(out)
                    : writeRows(result, dataset, cells, out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long writeRows(QueryResult result, Dataset dataset, CsvCells cells, OutputStream out)
            throws IOException {
        List<String> names = select.isEmpty()
                ? dataset.type().declared().stream().map(Field::name).toList()
                : select;
        StringBuilder rows = new StringBuilder(ROWS_CHARS + (1 << 10));
        cells.appendNames(rows, names);
        long count = 0;
        while (result.next()) {
            Map<String, @Nullable Object> record = result.map();
            leavesOut |= !names.containsAll(record.keySet());
            cells.append(rows, names, record);
            count++;
            if (rows.length() >= ROWS_CHARS) {
                writeUtf8(rows, out);
            }
        }
        writeUtf8(rows, out);
        out.flush();
        return count;
    }

    private static void writeUtf8(StringBuilder rows, OutputStream out) throws IOException {
        out.write(rows.toString().getBytes(StandardCharsets.UTF_8));
        rows.setLength(0);
    }

    private void say(long count) {
        if (leavesOut) {
            console.err()
                    .println(
                            "note: some records have fields that %s does not declare; CSV leaves them out, ndjson has them"
                                    .formatted(datasetName));
        }
        if (target.equals("-")) {
            return;
        }
        if (common.json) {
            Json.line()
                    .put("ok", true)
                    .put("dataset", datasetName)
                    .put("records", count)
                    .put("file", target)
                    .printTo(console.out());
        } else {
            console.out()
                    .println("%s of %s written to %s"
                            .formatted(Words.count(count, "record"), datasetName, target));
        }
    }
}
