package io.turbidite.feeds.cluster.door;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.feeds.parse.CsvFormat;
import io.turbidite.feeds.parse.CsvRecordParser;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.parse.LineFramer;
import io.turbidite.feeds.parse.RecordParser;
import io.turbidite.feeds.source.file.FileSource;
import io.turbidite.feeds.source.file.SourceFile;
import io.turbidite.feeds.source.file.SourceStream;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Puts the records of a file into a dataset of a cluster, replacing those with their keys: a load
 * that ended early may be run again. <em>Confined to one thread.</em>
 */
public final class FileLoad {
    /** Records between two looks whether it is to stop. */
    private static final int LOOK_RECORDS = 256;

    private final DatasetDefinition dataset;
    private final ChangeBatch batch;
    private long written;
    private long rejected;
    private @Nullable String firstRejected;

    FileLoad(DatasetDefinition dataset, ChangeBatch batch) {
        this.dataset = dataset;
        this.batch = batch;
    }

    /**
     * Loads, batch by batch. A record that is none of the dataset is left out and counted.
     *
     * @param isCsv CSV with a header; else a JSON object a line
     * @param stop asked now and then
     * @return whether it came to the end of the file
     * @throws io.turbidite.feeds.cluster.ClusterWriteException if not all nodes have written a
     *     batch; those before are written
     */
    public boolean run(Path path, boolean isCsv, BooleanSupplier stop) {
        RecordParser parser = isCsv
                ? new CsvRecordParser(
                        dataset.type(), new CsvFormat(',', true, List.of()), true, List.of())
                : new JsonRecordParser(dataset.type(), true, List.of());
        FileSource source = FileSource.open(path);
        for (SourceFile file : source.files()) {
            try (SourceStream stream = source.read(file)) {
                if (!load(stream, parser, stop)) {
                    return false;
                }
            }
        }
        return true;
    }

    private boolean load(SourceStream stream, RecordParser parser, BooleanSupplier stop) {
        LineFramer framer = new LineFramer(stream::read, parser.quotes(), ',', 0, 1);
        boolean isHeader = parser.wantsHeader();
        for (long count = 0; next(framer); count++) {
            if (isHeader) {
                parser.header(framer.frame());
                isHeader = false;
                continue;
            }
            if (count % LOOK_RECORDS == 0 && stop.getAsBoolean()) {
                write();
                return false;
            }
            take(framer, parser);
        }
        write();
        return true;
    }

    private static boolean next(LineFramer framer) {
        if (framer.next()) {
            return true;
        }
        framer.end();
        return framer.next();
    }

    private void take(LineFramer framer, RecordParser parser) {
        Slice record;
        try {
            record = parser.parse(framer.frame());
        } catch (InvalidRequestException e) {
            rejected++;
            if (firstRejected == null) {
                firstRejected = "line %d: %s".formatted(framer.frame().line(), e.getMessage());
            }
            return;
        }
        if (!batch.hasRoom(record.length())) {
            write();
        }
        batch.upsert(record);
    }

    private void write() {
        int size = batch.size();
        if (size > 0) {
            batch.write();
            written += size;
            batch.clear();
        }
    }

    /** Records that all their owners have acknowledged. */
    public long written() {
        return written;
    }

    /** Records that were left out. */
    public long rejected() {
        return rejected;
    }

    /** The line and the reason of the first that was left out; null if none was. */
    public @Nullable String firstRejected() {
        return firstRejected;
    }
}
