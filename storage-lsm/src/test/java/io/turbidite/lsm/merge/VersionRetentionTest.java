package io.turbidite.lsm.merge;

import static io.turbidite.lsm.merge.MergeCursorTest.rest;
import static io.turbidite.lsm.merge.MergeCursorTest.row;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.entry.ListCursor;
import io.turbidite.lsm.entry.ListCursor.Row;
import io.turbidite.lsm.entry.LiveCursor;

import org.junit.jupiter.api.Test;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;

class VersionRetentionTest {
    private static final long SEED = Long.getLong("turbidite.seed", 5);

    private static List<Row> retained(VersionRetention retention, Row... rows) {
        return rest(retention.retain(new ListCursor(List.of(rows))));
    }

    private static VersionRetention of(long watermark, boolean includesOldest, long... snapshots) {
        return VersionRetention.of(watermark, snapshots, includesOldest);
    }

    @Test
    void every_version_above_the_watermark_and_the_newest_below_it_are_kept() {
        assertThat(retained(
                        of(10, false),
                        row(1, 12, false, 0),
                        row(1, 11, false, 0),
                        row(1, 10, false, 0),
                        row(1, 9, false, 0),
                        row(2, 3, false, 0),
                        row(2, 2, false, 0)))
                .containsExactly(
                        row(1, 12, false, 0),
                        row(1, 11, false, 0),
                        row(1, 10, false, 0),
                        row(2, 3, false, 0));
    }

    @Test
    void what_a_snapshot_sees_is_kept() {
        assertThat(retained(
                        of(10, false, 7, 4, 4),
                        row(1, 9, false, 0),
                        row(1, 8, false, 0),
                        row(1, 6, false, 0),
                        row(1, 5, false, 0),
                        row(1, 3, false, 0),
                        row(1, 2, false, 0)))
                .containsExactly(row(1, 9, false, 0), row(1, 6, false, 0), row(1, 3, false, 0));
    }

    @Test
    void one_version_may_serve_several_snapshots() {
        assertThat(retained(of(10, false, 7, 4), row(1, 3, false, 0), row(1, 2, false, 0)))
                .containsExactly(row(1, 3, false, 0));
    }

    @Test
    void antimatter_goes_only_with_the_oldest_component_and_only_below_the_horizon() {
        Row[] rows = {
            row(1, 9, true, 0), row(1, 2, false, 0), row(2, 3, true, 0), row(2, 2, false, 0)
        };
        assertThat(retained(of(10, true), rows)).isEmpty();
        assertThat(retained(of(10, false), rows))
                .containsExactly(row(1, 9, true, 0), row(2, 3, true, 0));
        assertThat(retained(of(10, true, 5), rows))
                .containsExactly(row(1, 9, true, 0), row(1, 2, false, 0));
    }

    @Test
    void of_equal_versions_the_first_counts() {
        assertThat(retained(of(10, false), row(1, 9, false, 1), row(1, 9, false, 2)))
                .containsExactly(row(1, 9, false, 1));
        assertThat(retained(of(5, false), row(1, 9, false, 1), row(1, 9, false, 2)))
                .containsExactly(row(1, 9, false, 1));
    }

    /** Rows of which some know their successor, as in a component with a mutable bitmap. */
    private static final class Marked implements EntryStream {
        private final ListCursor rows;
        private final long successorTimestamp;

        Marked(long successorTimestamp, Row... rows) {
            this.rows = new ListCursor(List.of(rows));
            this.successorTimestamp = successorTimestamp;
        }

        @Override
        public boolean next() {
            return rows.next();
        }

        @Override
        public Slice key() {
            return rows.key();
        }

        @Override
        public long timestamp() {
            return rows.timestamp();
        }

        @Override
        public boolean isAntimatter() {
            return rows.isAntimatter();
        }

        @Override
        public long successorTimestamp() {
            return successorTimestamp;
        }

        @Override
        public Slice value() {
            return rows.value();
        }

        @Override
        public void close() {
            rows.close();
        }
    }

    private static List<String> successors(EntryStream kept) {
        List<String> seen = new ArrayList<>();
        while (kept.next()) {
            seen.add(kept.timestamp() + " until " + kept.successorTimestamp());
        }
        return seen;
    }

    @Test
    void an_entry_whose_successor_lies_elsewhere_goes_when_nobody_reads_between_them() {
        Row row = row(1, 5, false, 0);
        assertThat(successors(of(10, false).retain(new Marked(8, row)))).isEmpty();
        assertThat(successors(of(10, false).retain(new Marked(0, row)))).isEmpty();
        assertThat(successors(of(3, false).retain(new Marked(0, row)))).isEmpty();
        assertThat(successors(of(10, false, 5).retain(new Marked(8, row))))
                .containsExactly("5 until 8");
        assertThat(successors(of(10, false, 8).retain(new Marked(8, row)))).isEmpty();
        assertThat(successors(of(10, false).retain(new Marked(11, row))))
                .containsExactly("5 until 11");
        assertThat(successors(of(3, false).retain(new Marked(8, row))))
                .containsExactly("5 until 8");
    }

    @Test
    void what_is_kept_knows_the_next_newer_version_even_if_that_is_not_kept() {
        EntryStream kept = of(10, false, 4)
                .retain(new ListCursor(List.of(
                        row(1, 12, false, 0),
                        row(1, 9, false, 0),
                        row(1, 6, false, 0),
                        row(1, 3, false, 0),
                        row(2, 2, false, 0))));
        assertThat(successors(kept))
                .containsExactly(
                        "12 until " + Long.MAX_VALUE,
                        "9 until 12",
                        "3 until 6",
                        "2 until " + Long.MAX_VALUE);
    }

    @Test
    void the_horizon_is_the_oldest_reader() {
        assertThat(of(10, false).horizon()).isEqualTo(10);
        assertThat(of(10, false, 7, 3, 5).horizon()).isEqualTo(3);
        assertThatThrownBy(() -> of(10, false, 11)).isInstanceOf(IllegalArgumentException.class);
    }

    /** A record that was told of: key, timestamp, value, its successor's timestamp and value. */
    private record Told(byte key, long timestamp, int value, long successor, int successorValue) {}

    private static List<Told> told(VersionRetention retention, List<Row> rows) {
        List<Told> told = new ArrayList<>();
        rest(retention.retain(
                new ListCursor(rows),
                (key, timestamp, value, successor, successorValue) -> told.add(new Told(
                        key.segment().get(ValueLayout.JAVA_BYTE, key.offset()),
                        timestamp,
                        first(value),
                        successor,
                        first(successorValue)))));
        return told;
    }

    private static int first(Slice value) {
        return value.length() == 0
                ? -1
                : value.segment().get(ValueLayout.JAVA_BYTE, value.offset());
    }

    @Test
    void a_superseded_record_is_told_of_with_its_successor() {
        List<Row> rows = List.of(
                row(1, 9, false, 3), row(1, 8, false, 2), row(1, 7, false, 1), row(2, 6, false, 4));
        assertThat(told(of(10, false), rows))
                .containsExactly(new Told((byte) 1, 8, 2, 9, 3), new Told((byte) 1, 7, 1, 8, 2));
    }

    @Test
    void what_a_snapshot_keeps_is_told_of_too() {
        List<Row> rows = List.of(row(1, 9, false, 3), row(1, 7, false, 1));
        assertThat(told(of(10, false, 8), rows)).containsExactly(new Told((byte) 1, 7, 1, 9, 3));
        assertThat(told(of(5, false), rows)).containsExactly(new Told((byte) 1, 7, 1, 9, 3));
    }

    @Test
    void a_delete_that_goes_is_told_of_first_and_a_deleted_delete_never() {
        List<Row> rows = List.of(
                new Row(new byte[] {1}, 9, true, new byte[0]),
                row(1, 7, false, 1),
                row(2, 6, false, 5),
                row(2, 4, true, 0));
        assertThat(told(of(10, true), rows)).containsExactly(new Told((byte) 1, 7, 1, 9, -1));
    }

    @Test
    void equal_versions_are_one() {
        List<Row> rows = List.of(row(1, 9, false, 1), row(1, 9, false, 2), row(1, 3, false, 4));
        assertThat(told(of(10, false), rows)).containsExactly(new Told((byte) 1, 3, 4, 9, 1));
    }

    /** What {@code LiveCursor} shows at a snapshot, by the definition. */
    private static List<Row> visible(List<Row> rows, long snapshot) {
        TreeMap<Byte, Row> newest = new TreeMap<>();
        for (Row row : rows) {
            if (row.timestamp() <= snapshot) {
                newest.merge(row.key()[0], row, (a, b) -> a.timestamp() >= b.timestamp() ? a : b);
            }
        }
        return newest.values().stream().filter(row -> !row.antimatter()).toList();
    }

    @Test
    void no_reader_at_or_above_the_horizon_sees_a_difference() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int round = 0; round < 2_000; round++) {
            List<Row> older = new ArrayList<>();
            List<Row> merged = new ArrayList<>();
            long timestamp = 0;
            for (int i = random.nextInt(40); i > 0; i--) {
                (i > 25 ? older : merged)
                        .add(row(random.nextInt(6), ++timestamp, random.nextInt(3) == 0, i));
            }
            long watermark = random.nextLong(timestamp + 3);
            long[] snapshots = LongStream.range(0, random.nextInt(4))
                    .map(i -> random.nextLong(watermark + 1))
                    .toArray();
            boolean includesOldest = older.isEmpty();
            VersionRetention retention = VersionRetention.of(watermark, snapshots, includesOldest);
            List<Row> kept = rest(retention.retain(new ListCursor(merged)));
            assertThat(merged).containsAll(kept);

            List<Row> before = new ArrayList<>(older);
            before.addAll(merged);
            List<Row> after = new ArrayList<>(older);
            after.addAll(kept);
            long[] readers = Arrays.copyOf(snapshots, snapshots.length + 3);
            readers[snapshots.length] = watermark;
            readers[snapshots.length + 1] = watermark + 1 + random.nextInt(5);
            readers[snapshots.length + 2] = Long.MAX_VALUE;
            for (long reader : readers) {
                List<Row> expected = visible(before, reader);
                assertThat(visible(after, reader)).as("seed %d", SEED).isEqualTo(expected);
                EntryCursor live = LiveCursor.of(
                        MergeCursor.of(List.of(new ListCursor(kept), new ListCursor(older))),
                        reader);
                assertThat(rest(live)).as("seed %d", SEED).isEqualTo(expected);
                byte from = (byte) random.nextInt(7);
                live.seek(Slice.of(new byte[] {from}));
                assertThat(rest(live))
                        .as("seed %d", SEED)
                        .isEqualTo(expected.stream()
                                .filter(r -> r.key()[0] >= from)
                                .toList());
            }
        }
    }
}
