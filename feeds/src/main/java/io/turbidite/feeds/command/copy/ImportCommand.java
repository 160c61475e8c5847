package io.turbidite.feeds.command.copy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.feeds.FeedDefinition.FormatPart;
import io.turbidite.feeds.FeedDefinition.Mode;
import io.turbidite.feeds.FeedReport;
import io.turbidite.feeds.FileImport;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.Progress;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.feeds.parse.CsvFormat;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;

/** Brings the records of a file into a dataset. */
@Command(
        name = "import",
        customSynopsis = """
                ./turbidite import STORE DATASET FILE [--format ndjson|csv|avro] [--insert] [--separator c]
                  [--columns a,b] [--json] [--debug]""",
        description = {
            "Put the records of a file, or of all files of a directory, into a dataset that is there.",
            "A record that can't be taken becomes a dead letter, and the import goes on.",
            "Exit code 1 if there were records and every one was rejected.",
        },
        sortOptions = false)
public final class ImportCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(index = "1", paramLabel = "DATASET", description = "Name of the dataset.")
    private String datasetName = "";

    @Parameters(
            index = "2",
            paramLabel = "FILE",
            description = "A file, compressed by gzip perhaps, or a directory of files.")
    private String source = "";

    @Option(
            names = "--format",
            paramLabel = "KIND",
            description =
                    "ndjson, a JSON object a line or one JSON array, csv, or avro, object files; without it, as the file's name ends (.ndjson, .jsonl, .json, .csv, .avro, .gz behind it).")
    private @Nullable String format;

    @Option(
            names = "--insert",
            description = "A record whose primary key is taken is rejected, instead of replacing.")
    private boolean insert;

    @Option(
            names = "--separator",
            paramLabel = "c",
            description = "Between the fields of CSV; a comma without it.")
    private @Nullable String separator;

    @Option(
            names = "--columns",
            split = ",",
            paramLabel = "a,b",
            hideParamSyntax = true,
            description = "Names of the columns of CSV that has no header.")
    private List<String> columns = List.of();

    @Mixin
    private final CommonOptions common = new CommonOptions();

    private @Nullable FileImport running;
    private boolean stopped;

    public ImportCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Path file = console.directory().resolve(PathArgument.path("FILE", source));
        FormatPart parser = parser();
        try (Interrupts.Watch watch = console.interrupts().watch(this::stop)) {
            FeedReport report;
            try (Store store = given.openToChange()) {
                report = load(store, file, parser);
            }
            print(report);
            console.out().flush();
            return report.finished() && !watch.interrupted()
                    ? Failures.codeOfLoad(report.records(), report.rejected(), console.err())
                    : ExitCode.INTERRUPTED;
        }
    }

    private FormatPart parser() {
        FileFormat kind = FileFormat.ofRead(format, source);
        if (kind == FileFormat.CSV) {
            return new FormatPart.Csv(
                    new CsvFormat(FileFormat.separator(separator), columns.isEmpty(), columns));
        }
        if (separator != null || !columns.isEmpty()) {
            throw new InvalidRequestException("%s goes with csv alone"
                    .formatted(separator == null ? "--columns" : "--separator"));
        }
        return kind == FileFormat.AVRO ? new FormatPart.AvroFiles() : new FormatPart.Json();
    }

    private FeedReport load(Store store, Path file, FormatPart parser) {
        Dataset dataset = StoreArgument.usersDataset(store, datasetName);
        try (FileImport opened = FileImport.open(
                        store, dataset, file, parser, insert ? Mode.INSERT : Mode.UPSERT);
                Progress progress = Progress.of(console, datasetName)) {
            setRunning(opened);
            FeedReport report = opened.run(progress);
            if (report.finished()) {
                flush(dataset); // else the next command would have to replay the log
            }
            return report;
        }
    }

    private static void flush(Dataset dataset) {
        try {
            dataset.flush();
        } catch (StorageIoException e) {
            if (e.kind() != StorageIoException.Kind.INTERRUPTED) {
                throw e;
            }
            // the user is in a hurry: the log has all, and the next command replays it
        }
    }

    private synchronized void setRunning(FileImport opened) {
        running = opened;
        if (stopped) {
            opened.stopWithin(Interrupts.WAIT_MICROS_MAX);
        }
    }

    private synchronized void stop() {
        stopped = true;
        if (running != null) {
            running.stopWithin(Interrupts.WAIT_MICROS_MAX);
        }
    }

    private void print(FeedReport report) {
        if (common.json) {
            Json.line()
                    .put("ok", report.finished())
                    .put("dataset", datasetName)
                    .put("records", report.records())
                    .put("rejected", report.rejected())
                    .put("waiting", report.waiting())
                    .put("deadLetters", report.deadLetters())
                    .printTo(console.out());
        } else {
            console.out()
                    .println(
                            "%s imported into %s in %s, %s rejected%s"
                                    .formatted(
                                            Words.count(report.records(), "record"),
                                            datasetName,
                                            Words.seconds(report.seconds()),
                                            Words.number(report.rejected()),
                                            report.finished()
                                                    ? ""
                                                    : " before it was stopped; run it again, and it begins anew"));
        }
        if (report.waiting() > 0) {
            console.err()
                    .println(
                            "note: the last record of %s has no end (of an Avro file: the last block of records): it is being written, is cut, or ends within quotes"
                                    .formatted(Words.count(report.waiting(), "file")));
        }
        if (report.rejected() > 0) {
            console.err()
                    .println("rejected records are kept with their reasons in "
                            + report.deadLetters());
        }
    }
}
