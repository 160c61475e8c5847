package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.feeds.command.Command.Result;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * The query of ALS15 Figure 2: tweets of the last day in a window with a word, counted by cells;
 * through filter, R-tree and inverted index together.
 */
class Figure2Test {
    private static final int TWEETS = 20_000;
    private static final Instant FIRST = Instant.parse("2016-11-04T00:00:00Z");
    private static final Instant LAST_DAY = Instant.parse("2016-11-05T00:00:00Z");

    @TempDir
    private Path directory;

    @Test
    void by_api_and_command_the_cells_are_those_of_plain_loops() {
        Path place = directory.resolve("store");
        Map<String, Long> expected = new TreeMap<>();
        try (Store store = Store.open(place)) {
            Dataset tweets = store.createDataset(DatasetSpec.named("Tweets")
                    .field("tweetid", "int64")
                    .field("sender_location", "point")
                    .field("send_time", "datetime")
                    .field("text", "string")
                    .primaryKey("tweetid")
                    .filter("send_time")
                    .mergePolicy(MergePolicySpec.parse("no-merge"))
                    .index(IndexSpec.rtree("by_location", "sender_location"))
                    .index(IndexSpec.inverted("by_text", "text")));
            WriteBatch batch = store.newBatch();
            for (int i = 0; i < TWEETS; i++) {
                double x = 30 + i % 113 * 0.2;
                double y = -90 + i % 127 * 0.2;
                Instant sent = FIRST.plusSeconds(i * 6L);
                String text = i % 5 == 0 ? "I like Hillary Clinton" : "lunch " + i;
                Map<String, Object> tweet = Map.of(
                        "tweetid",
                        (long) i,
                        "sender_location",
                        new Point(x, y),
                        "send_time",
                        sent,
                        "text",
                        text);
                batch.upsert(tweets, tweets.newRecordWriter().write(tweet));
                if (x >= 38.52
                        && x <= 41.94
                        && y >= -84.78
                        && y <= -80.48
                        && sent.isAfter(LAST_DAY)
                        && i % 5 == 0) {
                    expected.merge(cell(x, 38.52) + " " + cell(y, -84.78), 1L, Long::sum);
                }
                if (i % 2_000 == 1_999) {
                    store.write(batch);
                    batch.clear();
                    tweets.flush();
                }
            }
            Map<String, Long> found = new TreeMap<>();
            try (QueryResult cells = Query.on(tweets)
                    .where(Predicates.within("sender_location", 38.52, -84.78, 41.94, -80.48))
                    .where(Predicates.above("send_time", LAST_DAY))
                    .where(Predicates.contains("text", "hillary clinton"))
                    .groupByCell("sender_location", 3, 3)
                    .usingIndexes("by_location", "by_text")
                    .run()) {
                cells.forEach(row -> {
                    Rectangle cell = (Rectangle) Objects.requireNonNull(row.get("cell"));
                    found.put(
                            Math.round((cell.minX() - 38.52) / 3)
                                    + " "
                                    + Math.round((cell.minY() + 84.78) / 3),
                            (Long) Objects.requireNonNull(row.get("count")));
                });
                assertThat(cells.explain().access()).contains("by_location", "by_text");
                assertThat(cells.explain().toString()).contains("passed over");
            }
            assertThat(found).isEqualTo(expected).hasSizeGreaterThan(2);
        }
        Path picture = directory.resolve("cells.svg");
        Result result = Command.run(
                "query",
                place,
                "Tweets",
                "--within",
                "sender_location=38.52,-84.78,41.94,-80.48",
                "--above",
                "send_time=" + LAST_DAY,
                "--contains",
                "text=Hillary Clinton",
                "--group-cell",
                "sender_location=3,3",
                "--plot",
                picture,
                "--explain");
        assertThat(result.code()).isZero();
        assertThat(result.outLines()).hasSize(expected.size());
        assertThat(result.err()).contains("by_location", "by_text", "passed over");
        assertThat(picture).isNotEmptyFile();
    }

    private static long cell(double value, double origin) {
        return (long) Math.floor((value - origin) / 3);
    }
}
