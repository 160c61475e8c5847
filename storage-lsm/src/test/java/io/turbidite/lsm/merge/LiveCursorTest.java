package io.turbidite.lsm.merge;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.entry.CursorWalk;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.ListCursor;
import io.turbidite.lsm.entry.ListCursor.Row;
import io.turbidite.lsm.entry.LiveCursor;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** What a snapshot shows of a stack of layers, walked in both directions. */
class LiveCursorTest {
    private static final String TEST = "LiveCursorTest";
    private static final int ROUNDS = Tier.count(50, 400, 20_000);

    @Test
    void a_walk_in_both_directions_shows_the_newest_visible_matter_of_each_key() {
        long seed = Seeds.of(TEST);
        for (int round = 0; round < ROUNDS; round++) {
            SplittableRandom random = new SplittableRandom(Seeds.mix(seed, round));
            List<List<Row>> layers = layers(random);
            long snapshot = random.nextInt(140);
            try {
                EntryCursor merged = MergeCursor.of(
                        layers.stream().map(ListCursor::new).toList().reversed());
                CursorWalk.run(
                        LiveCursor.of(merged, snapshot), live(layers, snapshot), random, 300);
            } catch (AssertionError | RuntimeException failure) {
                throw new AssertionError(
                        "round %d, snapshot %d of %s; %s"
                                .formatted(round, snapshot, layers, Seeds.replay(TEST, seed)),
                        failure);
            }
        }
    }

    /** Oldest first; timestamps ascend, and one operation may remove and add an entry. */
    private static List<List<Row>> layers(SplittableRandom random) {
        List<List<Row>> layers = new ArrayList<>();
        long timestamp = 0;
        int keys = 1 + random.nextInt(12);
        for (int layer = 1 + random.nextInt(5); layer > 0; layer--) {
            List<Row> rows = new ArrayList<>();
            for (int i = random.nextInt(25); i > 0; i--) {
                timestamp++;
                byte[] key = new byte[] {(byte) (random.nextInt(keys) * 3)};
                byte[] value = new byte[] {(byte) timestamp};
                int kind = random.nextInt(6);
                if (kind > 0) {
                    rows.add(new Row(key, timestamp, false, value));
                }
                if (kind < 2) {
                    rows.add(new Row(key, timestamp, true, new byte[0]));
                }
            }
            layers.add(rows);
        }
        // matter first where key and timestamp are equal, as a memory component has it at most once
        layers.forEach(rows ->
                rows.sort(ListCursor.ORDER.thenComparingInt(row -> row.antimatter() ? 1 : 0)));
        return layers;
    }

    private static List<Row> live(List<List<Row>> layers, long snapshot) {
        List<Row> all = new ArrayList<>();
        layers.forEach(all::addAll);
        all.sort(ListCursor.ORDER.thenComparingInt(row -> row.antimatter() ? 1 : 0));
        List<Row> live = new ArrayList<>();
        Set<Byte> decided = new HashSet<>();
        for (Row row : all) {
            if (row.timestamp() <= snapshot && decided.add(row.key()[0]) && !row.antimatter()) {
                live.add(row);
            }
        }
        return live;
    }
}
