package io.turbidite.feeds.manage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.meter.StoreEvent;
import io.turbidite.feeds.DefinitionException;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The number of parse workers of a feed, and by what it is decided, while the feed runs. */
@Timeout(60)
class WorkersChangeTest {
    private static final int FILES = 4;
    private static final String DEFINITION = """
            feed: f
            dataset:
              name: D
              type: { id: int64 }
              primaryKey: id
            source: { kind: tail, path: "in/*.json" }
            parser: { kind: json }
            mode: insert
            """;

    @TempDir
    private Path directory;

    private int written;

    private void write(int count) throws IOException {
        Files.createDirectories(directory.resolve("in"));
        for (int i = 0; i < count; i++) {
            Files.writeString(
                    directory.resolve("in/f%d.json".formatted(written % FILES)),
                    "{\"id\":%d}\n".formatted(written++),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        }
    }

    private FeedStatus awaitAll(Store store, FeedManager feeds, int workers) {
        store.environment().tasks().await(() -> {
            FeedStatus now = feeds.status("f");
            assertThat(now.state()).as(String.valueOf(now.cause())).isNotEqualTo(FeedState.FAILED);
            return now.records() == written && now.workers() == workers;
        });
        return feeds.status("f");
    }

    @Test
    void workersAndPolicyChangeWithARunningFeedAndNothingIsLostOrTakenTwice() throws IOException {
        try (Store store = Store.open(directory.resolve("store"));
                FeedManager feeds = FeedManager.open(store)) {
            List<String> failed = new CopyOnWriteArrayList<>();
            store.events().listen(event -> {
                if (event instanceof StoreEvent.FeedChanged changed && changed.cause() != null) {
                    failed.add(changed.cause());
                }
            });
            write(200);
            feeds.start(DEFINITION, directory);
            awaitAll(store, feeds, 1);
            String elastic = "policy: { kind: elastic, workersMin: %d, workersMax: %d }\n";
            int[] workers = {3, 2, 3, 1, 2, 4};
            String[] tails = {
                "workers: 3\n",
                "workers: 2\n",
                elastic.formatted(3, 4),
                elastic.formatted(1, 4),
                "workers: 2\npolicy: { kind: throttle, recordsPerSecond: 1000000 }\n",
                "workers: 5\npolicy: { kind: discard, percentMax: 1 }\n"
            };
            for (int i = 0; i < tails.length; i++) {
                write(50); // some of it is on its way when the definition changes
                feeds.change(DEFINITION + tails[i], directory);
                write(50);
                FeedStatus status = awaitAll(store, feeds, workers[i]);
                assertThat(status.definition()).endsWith(tails[i]);
                assertThat(status.rejected() + status.dropped()).isZero();
            }
            for (long id = 0; id < written; id++) {
                assertThat(store.dataset("D").get(id)).isNotNull();
            }
            String before = feeds.status("f").definition();
            assertThatThrownBy(() -> feeds.change(
                            DEFINITION.replace("*.json", "*.jsn") + elastic.formatted(1, 2),
                            directory))
                    .isInstanceOf(DefinitionException.class)
                    .hasMessageContaining("source.path can't change in a feed that there is");
            assertThatThrownBy(() -> feeds.change(
                            DEFINITION.replace("name: D", "name: E") + elastic.formatted(1, 2),
                            directory))
                    .isInstanceOf(DefinitionException.class)
                    .hasMessageContaining("dataset.name can't change in a feed that there is");
            assertThat(store.findDataset("E")).isNull();
            assertThatThrownBy(() -> feeds.change(
                            DEFINITION + "workers: 2\n" + elastic.formatted(1, 2), directory))
                    .isInstanceOf(DefinitionException.class)
                    .hasMessageContaining("workers does not go with policy elastic");
            assertThat(feeds.status("f").definition()).isEqualTo(before);
            write(20);
            awaitAll(store, feeds, 4);
            assertThat(failed).isEmpty();
        }
    }
}
