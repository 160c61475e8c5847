package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** A source of another jar, found by its name. */
class SourceKindTest {
    private static final String DEFINITION = """
            feed: f
            dataset:
              name: D
              type: { id: int64 }
              primaryKey: id
            source: { kind: numbers, count: 60, partitions: 3 }
            parser: { kind: json }
            mode: insert
            """;

    @TempDir
    Path directory;

    private static FeedDefinition definition(String source) {
        return FeedDefinition.parse(
                "f.yaml",
                null,
                DEFINITION.replace("kind: numbers, count: 60, partitions: 3", source));
    }

    @Test
    void itsRecordsAreTakenOnce() {
        FeedDefinition definition = definition("kind: numbers, count: 60, partitions: 3");
        assertThat(definition.source().options())
                .isEqualTo(Map.of("count", "60", "partitions", "3"));
        Feed.check(definition);
        try (Store store = Store.open(directory)) {
            for (int count : new int[] {60, 60, 90}) {
                try (Feed feed = Feed.open(
                        definition("kind: numbers, count: %d, partitions: 3".formatted(count)),
                        store)) {
                    FeedReport report = feed.run(FeedProgress.none());
                    assertThat(report.finished()).isTrue();
                    assertThat(report.rejected()).isZero();
                }
            }
            for (long id = 0; id < 90; id++) {
                assertThat(store.dataset("D").get(id)).isNotNull();
            }
            assertThat(store.dataset("_feeds").get("f", "p1"))
                    .containsEntry("records", 30L)
                    .doesNotContainKey("offset");
        }
    }

    @Test
    void aPartitionThatAnotherKindHasReadIsRefused() {
        try (Store store = Store.open(directory)) {
            try (Feed feed = Feed.open(definition("kind: numbers, count: 6"), store)) {
                feed.run(FeedProgress.none());
            }
            Path file = directory.resolve("p0");
            store.environment().disk().create("p0").close();
            try (Feed feed = Feed.open(definition("kind: file, path: " + file), store)) {
                assertThatThrownBy(() -> feed.run(FeedProgress.none()))
                        .hasMessageContaining("has read p0 from another kind of source");
            }
        }
    }

    /** Whatever its partitions are called: its records may be the same. */
    @Test
    void aFeedOfAnotherKindReadsNoFiles() throws IOException {
        Path logs = Files.createDirectories(directory.resolve("logs"));
        Files.writeString(logs.resolve("other.log"), "{\"id\":1}\n");
        try (Store store = Store.open(directory.resolve("store"))) {
            try (Feed feed = Feed.open(definition("kind: numbers, count: 6"), store)) {
                feed.run(FeedProgress.none());
            }
            try (Feed feed = Feed.open(definition("kind: file, path: " + logs), store)) {
                assertThatThrownBy(() -> feed.run(FeedProgress.none()))
                        .hasMessageContaining("has read p0 from another kind of source");
            }
        }
    }

    @Test
    void itsKeysAreCheckedLikeOthers() {
        assertThatThrownBy(() -> definition("kind: numbers, path: x"))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("source.path")
                .hasMessageContaining("source.count");
        assertThatThrownBy(() -> definition("kind: nombers"))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("numbers");
        assertThatThrownBy(() -> Feed.check(definition("kind: numbers, count: -1")))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("source")
                .hasMessageContaining("below 0");
    }
}
