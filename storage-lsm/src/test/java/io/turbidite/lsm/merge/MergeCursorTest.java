package io.turbidite.lsm.merge;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.CursorWalk;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.entry.ListCursor;
import io.turbidite.lsm.entry.ListCursor.Row;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

class MergeCursorTest {
    private static final long SEED = Long.getLong("turbidite.seed", 99);

    static Row row(int key, long timestamp, boolean antimatter, int value) {
        return new Row(new byte[] {(byte) key}, timestamp, antimatter, new byte[] {(byte) value});
    }

    static List<Row> rest(EntryStream cursor) {
        List<Row> rows = new ArrayList<>();
        while (cursor.next()) {
            rows.add(Row.of(cursor));
        }
        return rows;
    }

    @Test
    void nothing_merged_is_nothing() {
        EntryCursor cursor = MergeCursor.of(List.of());
        assertThat(cursor.next()).isFalse();
        cursor.seek(Slice.of(new byte[] {1}));
        assertThat(cursor.next()).isFalse();
        cursor.close();
    }

    @Test
    void any_number_of_streams_come_out_as_one_in_order() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int streams = 1; streams <= 17; streams++) {
            for (int round = 0; round < 20; round++) {
                List<Row> all = new ArrayList<>();
                List<ListCursor> cursors = new ArrayList<>();
                long timestamp = 0;
                for (int s = 0; s < streams; s++) {
                    List<Row> rows = new ArrayList<>();
                    for (int i = random.nextInt(30); i > 0; i--) {
                        // keys that are equal in their first eight bytes, and prefixes of one
                        // another
                        byte[] key = new byte[6 + random.nextInt(5)];
                        key[key.length - 1] = (byte) random.nextInt(3);
                        rows.add(new Row(key, ++timestamp, random.nextBoolean(), new byte[] {1}));
                    }
                    all.addAll(rows);
                    cursors.addFirst(new ListCursor(rows));
                }
                all.sort(ListCursor.ORDER);
                EntryCursor merged = MergeCursor.of(cursors);
                assertThat(rest(merged)).as("seed %d", SEED).isEqualTo(all);
                assertThat(merged.next()).isFalse();
                byte[] from = new byte[] {0, 0, 0, 0, 0, 0, 0, (byte) random.nextInt(3)};
                merged.seek(Slice.of(from));
                Row first = new Row(from, Long.MAX_VALUE, false, new byte[0]);
                assertThat(rest(merged))
                        .as("seed %d", SEED)
                        .isEqualTo(all.stream()
                                .filter(row -> ListCursor.ORDER.compare(row, first) >= 0)
                                .toList());
                CursorWalk.run(
                        MergeCursor.of(cursors.stream().peek(ListCursor::rewind).toList()),
                        all,
                        random,
                        200);
                merged.close();
                assertThat(cursors).allMatch(ListCursor::closed);
            }
        }
    }

    @Test
    void of_equal_entries_matter_comes_first_and_then_the_newer_stream() {
        EntryCursor merged = MergeCursor.of(List.of(
                new ListCursor(List.of(row(1, 5, true, 0), row(2, 5, false, 10))),
                new ListCursor(List.of(row(1, 5, false, 1), row(2, 5, false, 11))),
                new ListCursor(List.of(row(1, 5, false, 2)))));
        assertThat(rest(merged))
                .containsExactly(
                        row(1, 5, false, 1),
                        row(1, 5, false, 2),
                        row(1, 5, true, 0),
                        row(2, 5, false, 10),
                        row(2, 5, false, 11));
    }
}
