package io.turbidite.it.golden;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.LogOptions;
import io.turbidite.feeds.Feed;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedProgress;
import io.turbidite.feeds.FeedReport;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A store whose feed was run before its rows were those of partitions of a source: one file was
 * read to its end, one ends within quotes.
 */
class GoldenFeedTest {
    private static final String ARCHIVE = "golden/feeds-v1.zip";

    private static final String DEFINITION = """
            feed: golden
            dataset:
              name: Golden
              type: {id: int64, name: string}
              primaryKey: id
            source: {kind: file, path: in}
            parser: {kind: csv}
            mode: insert
            """;

    private static StoreOptions options() {
        LogOptions log = LogOptions.defaults().withSegmentBytes(256 << 10, 16, 256, 64 << 10);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(1 << 20)
                .withCacheBytes(1 << 20)
                .withLog(1 << 20, log);
    }

    private static FeedReport run(Path directory, Store store) {
        FeedDefinition definition = FeedDefinition.parse("golden.yaml", directory, DEFINITION);
        try (Feed feed = Feed.open(definition, store)) {
            return feed.run(FeedProgress.none());
        }
    }

    private static void append(Path file, String text) throws IOException {
        Files.writeString(file, text, StandardCharsets.UTF_8, StandardOpenOption.APPEND);
    }

    @Test
    void a_feed_of_before_goes_on_where_it_was(@TempDir Path directory) throws IOException {
        GoldenStoreTest.unzip(ARCHIVE, directory);
        Path letters = directory.resolve("store/dead-letters/golden.jsonl");
        String before = Files.readString(letters);
        try (Store store = Store.openExisting(directory.resolve("store"), options())) {
            FeedReport nothing = run(directory, store);
            assertThat(nothing.resumed()).isTrue();
            assertThat(nothing.records() + nothing.rejected()).isZero();
            assertThat(nothing.waiting()).isEqualTo(1);

            append(directory.resolve("in/a.csv"), "700,more\n701,x,y\n");
            append(directory.resolve("in/b.csv"), " quote\"\n");
            FeedReport more = run(directory, store);
            assertThat(more.records()).isEqualTo(2);
            assertThat(more.rejected()).isEqualTo(1);
            assertThat(store.dataset("Golden").get(1_001L)).containsEntry("name", "open quote");
            assertThat(store.dataset("Golden").get(699L)).containsEntry("name", "name699");
            assertThat(store.dataset("_feeds").get("golden", "a.csv"))
                    .containsEntry("records", 701L)
                    .containsEntry("rejected", 4L)
                    .containsEntry("line", 707L)
                    .containsEntry("sequence", 1L);
            assertThat(store.verify().errors()).isEmpty();
        }
        assertThat(Files.readString(letters)).startsWith(before).hasLineCount(4);
        try (Store store = Store.openExisting(directory.resolve("store"), options())) {
            assertThat(run(directory, store).records()).isZero();
        }
    }
}
