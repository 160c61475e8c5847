package io.turbidite.lsm.merge;

import static io.turbidite.lsm.merge.MergeCursorTest.rest;
import static io.turbidite.lsm.merge.MergeCursorTest.row;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.lsm.entry.ListCursor;
import io.turbidite.lsm.entry.ListCursor.Row;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

class AntimatterJoinTest {
    private static final long SEED = Long.getLong("turbidite.seed", 9);

    private static List<Row> joined(
            VersionRetention retention, List<Row> entries, List<Row> antimatter) {
        try (AntimatterJoin join =
                AntimatterJoin.of(new ListCursor(entries), new ListCursor(antimatter), retention)) {
            List<Row> left = rest(join);
            assertThat(join.removedCount()).isEqualTo(entries.size() - left.size());
            return left;
        }
    }

    private static VersionRetention at(long watermark, long... snapshots) {
        return VersionRetention.of(watermark, snapshots, false);
    }

    @Test
    void antimatter_removes_older_entries_of_its_key_and_is_not_shown() {
        assertThat(joined(
                        at(20),
                        List.of(row(1, 5, false, 0), row(2, 6, false, 0), row(3, 7, false, 0)),
                        List.of(row(0, 9, true, 0), row(2, 9, true, 0), row(4, 9, true, 0))))
                .containsExactly(row(1, 5, false, 0), row(3, 7, false, 0));
    }

    /** What came again later with the same keys has nothing to do with what went before. */
    @Test
    void an_entry_that_is_younger_than_the_antimatter_stays() {
        assertThat(joined(
                        at(20),
                        List.of(row(1, 12, false, 0), row(1, 9, false, 0), row(1, 5, false, 0)),
                        List.of(row(1, 9, true, 0))))
                .containsExactly(row(1, 12, false, 0), row(1, 9, false, 0));
    }

    @Test
    void an_entry_that_a_snapshot_sees_stays() {
        List<Row> entries = List.of(row(1, 5, false, 0), row(1, 2, false, 0));
        List<Row> antimatter = List.of(row(1, 9, true, 0), row(1, 4, true, 0));
        assertThat(joined(at(20, 7), entries, antimatter)).containsExactly(row(1, 5, false, 0));
        assertThat(joined(at(20, 1), entries, antimatter)).isEmpty();
        assertThat(joined(at(8), entries, antimatter)).containsExactly(row(1, 5, false, 0));
    }

    @Test
    void antimatter_among_the_entries_passes() {
        assertThat(joined(at(20), List.of(row(1, 5, true, 0)), List.of(row(1, 9, true, 0))))
                .containsExactly(row(1, 5, true, 0));
    }

    @Test
    void random_streams_give_what_the_definition_gives() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int round = 0; round < 2_000; round++) {
            List<Row> entries = new ArrayList<>();
            List<Row> antimatter = new ArrayList<>();
            long timestamp = 0;
            for (int i = random.nextInt(40); i > 0; i--) {
                boolean isEntry = random.nextBoolean();
                (isEntry ? entries : antimatter)
                        .add(row(random.nextInt(6), ++timestamp, !isEntry, i));
            }
            long watermark = random.nextLong(timestamp + 3);
            long[] snapshots = LongStream.range(0, random.nextInt(4))
                    .map(i -> random.nextLong(watermark + 1))
                    .toArray();
            List<Row> expected = new ArrayList<>();
            for (Row entry : entries) {
                boolean removed = antimatter.stream()
                        .filter(row -> row.key()[0] == entry.key()[0])
                        .filter(row -> row.timestamp() > entry.timestamp())
                        .anyMatch(row -> row.timestamp() <= watermark
                                && LongStream.of(snapshots)
                                        .noneMatch(s ->
                                                s >= entry.timestamp() && s < row.timestamp()));
                if (!removed) {
                    expected.add(entry);
                }
            }
            expected.sort(ListCursor.ORDER);
            assertThat(joined(at(watermark, snapshots), entries, antimatter))
                    .as("seed %d, round %d", SEED, round)
                    .isEqualTo(expected);
        }
    }
}
