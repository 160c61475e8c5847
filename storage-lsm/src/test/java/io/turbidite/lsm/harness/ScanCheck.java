package io.turbidite.lsm.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordRun;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.lsm.Dataset;

import java.util.Collection;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Scans of a view, one by one and by runs, in order and in none, of all keys and of some, against
 * the rows that it should know. A filter may let through more, never less, and never what is not.
 */
final class ScanCheck {
    private final Dataset dataset;
    private final ReadView view;
    private final Collection<Row> rows;
    private final SplittableRandom random;
    private final RecordView record;
    private final RecordRun run = new RecordRun();

    ScanCheck(Dataset dataset, ReadView view, Collection<Row> rows, SplittableRandom random) {
        this.dataset = dataset;
        this.view = view;
        this.rows = rows;
        this.random = random;
        this.record = new RecordView(dataset.type());
    }

    /** Some ids. */
    private record Ids(long low, long end) {
        static final Ids ALL = new Ids(Long.MIN_VALUE, Long.MAX_VALUE);

        boolean holds(Row row) {
            return row.id() >= low && row.id() < end;
        }
    }

    /**
     * Compares.
     *
     * @param isInside whether a row is inside the filter
     * @param of what it is called in a failure
     */
    void run(FilterPredicate filter, Predicate<Row> isInside, String of) {
        check(Ids.ALL, filter, isInside, of);
        check(ids(), filter, isInside, of);
    }

    /** From one of the rows, or beside it, to another one. */
    private Ids ids() {
        if (rows.isEmpty()) {
            return new Ids(0, 1);
        }
        long[] all = rows.stream().mapToLong(Row::id).sorted().toArray();
        long low = all[random.nextInt(all.length)] + random.nextInt(2);
        long end = all[random.nextInt(all.length)] + random.nextInt(2);
        return new Ids(Math.min(low, end), Math.max(low, end));
    }

    private void check(Ids ids, FilterPredicate filter, Predicate<Row> isInside, String of) {
        Map<Long, Row> expected = new TreeMap<>();
        rows.stream()
                .filter(ids::holds)
                .filter(isInside)
                .forEach(row -> expected.put(row.id(), row));
        KeyRange keys = ids.equals(Ids.ALL)
                ? KeyRange.all()
                : KeyRange.of(
                        dataset.primaryKeySpec().encode(ids.low()),
                        dataset.primaryKeySpec().encode(ids.end()));
        for (boolean isOrdered : new boolean[] {true, false}) {
            for (boolean byRuns : new boolean[] {true, false}) {
                Map<Long, Row> found = new TreeMap<>();
                for (int p = 0; p < view.partitionCount(); p++) {
                    try (RecordStream records = isOrdered
                            ? view.scan(p, keys, filter)
                            : view.scanUnordered(p, keys, filter)) {
                        collect(records, byRuns, ids, isInside, found);
                    }
                }
                assertThat(found)
                        .as("scan of %s, %s, in order: %s, by runs: %s", ids, of, isOrdered, byRuns)
                        .isEqualTo(expected);
            }
        }
    }

    private void collect(
            RecordStream records,
            boolean byRuns,
            Ids ids,
            Predicate<Row> isInside,
            Map<Long, Row> found) {
        Slice bytes = new Slice();
        while (byRuns ? records.nextRun(run) : records.next()) {
            int count = byRuns ? run.count() : 1;
            for (int i = 0; i < count; i++) {
                record.wrap(byRuns ? run.record(i, bytes) : records.record());
                Row row = Row.of(record.toMap());
                assertThat(ids.holds(row)).as("%s is in %s", row, ids).isTrue();
                if (isInside.test(row)) {
                    assertThat(found.put(row.id(), row)).isNull();
                }
            }
            if (byRuns) {
                assertThat(bytes.contentEquals(records.record()))
                        .as("stands on the last")
                        .isTrue();
            }
        }
    }
}
