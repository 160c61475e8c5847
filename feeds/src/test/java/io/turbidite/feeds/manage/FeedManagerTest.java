package io.turbidite.feeds.manage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.task.Tasks;
import io.turbidite.feeds.DefinitionException;
import io.turbidite.feeds.FeedReport;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

/** Many feeds on one store, on threads. */
@Timeout(60)
class FeedManagerTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    private Path home() {
        return directory.resolve("store");
    }

    private String file(String name, String kind, String path, String dataset) {
        return """
                feed: %s
                dataset:
                  name: %s
                  type: { id: int64, name: string }
                  primaryKey: id
                source: { kind: %s, path: "%s" }
                parser: { kind: json }
                """.formatted(name, dataset, kind, path);
    }

    private void write(String file, long from, long to) throws IOException {
        StringBuilder lines = new StringBuilder();
        for (long i = from; i < to; i++) {
            lines.append("{\"id\":").append(i).append(",\"name\":\"n").append(i).append("\"}\n");
        }
        Files.writeString(
                directory.resolve(file),
                lines,
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    private static FeedStatus await(
            Store store, FeedManager feeds, String feed, Predicate<FeedStatus> what) {
        Tasks tasks = store.environment().tasks();
        tasks.await(() -> what.test(feeds.status(feed)));
        return feeds.status(feed);
    }

    private static long count(Store store, String dataset, long to) {
        long count = 0;
        for (long i = 0; i < to; i++) {
            count += store.dataset(dataset).get(i) == null ? 0 : 1;
        }
        return count;
    }

    @Test
    void aFeedRunsToTheEndOfItsSource() throws IOException {
        write("a.json", 0, 2_000);
        try (Store store = Store.open(home());
                FeedManager feeds = FeedManager.open(store)) {
            List<StoreEvent.FeedChanged> events = new ArrayList<>();
            store.events().listen(event -> {
                if (event instanceof StoreEvent.FeedChanged changed) {
                    synchronized (events) {
                        events.add(changed);
                    }
                }
            });
            FeedStatus started = feeds.start(file("a", "file", "a.json", "D"), directory);
            assertThat(started.name()).isEqualTo("a");
            FeedStatus ended =
                    await(store, feeds, "a", status -> status.state() == FeedState.ENDED);
            assertThat(ended.records()).isEqualTo(2_000);
            assertThat(ended.stopped()).isFalse();
            assertThat(ended.word()).isEqualTo("ended");
            assertThat(ended.dataset()).isEqualTo("D");
            assertThat(ended.bytes()).isEqualTo(Files.size(directory.resolve("a.json")));
            assertThat(count(store, "D", 2_000)).isEqualTo(2_000);
            store.environment()
                    .tasks()
                    .await(
                            () -> { // the event comes behind the state
                                synchronized (events) {
                                    return events.size() == 3;
                                }
                            });
            synchronized (events) {
                assertThat(events)
                        .extracting(StoreEvent.FeedChanged::after)
                        .containsExactly("starting", "running", "ended");
            }
            assertThatThrownBy(() -> feeds.start(file("a", "file", "a.json", "D"), directory))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("there is a feed a, which is ended");
            assertThatThrownBy(() -> feeds.status("b")).hasMessage("there is no feed 'b'");
        }
    }

    @Test
    void twoFeedsIntoOneDatasetGoOnWhenAnotherFails() throws IOException {
        write("a.json", 0, 500);
        write("b.json", 500, 1_000);
        Files.createDirectory(directory.resolve("gone"));
        try (Store store = Store.open(home());
                FeedManager feeds = FeedManager.open(store)) {
            feeds.start(file("a", "tail", "a.json", "D"), directory);
            feeds.start(file("b", "tail", "b.json", "D"), directory);
            assertThatThrownBy(() -> feeds.start(file("c", "file", "none.json", "D"), directory))
                    .isInstanceOf(DefinitionException.class);
            assertThat(feeds.list()).extracting(FeedStatus::name).containsExactly("a", "b");
            await(store, feeds, "a", status -> status.records() == 500);
            await(store, feeds, "b", status -> status.records() == 500);
            await(store, feeds, "b", status -> status.state() == FeedState.WAITING);
            assertThat(feeds.pause("a").state()).isEqualTo(FeedState.PAUSED);
            write("a.json", 1_000, 1_100);
            write("b.json", 1_100, 1_200);
            await(store, feeds, "b", status -> status.records() == 600);
            assertThat(feeds.status("a").records()).isEqualTo(500);
            feeds.resume("a");
            await(store, feeds, "a", status -> status.records() == 600);
            assertThat(count(store, "D", 2_000)).isEqualTo(1_200);
            assertThat(feeds.stop("b").state()).isEqualTo(FeedState.ENDED);
            assertThat(feeds.drop("a").name()).isEqualTo("a");
            assertThat(feeds.list()).extracting(FeedStatus::name).containsExactly("b");
        }
    }

    @Test
    void whatWasStartedStoppedOrPausedIsSoAgain() throws IOException {
        write("a.json", 0, 100);
        try (Store store = Store.open(home());
                FeedManager feeds = FeedManager.open(store)) {
            for (String feed : List.of("a", "b", "c", "d")) {
                feeds.start(file(feed, "tail", "a.json", "D" + feed), directory);
                await(store, feeds, feed, status -> status.records() == 100);
            }
            feeds.pause("b");
            feeds.stop("c");
            feeds.drop("d");
        }
        write("a.json", 100, 150);
        try (Store store = Store.open(home())) {
            assertThat(count(store, "Da", 200)).isEqualTo(100);
            try (FeedManager feeds = FeedManager.open(store)) {
                assertThat(feeds.list()).isEmpty();
                assertThat(feeds.startKept())
                        .extracting(FeedStatus::name)
                        .containsExactly("a", "b", "c");
                await(store, feeds, "a", status -> status.records() == 50);
                assertThat(feeds.status("b").state()).isEqualTo(FeedState.PAUSED);
                assertThat(feeds.status("c").state()).isEqualTo(FeedState.ENDED);
                assertThat(feeds.status("c").word()).isEqualTo("stopped");
                assertThat(feeds.resume("c").stopped()).isFalse();
                assertThat(feeds.startKept()).hasSize(3);
            }
            assertThat(count(store, "Da", 200)).isEqualTo(150);
            assertThat(count(store, "Db", 200)).isEqualTo(100);
        }
    }

    @Test
    void deadLettersAreReadInPages() throws IOException {
        Files.writeString(
                directory.resolve("a.json"),
                "{\"id\":1,\"name\":\"x\"}\n{\"id\":\"bad\"}\n{\"id\":2}\n{\"id\":3,\"name\":7}\n");
        try (Store store = Store.open(home());
                FeedManager feeds = FeedManager.open(store)) {
            feeds.start(file("a", "tail", "a.json", "D"), directory);
            await(store, feeds, "a", status -> status.rejected() == 3);
            FeedLetters first = feeds.letters("a", 0, 2);
            assertThat(first.letters())
                    .extracting(FeedLetters.Letter::line)
                    .containsExactly(2L, 3L);
            FeedLetters.Letter letter = first.letters().getFirst();
            assertThat(letter.raw()).isEqualTo("{\"id\":\"bad\"}");
            assertThat(letter.reason()).isNotEmpty();
            FeedLetters second = feeds.letters("a", first.next(), 10);
            assertThat(second.letters()).extracting(FeedLetters.Letter::line).containsExactly(4L);
            assertThat(feeds.letters("a", second.next(), 10).letters()).isEmpty();
            assertThatThrownBy(() -> feeds.letters("a", 1, 10)).hasMessageContaining("begins at 1");
            assertThat(Objects.requireNonNull(
                            feeds.letters("a", 0, 1).letters().getFirst().raw()))
                    .contains("bad");
        }
    }

    @Test
    void lettersThatTheDefinitionTakesByNowAreFedAgainOnce() throws IOException {
        Files.writeString(
                directory.resolve("a.json"),
                "{\"id\":1,\"name\":\"x\"}\n{\"id\":\"bad\"}\n{\"id\":2}\n{\"id\":3}\n");
        String yaml = file("a", "tail", "a.json", "D") + "mode: insert\n";
        try (Store store = Store.open(home());
                FeedManager feeds = FeedManager.open(store)) {
            feeds.start(yaml, directory);
            await(store, feeds, "a", status -> status.rejected() == 3);
            await(store, feeds, "a", status -> status.state() == FeedState.WAITING);
            FeedReport none = feeds.retryLetters("a");
            assertThat(none.records()).isZero();
            assertThat(none.rejected()).isEqualTo(3);
            await(store, feeds, "a", status -> status.state() == FeedState.WAITING);

            FeedLetters all = feeds.letters("a", 0, 100);
            assertThat(all.letters()).hasSize(6);
            FeedLetters left = feeds.letters("a", all.retriedTo(), 100);
            assertThat(left.letters())
                    .extracting(FeedLetters.Letter::line)
                    .containsExactly(2L, 3L, 4L);
            assertThat(left.letters().getFirst().source()).startsWith("a.json#");

            feeds.pause("a");
            feeds.change(yaml + "transform: { name: \"coalesce(name, 'none')\" }\n", directory);
            FeedReport some = feeds.retryLetters("a");
            assertThat(some.records()).isEqualTo(2);
            assertThat(some.rejected()).isEqualTo(1);
            assertThat(feeds.status("a").state()).isEqualTo(FeedState.PAUSED);
            assertThat(store.dataset("D").get(2L)).containsEntry("name", "none");
            FeedReport again = feeds.retryLetters("a");
            assertThat(again.records()).isZero();
            assertThat(again.rejected()).isEqualTo(1);
            feeds.resume("a");
            write("a.json", 10, 12);
            await(store, feeds, "a", status -> store.dataset("D").get(11L) != null);
            assertThat(feeds.status("a").rejected()).isEqualTo(3 + 3 + 1 + 1);
        }
        // what was emptied is read from its beginning
        Files.writeString(home().resolve("dead-letters/a.jsonl"), "");
        write("a.json", 12, 13);
        Files.writeString(
                directory.resolve("a.json"), "{\"id\":\"c\"}\n", StandardOpenOption.APPEND);
        try (Store store = Store.open(home());
                FeedManager feeds = FeedManager.open(store)) {
            feeds.startKept();
            await(store, feeds, "a", status -> status.rejected() == 1);
            assertThat(feeds.letters("a", 0, 9).retriedTo()).isZero();
            assertThat(feeds.retryLetters("a").rejected()).isEqualTo(1);
            FeedLetters left = feeds.letters("a", 0, 9);
            assertThat(left.letters()).hasSize(2);
            assertThat(left.retriedTo()).isEqualTo(left.letters().getLast().at());
        }
    }

    @Test
    void lettersOfCsvAreReadUnderTheirOwnHeader() throws IOException {
        Path sources = Files.createDirectory(directory.resolve("in"));
        Files.writeString(sources.resolve("1.csv"), "id,name\n1,a\nx2,b\n");
        Files.writeString(sources.resolve("2.csv"), "name,id\nc,x3\nd,4\n");
        String yaml = file("a", "file", "in", "D").replace("kind: json", "kind: csv");
        try (Store store = Store.open(home());
                FeedManager feeds = FeedManager.open(store)) {
            feeds.start(yaml, directory);
            await(store, feeds, "a", status -> status.state() == FeedState.ENDED);
            assertThat(feeds.status("a").rejected()).isEqualTo(2);
            feeds.change(yaml + "transform: { id: \"int64(replace(id, 'x', ''))\" }\n", directory);
            assertThat(feeds.retryLetters("a").records()).isEqualTo(2);
            assertThat(store.dataset("D").get(2L)).containsEntry("name", "b");
            assertThat(store.dataset("D").get(3L)).containsEntry("name", "c");
            feeds.resume("a");
            await(store, feeds, "a", status -> status.state() == FeedState.ENDED);
        }
    }

    @Test
    void whatIsAskedWhileTheManagerClosesIsRefusedAndLeavesNothingRunning() throws Exception {
        write("a.json", 0, 10);
        try (Store store = Store.open(home())) {
            for (int round = 0; round < 20; round++) {
                FeedManager feeds = FeedManager.open(store);
                List<Thread> threads = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    String yaml = file("f" + round + "x" + i, "tail", "a.json", "D");
                    threads.add(Thread.ofPlatform().start(() -> {
                        try {
                            feeds.start(yaml, directory);
                        } catch (ClosedException tooLate) {
                            assertThat(tooLate).hasMessageContaining("is closed");
                        }
                    }));
                }
                feeds.close();
                for (Thread thread : threads) {
                    thread.join();
                }
                assertThatThrownBy(feeds::startKept).isInstanceOf(ClosedException.class);
            }
        }
    }
}
