package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StorageIoException;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.manage.FeedStatus;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** The directory of followed files goes away for a while. */
@Timeout(60)
class TailDirectoryTest {
    private static final String FEED = """
            feed: app
            dataset: { name: D, type: { id: int64 }, primaryKey: id }
            mode: insert
            source: { kind: tail, path: "logs/*.log" }
            parser: { kind: json }
            """;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    private Path logs() {
        return directory.resolve("logs");
    }

    private Path elsewhere() {
        return directory.resolve("elsewhere");
    }

    private Path home() {
        return directory.resolve("store");
    }

    @BeforeEach
    void makeDirectory() throws IOException {
        Files.createDirectory(logs());
    }

    private static void write(Path file, int from, int to) throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = from; i < to; i++) {
            lines.append("{\"id\":").append(i).append("}\n");
        }
        Files.writeString(file, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private static FeedStatus await(Store store, FeedManager feeds, Predicate<FeedStatus> what) {
        store.environment().tasks().await(() -> what.test(feeds.status("app")));
        return feeds.status("app");
    }

    private void checkRetries(FeedStatus status) {
        assertThat(status.state()).isEqualTo(FeedState.RETRYING);
        assertThat(status.cause()).contains("feed app", logs().toString(), "no such directory");
    }

    @Test
    void aServedFeedTriesAgainAndGoesOnWhereItWas() throws IOException {
        write(logs().resolve("a.log"), 0, 100);
        try (Store store = Store.open(home());
                FeedManager feeds = FeedManager.open(store)) {
            feeds.start(FEED, directory);
            await(store, feeds, status -> status.records() == 100);
            Files.move(logs(), elsewhere());
            checkRetries(await(store, feeds, status -> !status.state().isActive()));
            write(elsewhere().resolve("a.log"), 100, 150);
            Files.move(elsewhere().resolve("a.log"), elsewhere().resolve("b.log"));
            Files.move(elsewhere(), logs());
            FeedStatus now = await(store, feeds, status -> status.records() >= 150);
            assertThat(now.records()).isEqualTo(150);
            assertThat(now.rejected()).isZero(); // nothing was read twice: it would be a key twice
        }
    }

    @Test
    void aFeedThatIsStartedAgainMeanwhileTriesAgainToo() throws IOException {
        write(logs().resolve("a.log"), 0, 100);
        try (Store store = Store.open(home());
                FeedManager feeds = FeedManager.open(store)) {
            feeds.start(FEED, directory);
            await(store, feeds, status -> status.records() == 100);
        }
        Files.move(logs(), elsewhere());
        try (Store store = Store.open(home());
                FeedManager feeds = FeedManager.open(store)) {
            feeds.startKept();
            checkRetries(await(store, feeds, status -> !status.state().isActive()));
            write(elsewhere().resolve("a.log"), 100, 120);
            Files.move(elsewhere(), logs());
            FeedStatus now = await(store, feeds, status -> status.records() > 0);
            assertThat(now.records()).isEqualTo(20);
            assertThat(now.rejected()).isZero();
        }
    }

    /** A run of the feed in a thread of its own. */
    private final class Running implements AutoCloseable {
        private final Store store = Store.open(home());
        private final Feed feed = Feed.open(FeedDefinition.parse("f.yaml", directory, FEED), store);
        private final List<String> told = Collections.synchronizedList(new ArrayList<>());
        private final CompletableFuture<FeedReport> report =
                CompletableFuture.supplyAsync(() -> feed.run(new FeedProgress() {
                    @Override
                    public void at(long records, long rejected, long bytes, long bytesTotal) {}

                    @Override
                    public void away(String why) {
                        told.add(why);
                    }
                }));

        void awaitRecord(long id) {
            awaitOrEnd(() -> store.dataset("D").get(id) != null);
        }

        void awaitAway() {
            awaitOrEnd(() -> !told.isEmpty());
        }

        private void awaitOrEnd(BooleanSupplier what) {
            store.environment().tasks().await(() -> report.isDone() || what.getAsBoolean());
        }

        /** Ends it; each record was accepted once. */
        void check(int records) {
            feed.stop();
            assertThat(report.join().records()).isEqualTo(records);
            assertThat(report.join().rejected()).isZero();
            assertThat(told).hasSize(1);
            assertThat(told.getFirst()).contains("feed app", logs().toString());
        }

        @Override
        public void close() {
            feed.stop();
            var _ = report.handle((_, _) -> true).join();
            feed.close();
            store.close();
        }
    }

    @Test
    void aRunWaitsAndSaysWhatFor() throws IOException {
        write(logs().resolve("a.log"), 0, 100);
        try (Running run = new Running()) {
            run.awaitRecord(99);
            Files.move(logs(), elsewhere());
            run.awaitAway();
            write(elsewhere().resolve("a.log"), 100, 150);
            Files.move(elsewhere(), logs());
            run.awaitRecord(149);
            run.check(150);
        }
    }

    /** The bug: two seconds later the part was a record, and the rest was another one. */
    @Test
    void aPartOfALineWaitsForItsRest() throws IOException {
        write(logs().resolve("a.log"), 0, 100);
        Files.writeString(logs().resolve("a.log"), "{\"id\":1", StandardOpenOption.APPEND);
        try (Running run = new Running()) {
            run.awaitRecord(99);
            Files.move(logs(), elsewhere());
            run.awaitAway();
            Path file = elsewhere().resolve("a.log");
            Files.writeString(file, "00}\n", StandardOpenOption.APPEND);
            write(file, 101, 110);
            Files.move(elsewhere(), logs());
            run.awaitRecord(109);
            run.check(110);
        }
    }

    /** The bug: a copy was taken for what had been read, and the file itself was read anew. */
    @Test
    void aCopyThatIsMadeMeanwhileIsNotTakenForTheFile() throws IOException {
        write(logs().resolve("a.log"), 0, 100);
        try (Running run = new Running()) {
            run.awaitRecord(99);
            Files.move(logs(), elsewhere());
            run.awaitAway();
            Path file = elsewhere().resolve("a.log");
            Files.copy(file, elsewhere().resolve("a-backup.log")); // which comes before it
            write(file, 100, 150);
            Files.move(elsewhere(), logs());
            run.awaitRecord(149);
            run.check(150);
        }
    }

    /** The bug: a run waited for ever, and kept a processor busy. */
    @Test
    void aRunEndsWhenTheDirectoryCanNotBeLookedAt() throws IOException {
        write(logs().resolve("a.log"), 0, 100);
        try (Running run = new Running()) {
            run.awaitRecord(99);
            Files.move(logs(), elsewhere());
            run.awaitAway();
            write(logs(), 0, 1); // a file, which can't be listed
            long untilNanos = System.nanoTime() + 5_000_000_000L;
            run.awaitOrEnd(() -> System.nanoTime() > untilNanos);
            assertThat(run.report).isCompletedExceptionally();
            assertThatThrownBy(run.report::join)
                    .hasCauseInstanceOf(StorageIoException.class)
                    .hasMessageContaining("logs");
        }
    }

    @Test
    void whoNamesADirectoryThatIsNotThereIsToldSo() throws IOException {
        Files.delete(logs());
        try (Store store = Store.open(home());
                FeedManager feeds = FeedManager.open(store)) {
            assertThatThrownBy(() -> feeds.start(FEED, directory))
                    .isInstanceOf(DefinitionException.class)
                    .hasMessageContaining("source.path")
                    .hasMessageContaining("there is no such directory");
            assertThat(feeds.list()).isEmpty();
        }
    }
}
