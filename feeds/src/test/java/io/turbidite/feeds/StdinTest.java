package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StorageIoException;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Standard input as a source, through a pipe that is fed in pieces. */
@Timeout(60)
class StdinTest {
    private static final String JSON = """
            feed: piped
            dataset:
              name: D
              type: { id: int64, name: string }
              primaryKey: id
            source: { kind: stdin }
            parser: { kind: json }
            """;
    private static final String CSV = JSON.replace("json", "csv");

    @TempDir
    private Path directory;

    private final InputStream before = System.in;
    private final Pipe pipe;
    private final OutputStream into;

    StdinTest() throws IOException {
        pipe = Pipe.open();
        into = Channels.newOutputStream(pipe.sink());
    }

    @BeforeEach
    void pipeIn() {
        System.setIn(Channels.newInputStream(pipe.source()));
    }

    @AfterEach
    void pipeOut() throws IOException {
        System.setIn(before);
        pipe.sink().close();
        pipe.source().close();
    }

    private Store store() {
        return Store.open(directory.resolve("store"));
    }

    private FeedDefinition definition(String yaml) {
        return FeedDefinition.parse("piped.yaml", directory, yaml);
    }

    private void write(String text) throws IOException {
        into.write(text.getBytes(StandardCharsets.UTF_8));
        into.flush();
    }

    private static CompletableFuture<FeedReport> start(Feed feed) {
        CompletableFuture<FeedReport> report = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                report.complete(feed.run(FeedProgress.none()));
            } catch (Throwable e) {
                report.completeExceptionally(e);
            }
        });
        return report;
    }

    /** Returns how long it took, in milliseconds. */
    private static long awaitName(Store store, long id, String name) throws InterruptedException {
        long begin = System.nanoTime();
        while (!name.equals(name(store, id))) {
            TimeUnit.MILLISECONDS.sleep(1); // the test has a minute
        }
        return (System.nanoTime() - begin) / 1_000_000;
    }

    private static @Nullable Object name(Store store, long id) {
        Map<String, ? extends @Nullable Object> record = store.dataset("D").get(id);
        return record == null ? null : record.get("name");
    }

    private static String line(long id, String name) {
        return "{\"id\":%d,\"name\":\"%s\"}\n".formatted(id, name);
    }

    private static Map<String, @Nullable Object> row(Store store) {
        return Objects.requireNonNull(store.dataset("_feeds").get("piped", "stdin"));
    }

    @Test
    void what_comes_is_visible_while_the_pipe_is_open_and_the_rest_at_its_end() throws Exception {
        try (Store store = store();
                Feed feed = Feed.open(definition(JSON), store)) {
            CompletableFuture<FeedReport> report = start(feed);
            write(line(1, "a") + "{\"id\":2,");
            assertThat(awaitName(store, 1, "a")).isLessThan(5_000);
            assertThat(name(store, 2)).isNull();
            write("\"name\":\"b\"}\nno record\n" + line(3, "c"));
            assertThat(awaitName(store, 3, "c")).isLessThan(5_000);
            assertThat(name(store, 2)).isEqualTo("b");
            assertThat(report).isNotDone();
            write(line(4, "d") + "\n{\"id\":5,\"name\":\"e\"}");
            assertThat(awaitName(store, 4, "d")).isLessThan(5_000);
            assertThat(name(store, 5)).isNull();
            into.close();
            FeedReport end = report.get(20, TimeUnit.SECONDS);
            assertThat(end.finished()).isTrue();
            assertThat(end.records()).isEqualTo(5);
            assertThat(end.rejected()).isEqualTo(1);
            assertThat(name(store, 5)).isEqualTo("e");
            assertThat(Files.readString(directory.resolve("store/dead-letters/piped.jsonl")))
                    .hasLineCount(1)
                    .contains("\"line\":3", "no record");
        }
    }

    @Test
    void half_a_record_at_the_end_is_a_dead_letter() throws Exception {
        try (Store store = store();
                Feed feed = Feed.open(definition(JSON), store)) {
            write(line(1, "a") + "{\"id\":2,\"na");
            into.close();
            FeedReport end = feed.run(FeedProgress.none());
            assertThat(end.finished()).isTrue();
            assertThat(end.records()).isEqualTo(1);
            assertThat(end.rejected()).isEqualTo(1);
        }
    }

    @Test
    void a_later_run_takes_other_input_by_the_same_keys() throws Exception {
        try (Store store = store();
                Feed feed = Feed.open(definition(JSON), store)) {
            write(line(1, "a") + line(2, "b"));
            into.close();
            assertThat(feed.run(FeedProgress.none()).records()).isEqualTo(2);
        }
        Pipe second = Pipe.open();
        System.setIn(Channels.newInputStream(second.source()));
        try (OutputStream more = Channels.newOutputStream(second.sink())) {
            more.write((line(2, "new") + line(3, "c") + "?\n").getBytes(StandardCharsets.UTF_8));
        }
        try (Store store = store();
                Feed feed = Feed.open(definition(JSON), store)) {
            FeedReport end = feed.run(FeedProgress.none());
            assertThat(end.records()).isEqualTo(2);
            assertThat(end.rejected()).isEqualTo(1);
            assertThat(name(store, 1)).isEqualTo("a");
            assertThat(name(store, 2)).isEqualTo("new");
            assertThat(name(store, 3)).isEqualTo("c");
            assertThat(row(store).get("records")).isEqualTo(4L);
            assertThat(row(store).get("rejected")).isEqualTo(1L);
        }
        second.source().close();
    }

    @Test
    void rows_of_csv_may_span_pieces_and_lines() throws Exception {
        try (Store store = store();
                Feed feed = Feed.open(definition(CSV), store)) {
            CompletableFuture<FeedReport> report = start(feed);
            write("name,");
            write("id\n\"two\n");
            write("lines\",1\nb,x\nc,");
            assertThat(awaitName(store, 1, "two\nlines")).isLessThan(5_000);
            write("3\n");
            assertThat(awaitName(store, 3, "c")).isLessThan(5_000);
            into.close();
            FeedReport end = report.get(20, TimeUnit.SECONDS);
            assertThat(end.records()).isEqualTo(2);
            assertThat(end.rejected()).isEqualTo(1);
        }
    }

    @Test
    void much_that_comes_at_once_is_taken_in_order() throws Exception {
        int count = 50_000;
        try (Store store = store();
                Feed feed = Feed.open(definition(JSON), store)) {
            CompletableFuture<FeedReport> report = start(feed);
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < count; i++) {
                text.append(line(i % 1_000, "n" + i));
            }
            write(text.toString());
            into.close();
            assertThat(report.get(50, TimeUnit.SECONDS).records()).isEqualTo(count);
            for (int id = 0; id < 1_000; id++) {
                assertThat(name(store, id)).isEqualTo("n" + (count - 1_000 + id));
            }
        }
    }

    @Test
    void a_quiet_pipe_keeps_no_feed_from_stopping() throws Exception {
        try (Store store = store();
                Feed feed = Feed.open(definition(JSON), store)) {
            CompletableFuture<FeedReport> report = start(feed);
            write(line(1, "a") + "{\"id\":2,");
            awaitName(store, 1, "a");
            feed.stop();
            FeedReport end = report.get(5, TimeUnit.SECONDS);
            assertThat(end.finished()).isFalse();
            assertThat(end.records()).isEqualTo(1);
            assertThat(end.rejected()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void input_that_fails_fails_the_run_behind_what_was_read(boolean unchecked) throws Exception {
        byte[] first = line(1, "a").getBytes(StandardCharsets.UTF_8);
        System.setIn(new InputStream() {
            private boolean isGiven;

            @Override
            public int read() {
                throw new AssertionError();
            }

            @Override
            public int read(byte[] target, int offset, int byteCount) throws IOException {
                if (isGiven) {
                    IOException torn = new IOException("torn");
                    if (unchecked) {
                        throw new UncheckedIOException("torn", torn);
                    }
                    throw torn;
                }
                isGiven = true;
                System.arraycopy(first, 0, target, offset, first.length);
                return first.length;
            }
        });
        try (Store store = store();
                Feed feed = Feed.open(definition(JSON), store)) {
            assertThatThrownBy(() -> feed.run(FeedProgress.none()))
                    .isInstanceOf(StorageIoException.class)
                    .hasMessageContainingAll("standard input", "torn");
            assertThat(name(store, 1)).isEqualTo("a");
        }
    }

    /** What is piped in by then is another run's, and its first line no header of these. */
    @Test
    void letters_of_csv_that_are_fed_again_leave_the_pipe_alone() throws Exception {
        byte[] next = "id,name\n7,g\n".getBytes(StandardCharsets.UTF_8);
        try (Store store = store()) {
            try (Feed feed = Feed.open(definition(CSV), store)) {
                write("id,name\n1,a,?\n2,b\n");
                into.close();
                assertThat(feed.run(FeedProgress.none()).rejected()).isEqualTo(1);
            }
            ByteArrayInputStream in = new ByteArrayInputStream(next);
            System.setIn(in);
            assertThat(retry(store, CSV).rejected()).isEqualTo(1);
            assertThat(in.available()).isEqualTo(next.length);
            assertThat(Files.readString(directory.resolve("store/dead-letters/piped.jsonl")))
                    .hasLineCount(2)
                    .contains("the header of stdin can't be read again", "header: false");
            String mended =
                    CSV.replace("kind: csv", "kind: csv, header: false, columns: [id, name, x]");
            assertThat(retry(store, mended).records()).isEqualTo(1);
            assertThat(in.available()).isEqualTo(next.length);
            assertThat(name(store, 1)).isEqualTo("a");
        }
    }

    private FeedReport retry(Store store, String yaml) {
        try (Feed feed = Feed.openLetters(definition(yaml), store)) {
            return feed.run(FeedProgress.none());
        }
    }

    private void assertRefused(Store store, String yaml, String key, String says) {
        assertThatThrownBy(() -> Feed.open(definition(yaml), store))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContainingAll(key, says);
        assertThat(store.findDataset("D")).isNull();
    }

    @Test
    void what_makes_no_sense_is_refused() {
        try (Store store = store();
                FeedManager feeds = FeedManager.open(store)) {
            assertRefused(store, JSON + "policy: { kind: spill }\n", "policy.kind", "pipe");
            assertRefused(
                    store,
                    JSON + "policy: { kind: elastic, workersMax: 2 }\n",
                    "policy.kind",
                    "one partition");
            assertRefused(store, JSON + "workers: 2\n", "workers", "one worker reads it");
            assertRefused(store, JSON.replace("json", "avro"), "parser", "not with stdin");
            assertThatThrownBy(() -> feeds.start(JSON, directory))
                    .isInstanceOf(DefinitionException.class)
                    .hasMessageContainingAll("source.kind", "./turbidite run");
            assertThat(feeds.list()).isEmpty();
            assertThat(store.findDataset("D")).isNull();
        }
        assertThatThrownBy(() -> definition(JSON.replace("stdin", "stdin, path: x")))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("path");
    }
}
