package io.turbidite.ops.plan;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.scan.PausingRecords;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * The rows of a plan as a source of one moment, for the query over them: one partition without
 * primary key, filter and indexes, which is scanned once. A row is handed on where it lies. Rows
 * that several read are divided into as many partitions.
 *
 * <p>The key of a row is its number. So rows that are equal in an order keep the order in which
 * they came. <em>Confined to one thread at a time</em>, as the plan is.
 */
final class PlannedRows implements Source, ReadView {
    private static final String NAME = "rows";

    private final RecordType type;

    /** Null where only the type is of interest. */
    private final @Nullable ResultPlan plan;

    /** The rows of each partition; empty: they are not divided, and there is one. */
    private List<Supplier<Rows>> divided = List.of();

    private PlannedRows(RecordType type, @Nullable ResultPlan plan) {
        this.type = type;
        this.plan = plan;
    }

    /** The rows that a plan gives; it is run by the first scan. */
    static PlannedRows of(ResultPlan plan) {
        return new PlannedRows(plan.rowType(), plan);
    }

    /** Rows of this type, that nobody reads. */
    static PlannedRows ofType(RecordType type) {
        return new PlannedRows(type, null);
    }

    /** Has several read them, each a part, on a thread of its own. */
    void divide(List<Supplier<Rows>> parts) {
        divided = List.copyOf(parts);
    }

    /** What gives the rows. */
    ResultPlan plan() {
        return Objects.requireNonNull(plan, "only the type is known");
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public RecordType type() {
        return type;
    }

    @Override
    public List<String> primaryKey() {
        return List.of();
    }

    @Override
    public List<String> filterFields() {
        return List.of();
    }

    @Override
    public List<IndexDescription> indexes() {
        return List.of();
    }

    @Override
    public ReadView openView() {
        return this;
    }

    @Override
    public Source source() {
        return this;
    }

    @Override
    public long timestamp() {
        throw noRecords();
    }

    @Override
    public int partitionCount() {
        return Math.max(1, divided.size());
    }

    @Override
    public RecordStream scanUnordered(int partition, KeyRange primaryKeys, FilterPredicate filter) {
        assert primaryKeys.isAll() && filter.isNone();
        assert partition < partitionCount() : partition;
        return new Numbered(
                divided.isEmpty() ? plan().rows() : divided.get(partition).get());
    }

    @Override
    public long estimateScan(KeyRange primaryKeys, FilterPredicate filter) {
        return plan().estimatedRows();
    }

    @Override
    public boolean get(Slice primaryKey, ByteSink record) {
        throw noRecords();
    }

    @Override
    public RecordCursor scan(int partition, KeyRange primaryKeys, FilterPredicate filter) {
        throw noRecords();
    }

    @Override
    public IndexCursor search(
            int partition, String index, IndexSearch search, FilterPredicate filter) {
        throw noRecords();
    }

    @Override
    public RecordStream fetch(int partition, KeyBatch sortedKeys) {
        throw noRecords();
    }

    @Override
    public long estimateSearch(String index, IndexSearch search, FilterPredicate filter) {
        throw noRecords();
    }

    private static UnsupportedOperationException noRecords() {
        return new UnsupportedOperationException("rows have neither keys nor indexes");
    }

    @Override
    public void close() {
        // the rows are closed by who scans them, the views below by the result
    }

    /** Rows, and their numbers as keys. */
    private static final class Numbered implements PausingRecords {
        private final Rows rows;
        private final Slice row = new Slice();
        private final ByteSink keyBytes = new ByteSink(Long.BYTES, Long.BYTES);
        private final Slice key = new Slice();
        private long count;
        private boolean ended;

        Numbered(Rows rows) {
            this.rows = rows;
        }

        @Override
        public boolean next() {
            if (ended || !rows.next()) {
                ended = !isPaused();
                return false;
            }
            count++;
            return true;
        }

        @Override
        public boolean isPaused() {
            return !ended && rows.isPaused();
        }

        @Override
        public Slice key() {
            return keyBytes.clear().putLongBigEndian(count).asSlice(key);
        }

        @Override
        public long timestamp() {
            throw noRecords();
        }

        @Override
        public Slice record() {
            return rows.row().record(row);
        }

        @Override
        public long visitedCount() {
            return count;
        }

        @Override
        public void close() {
            ended = true;
            rows.close();
        }
    }
}
