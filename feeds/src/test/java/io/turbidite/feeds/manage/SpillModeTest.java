package io.turbidite.feeds.manage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.feeds.DefinitionException;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A spill has records, or keys to be deleted: the mode of its feed stays until it is delivered. */
@Timeout(60)
class SpillModeTest {
    private static final String DEFINITION = """
            feed: f
            dataset:
              name: D
              type: { id: int64 }
              primaryKey: id
            source: { kind: http }
            parser: { kind: json }
            """;
    private static final String SPILLS = "policy: { kind: spill, bytesMax: 32MiB }\n";
    private static final String DELETES = "mode: delete\n";

    @TempDir
    private Path directory;

    private void refused(FeedManager feeds, String definition) {
        String before = feeds.status("f").definition();
        assertThatThrownBy(() -> feeds.change(definition, directory))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContainingAll("mode can't change to delete", "give it policy basic");
        assertThat(feeds.status("f").definition()).isEqualTo(before);
    }

    /** The bug: the feed failed, and said that the spill is another feed's. */
    @Test
    void the_mode_does_not_change_while_records_wait_in_files_or_may() throws IOException {
        Path spill = directory.resolve("store/feed-spill/f/000000000001.spill");
        try (Store store = Store.open(directory.resolve("store"));
                FeedManager feeds = FeedManager.open(store)) {
            feeds.start(DEFINITION + SPILLS, directory);
            store.environment().tasks().await(() -> feeds.status("f").state() == FeedState.WAITING);
            refused(feeds, DEFINITION + SPILLS + DELETES);
            feeds.change(DEFINITION + SPILLS + "mode: insert\n", directory);
            feeds.pause("f");
            Files.createDirectories(spill.getParent());
            Files.writeString(spill, "left");
            refused(feeds, DEFINITION + DELETES);
            Files.delete(spill);
            feeds.change(DEFINITION + DELETES + SPILLS, directory);
            Files.writeString(spill, "left");
            refused(feeds, DEFINITION);
            Files.delete(spill);
            feeds.change(DEFINITION + DELETES, directory);
            feeds.resume("f");
            feeds.change(DEFINITION, directory);
            assertThat(feeds.status("f").definition()).isEqualTo(DEFINITION);
        }
    }
}
