package io.turbidite.feeds.store;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.source.file.FilePosition;
import io.turbidite.feeds.source.file.FileSource.Head;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.VersionedRecord;
import io.turbidite.lsm.WriteBatch;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * The internal dataset {@value #DATASET}: for each feed and partition of its source a row that says
 * how far it is, and for each feed with dead letters a row with an empty name that says how long
 * their file is. This one, or one of a group's, also says which dataset the positions are of, in
 * the undeclared field {@value #DATASET_ID}; an older release wrote none.
 *
 * <p>The field {@code file} is the partition's name. Positions in files have fields of their own;
 * those of other sources are bytes in the undeclared field {@value #POSITION}, so that a dataset
 * which an older release made takes them.
 *
 * <p>Rows are written in the batch of the records they speak of. <em>Confined to one thread at a
 * time for writing; reading is thread-safe.</em>
 */
final class Positions {
    /** Names of users' datasets don't begin with an underscore. */
    static final String DATASET = "_feeds";

    private static final String LETTERS_FILE = "";
    private static final String POSITION = "position";
    private static final String SEQUENCE = "sequence";
    private static final String DATASET_ID = "dataset";

    /** No dataset has this number. */
    static final long UNKNOWN = -1;

    private final Store store;
    private final Dataset dataset;
    private final String feed;
    private final Slice feedUtf8;
    private final RecordWriter writer;
    private final Column column;
    private final RecordView view;
    private final ByteSink key = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
    private final Slice slice = new Slice();

    /** Indexes of the row's fields. */
    private record Column(
            int feed,
            int file,
            int offset,
            int line,
            int ended,
            int fileBytes,
            int headBytes,
            int headCrc32c,
            int records,
            int rejected,
            int letterBytes,
            int writtenAt) {}

    private Positions(Store store, Dataset dataset, String feed) {
        this.store = store;
        this.dataset = dataset;
        this.view = new RecordView(dataset.type());
        this.feed = feed;
        this.feedUtf8 = utf8(feed);
        this.writer = dataset.newRecordWriter();
        this.column = new Column(
                index("feed"),
                index("file"),
                index("offset"),
                index("line"),
                index("ended"),
                index("file_bytes"),
                index("head_bytes"),
                index("head_crc32c"),
                index("records"),
                index("rejected"),
                index("letter_bytes"),
                index("written_at"));
    }

    /**
     * The name of the row that says how far a feed's letters were fed again: no source has it.
     */
    static String ofLetters(String feed) {
        return FeedDelivery.LETTERS_DIRECTORY + "/" + feed + ".jsonl";
    }

    /** The rows of {@code feed}; makes the dataset if the store has none yet. */
    static Positions open(Store store, String feed) {
        Dataset dataset = store.findDataset(DATASET);
        return new Positions(store, dataset == null ? store.createDataset(spec()) : dataset, feed);
    }

    private static DatasetSpec spec() {
        return DatasetSpec.named(DATASET)
                .field("feed", "string")
                .field("file", "string")
                .field("offset", "int64?")
                .field("line", "int64?")
                .field("ended", "bool?")
                .field("file_bytes", "int64?")
                .field("head_bytes", "int64?")
                .field("head_crc32c", "int64?")
                .field("records", "int64?")
                .field("rejected", "int64?")
                .field("letter_bytes", "int64?")
                .field("written_at", "datetime?")
                .primaryKey("feed", "file");
    }

    /**
     * What a row says.
     *
     * @param version of the row's record
     */
    record Row(PartitionState state, long version) {}

    /** The row of a partition, or null if there is none. */
    @Nullable
    Row row(String partition) {
        VersionedRecord record = dataset.getVersioned(feed, partition);
        if (record == null) {
            return null;
        }
        Map<String, @Nullable Object> row = record.fields();
        PartitionState state = new PartitionState(
                row.get(POSITION) == null ? filePosition(row) : position(row),
                row.get(SEQUENCE) == null ? 0 : number(row, SEQUENCE),
                number(row, "records"),
                number(row, "rejected"),
                row.get("written_at") instanceof Instant at
                        ? ChronoUnit.MICROS.between(Instant.EPOCH, at)
                        : 0);
        return new Row(state, record.version());
    }

    /** What the rows of the feed say, by the partition's name. */
    Map<String, PartitionState> all() {
        Map<String, PartitionState> all = new TreeMap<>();
        RecordView record = new RecordView(dataset.type());
        try (ReadView view = dataset.openView()) {
            for (int p = 0; p < view.partitionCount(); p++) {
                try (RecordCursor rows = view.scan(p, KeyRange.all(), FilterPredicate.none())) {
                    while (rows.next()) {
                        record.wrap(rows.record());
                        String partition = record.getBytes(column.file).toUtf8();
                        if (record.getBytes(column.feed).toUtf8().equals(feed)
                                && !partition.equals(LETTERS_FILE)
                                && !partition.equals(ofLetters(feed))) {
                            Row row = row(partition);
                            if (row != null) {
                                all.put(partition, row.state());
                            }
                        }
                    }
                }
            }
        }
        return all;
    }

    private static SourcePosition position(Map<String, @Nullable Object> row) {
        if (row.get(POSITION) instanceof byte[] bytes && bytes.length <= SourcePosition.BYTES_MAX) {
            return SourcePosition.of(bytes);
        }
        throw new CorruptionException(
                DATASET, 0, "row " + row, "a position", String.valueOf(row.get(POSITION)));
    }

    private static SourcePosition filePosition(Map<String, @Nullable Object> row) {
        return new FilePosition(
                        number(row, "offset"),
                        number(row, "line"),
                        Boolean.TRUE.equals(row.get("ended")),
                        number(row, "file_bytes"),
                        new Head((int) number(row, "head_bytes"), number(row, "head_crc32c")))
                .encode();
    }

    /** How long the dead-letter file was at the last commit. */
    long letterBytes() {
        Map<String, @Nullable Object> row = dataset.get(feed, LETTERS_FILE);
        return row == null ? 0 : number(row, "letter_bytes");
    }

    /** Puts the row of a partition. */
    void put(WriteBatch batch, String partition, PartitionState state) {
        batch.upsert(dataset, record(partition, state));
    }

    private Slice record(String partition, PartitionState state) {
        begin(partition, state.writtenMicros());
        FilePosition file = FilePosition.of(state.position());
        if (file != null) {
            writer.setLong(column.offset, file.offset());
            writer.setLong(column.line, file.line());
            writer.setLong(column.ended, file.ended() ? 1 : 0);
            writer.setLong(column.fileBytes, file.fileBytes());
            writer.setLong(column.headBytes, file.head().byteCount());
            writer.setLong(column.headCrc32c, file.head().crc32c());
        }
        writer.setLong(column.records, state.records());
        writer.setLong(column.rejected, state.rejected());
        if (file == null) {
            writer.openField(POSITION, state.position().toByteArray());
        }
        writer.openField(SEQUENCE, state.sequence());
        return writer.finish();
    }

    /** Puts how long the dead-letter file is. Which dataset the positions are of stays. */
    void putLetterBytes(WriteBatch batch, long byteCount, long wallMicros) {
        putAtAll(batch, byteCount, datasetId(), wallMicros);
    }

    /** The row that belongs to no partition. */
    private void putAtAll(WriteBatch batch, long byteCount, long datasetId, long wallMicros) {
        begin(LETTERS_FILE, wallMicros);
        writer.setLong(column.letterBytes, byteCount);
        if (datasetId != UNKNOWN) {
            writer.openField(DATASET_ID, datasetId);
        }
        batch.upsert(dataset, writer.finish());
    }

    /** The number of the dataset that the rows are of; {@link #UNKNOWN} if none says it. */
    long datasetId() {
        Map<String, @Nullable Object> row = dataset.get(feed, LETTERS_FILE);
        return row == null || row.get(DATASET_ID) == null ? UNKNOWN : number(row, DATASET_ID);
    }

    /** From now on the rows are of this dataset. */
    void take(Dataset of, long wallMicros) {
        if (datasetId() != of.id()) {
            WriteBatch batch = store.newBatch();
            putAtAll(batch, letterBytes(), of.id(), wallMicros);
            store.write(batch);
        }
    }

    /** Deletes the feed's rows of these partitions and of its dead letters. */
    void forget(List<String> partitions) {
        for (String partition : partitions) {
            dataset.delete(feed, partition);
        }
        dataset.delete(feed, LETTERS_FILE);
    }

    /**
     * Deletes rows of the feed that still say that.
     *
     * @return the partitions whose row stays, with what else it says
     */
    Map<String, SourcePosition> forget(Map<String, SourcePosition> said) {
        return change(said, (batch, partition, state) -> {
            begin(partition, 0);
            key.clear();
            dataset.primaryKeySpec().append(view.wrap(writer.finish()), key);
            if (!batch.hasRoom(key.length())) {
                return false;
            }
            batch.delete(dataset, key.asSlice(slice));
            return true;
        });
    }

    /** Puts rows of the feed anew that still say that, and tell an earlier time. */
    void touch(Map<String, SourcePosition> said, long wallMicros) {
        change(said, (batch, partition, state) -> {
            if (state.writtenMicros() >= wallMicros) {
                return true;
            }
            Slice record = record(partition, state.writtenAt(wallMicros));
            if (!batch.hasRoom(record.length())) {
                return false;
            }
            batch.upsert(dataset, record);
            return true;
        });
    }

    /** What becomes of a row. */
    @FunctionalInterface
    private interface Change {
        /** Returns false if the batch has no room for it. */
        boolean add(WriteBatch batch, String partition, PartitionState state);
    }

    /** In as many writes as the log asks for. */
    private Map<String, SourcePosition> change(Map<String, SourcePosition> said, Change change) {
        Map<String, SourcePosition> others = new LinkedHashMap<>();
        ArrayDeque<String> left = new ArrayDeque<>(said.keySet());
        WriteBatch batch = store.newBatch();
        while (!left.isEmpty()) {
            batch.clear();
            long since = timestamp();
            List<String> changed = new ArrayList<>();
            while (!left.isEmpty()) {
                String partition = left.getFirst();
                Row row = row(partition);
                if (row != null
                        && !row.state()
                                .position()
                                .equals(Objects.requireNonNull(said.get(partition)))) {
                    others.put(partition, row.state().position());
                } else if (row != null) {
                    if (row.version() > since || !change.add(batch, partition, row.state())) {
                        break; // the next write has it
                    }
                    changed.add(partition);
                }
                left.removeFirst();
            }
            if (batch.size() == 0) {
                continue;
            }
            store.write(batch.onlyIfUnchangedSince(since));
            if (batch.isRefused()) {
                changed.reversed().forEach(left::addFirst); // one of them may say more by now
            }
        }
        return others;
    }

    private long timestamp() {
        try (ReadView now = dataset.openView()) {
            return now.timestamp();
        }
    }

    private void begin(String file, long wallMicros) {
        writer.begin();
        writer.setString(column.feed, feedUtf8);
        writer.setString(column.file, file);
        writer.setLong(column.writtenAt, wallMicros);
    }

    private int index(String name) {
        return dataset.type().require(name, DATASET);
    }

    private static long number(Map<String, @Nullable Object> row, String name) {
        if (row.get(name) instanceof Number number) {
            return number.longValue();
        }
        throw new CorruptionException(
                DATASET, 0, "row " + row, "a number as " + name, String.valueOf(row.get(name)));
    }

    private static Slice utf8(String text) {
        return Slice.of(text.getBytes(StandardCharsets.UTF_8));
    }
}
