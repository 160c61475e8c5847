package io.turbidite.feeds.command.store;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.feeds.ShellWord;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.InputLines;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.WriteBatch;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.Callable;

/** Puts records that are given as JSON. */
@Command(
        name = "put",
        customSynopsis = "./turbidite put STORE DATASET [RECORD...] [--insert] [--json] [--debug]",
        description = {
            "Put records, each a JSON object, and replace those with the same primary key.",
            "Without RECORD they are read from standard input, one on each line.",
            "At the first that is wrong it stops: those before it are in the store.",
        },
        sortOptions = false)
public final class PutCommand implements Callable<Integer> {
    /** Of lines; a record may have less. */
    private static final int LINE_BYTES_MAX = Limits.RECORD_BYTES_MAX;

    /** Records that are written together; those of standard input. */
    private static final int BATCH_COUNT = 1_000;

    private static final int BATCH_BYTES = 1 << 20;

    /** No path is longer. */
    private static final int PATH_CHARS_MAX = 4_096;

    private final Console console;
    private final Slice slice = new Slice();

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(index = "1", paramLabel = "DATASET", description = "Name of the dataset.")
    private String datasetName = "";

    @Parameters(
            index = "2..*",
            paramLabel = "RECORD",
            description = "A JSON object; without any, standard input has one on each line.")
    private List<String> records = List.of();

    @Option(
            names = "--insert",
            description = "A record whose primary key is taken is wrong, instead of replacing.")
    private boolean insert;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    private long count;

    public PutCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        int code = ExitCode.OK;
        try (Store store = given.openToChange()) {
            Dataset dataset = StoreArgument.usersDataset(store, datasetName);
            try {
                if (records.isEmpty()) {
                    putLines(store, dataset);
                } else {
                    putArguments(store, dataset);
                }
            } catch (StorageException wrong) {
                code = Failures.report(wrong, console.err(), common.debug);
            }
        }
        if (common.json) {
            Json.line()
                    .put("ok", code == ExitCode.OK)
                    .put("dataset", datasetName)
                    .put("put", count)
                    .printTo(console.out());
        } else {
            console.out()
                    .println("%s put into %s".formatted(Words.count(count, "record"), datasetName));
        }
        return code;
    }

    private void putArguments(Store store, Dataset dataset) {
        WriteBatch batch = store.newBatch();
        RecordWriter writer = dataset.newRecordWriter();
        for (int i = 0; i < records.size(); i++) {
            byte[] json = records.get(i).getBytes(StandardCharsets.UTF_8);
            slice.set(MemorySegment.ofArray(json), 0, json.length);
            checkNoFile(records.get(i));
            put(batch, dataset, writer, "record " + (i + 1));
            write(store, batch, "record " + (i + 1));
        }
    }

    /** The path of a file in place of a record would be told to be wrong JSON. */
    private void checkNoFile(String record) {
        if (!record.isBlank()
                && !record.stripLeading().startsWith("{")
                && record.length() <= PATH_CHARS_MAX
                && record.chars().noneMatch(Character::isISOControl)
                && Files.isRegularFile(
                        console.directory().resolve(PathArgument.path("RECORD", record)))) {
            throw new InvalidRequestException(
                    "%s is a file, and put takes records: ./turbidite import %s %s %s puts those of a file"
                            .formatted(
                                    record, given.shellWord(), datasetName, ShellWord.of(record)));
        }
    }

    private void putLines(Store store, Dataset dataset) {
        WriteBatch batch = store.newBatch();
        RecordWriter writer = dataset.newRecordWriter();
        InputLines lines = new InputLines(console.in(), LINE_BYTES_MAX);
        // a batch is refused as a whole, and each line that is right before the wrong one counts
        boolean mayClash = insert || hasUniqueIndex(store);
        try {
            while (lines.next()) {
                String line = "line " + lines.number();
                lines.line(slice);
                put(batch, dataset, writer, line);
                if (mayClash || batch.size() == BATCH_COUNT || batch.byteCount() >= BATCH_BYTES) {
                    write(store, batch, line);
                }
            }
        } finally {
            write(store, batch, "line " + lines.number());
        }
    }

    private boolean hasUniqueIndex(Store store) {
        return store.describe().datasets().stream()
                .filter(one -> one.name().equals(datasetName))
                .flatMap(one -> one.partitions().stream())
                .flatMap(one -> one.indexes().stream())
                .anyMatch(StoreDescription.IndexDescription::unique);
    }

    private void put(WriteBatch batch, Dataset dataset, RecordWriter writer, String where) {
        try {
            Slice record = writer.writeJson(slice);
            if (insert) {
                batch.insert(dataset, record);
            } else {
                batch.upsert(dataset, record);
            }
        } catch (InvalidRequestException wrong) {
            throw new InvalidRequestException("%s: %s".formatted(where, wrong.getMessage()), wrong);
        }
    }

    private void write(Store store, WriteBatch batch, String where) {
        try {
            store.write(batch);
            count += batch.size();
        } catch (InvalidRequestException wrong) {
            throw new InvalidRequestException("%s: %s".formatted(where, wrong.getMessage()), wrong);
        } finally {
            batch.clear();
        }
    }
}
