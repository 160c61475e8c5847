package io.turbidite.it.crash;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.ops.Query;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * The command {@code serve} runs a feed and is killed at random moments, again and again. Files
 * that are followed while they grow and are rotated: each line is there once. A client that numbers
 * its records and keeps what was acknowledged: all of that is there, and what it sends again is
 * acknowledged and not applied. A record has its key for itself and is inserted, so one that is
 * applied twice is rejected; whoever opens the store after a kill finds none.
 */
@Timeout(3_600)
class FeedKillTest {
    private static final int KILLS = Tier.count(2, 10, 100);
    private static final long LONG_NANOS = 60_000_000_000L;

    @TempDir
    Path directory;

    private final long seed = Seeds.of("FeedKillTest");
    private final String as = Seeds.replay("FeedKillTest", seed);
    private final SplittableRandom random = new SplittableRandom(seed);

    /** What was made, by its key: 1, 2 and so on. */
    private final Map<Long, String> made = new TreeMap<>();

    private long acknowledged;

    /** How many of the client's records are in the store, as far as the test knows. */
    private long taken;

    /** How many kills were behind the write of a body whose answer the client did not see. */
    private int lost;

    private String token = "";

    @BeforeEach
    void makeStore() throws IOException {
        System.out.println(as);
        Store.open(directory.resolve("store"), StoreOptions.defaults()).close();
        token = ServedChild.makeToken(directory.resolve("tokens"));
    }

    private void define(String source) throws IOException {
        Files.writeString(directory.resolve("feed.yaml"), """
                feed: f
                dataset: { name: D, type: { id: int64, text: string }, primaryKey: id }
                mode: insert
                source: { %s }
                parser: { kind: json }
                """.formatted(source));
    }

    /** The next records, a line each. */
    private String lines(int count) {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < count; i++) {
            long id = made.size() + 1L;
            String text = "t".repeat(random.nextInt(200)) + id;
            made.put(id, text);
            lines.append(line(id));
        }
        return lines.toString();
    }

    private String line(long id) {
        return "{\"id\":%d,\"text\":\"%s\"}\n".formatted(id, made.get(id));
    }

    /**
     * How many records the store has: as many as the rows of the feed say, each as it was made, and
     * none that came once more.
     */
    private long check(Store store) {
        Dataset dataset = store.findDataset("D");
        Map<Long, Object> found = new TreeMap<>();
        long counted = 0;
        if (dataset != null) {
            for (var record : Query.on(dataset).run().toList()) {
                found.put((Long) value(record, "id"), value(record, "text"));
            }
            for (var row : Query.on(store.dataset("_feeds")).run().toList()) {
                counted += row.get("records") instanceof Long records ? records : 0;
                if (row.get("rejected") instanceof Long rejected) {
                    assertThat(rejected).as("%s: %s", as, row).isZero();
                }
            }
        }
        found.forEach((id, text) -> assertThat(text).as("%d; %s", id, as).isEqualTo(made.get(id)));
        assertThat(counted).as(as).isEqualTo(found.size());
        return found.size();
    }

    private long checkOpened() {
        try (Store store = Store.open(directory.resolve("store"), StoreOptions.defaults())) {
            long found = check(store);
            assertThat(store.verify().errors()).as(as).isEmpty();
            return found;
        }
    }

    @Test
    void each_line_of_files_that_are_followed_is_there_once() throws Exception {
        define("kind: tail, path: logs/app.log*");
        Files.createDirectory(directory.resolve("logs"));
        int behindWrites = 0;
        try (HttpClient client = HttpClient.newHttpClient()) {
            for (int kill = 0; kill < KILLS; kill++) {
                try (ServedChild child = ServedChild.start(directory, client, token)) {
                    behindWrites += follow(child);
                    child.kill();
                }
                checkOpened();
            }
        }
        grow(); // so that what comes once more comes before the end
        try (Store store = Store.open(directory.resolve("store"), StoreOptions.defaults());
                FeedManager feeds = FeedManager.open(store)) {
            assertThat(feeds.startKept()).as(as).hasSize(1);
            long deadline = System.nanoTime() + LONG_NANOS;
            while (count(store) < made.size()) {
                assertThat(System.nanoTime() - deadline)
                        .as("%s: %s", as, feeds.list())
                        .isNegative();
                TimeUnit.MILLISECONDS.sleep(50);
            }
        }
        assertThat(checkOpened()).as(as).isEqualTo(made.size()).isEqualTo(linesOfFiles());
        assertThat(behindWrites).as(as).isGreaterThan(KILLS / 2);
    }

    /** Until the moment of the kill; returns 1 if that is behind a write of this process. */
    private int follow(ServedChild child) throws Exception {
        // now and then before it has read anything
        int writes = random.nextInt(8) == 0 ? 0 : random.nextInt(1, 4);
        grow();
        long taken = 0;
        for (int seen = 0; seen < writes; ) {
            long now = child.taken("f");
            if (now > taken) {
                seen++;
                taken = now;
                grow(); // there is always a next write
            } else {
                TimeUnit.MILLISECONDS.sleep(2);
            }
        }
        if (random.nextBoolean()) {
            LockSupport.parkNanos(random.nextLong(150_000_000)); // a look takes 100 ms to come
        }
        return writes > 0 ? 1 : 0;
    }

    /** The file gets more lines; now and then it is given another name before. */
    private void grow() throws IOException {
        Path file = directory.resolve("logs/app.log");
        if (random.nextInt(4) == 0 && Files.exists(file)) {
            Files.move(file, directory.resolve("logs/app.log." + made.size()));
        }
        Files.writeString(
                file,
                lines(random.nextInt(1, 200)),
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    private long linesOfFiles() throws IOException {
        long lines = 0;
        try (Stream<Path> files = Files.list(directory.resolve("logs"))) {
            for (Path file : files.toList()) {
                lines += Files.readAllLines(file).size();
            }
        }
        return lines;
    }

    @Test
    void what_was_acknowledged_is_there_and_what_is_sent_again_is_not_applied() throws Exception {
        define("kind: http");
        int takenUnanswered = 0;
        try (HttpClient client = HttpClient.newHttpClient()) {
            for (int kill = 0; kill < KILLS; kill++) {
                try (ServedChild child = ServedChild.start(directory, client, token)) {
                    sendUntilKilled(child);
                }
                long before = taken;
                taken = checkOpened();
                assertThat(taken).as(as).isBetween(Math.max(before, acknowledged), (long)
                        made.size());
                takenUnanswered += taken > before ? 1 : 0;
            }
            try (ServedChild child = ServedChild.start(directory, client, token)) {
                note(child, send(child, 1));
                assertThat(acknowledged).as(as).isEqualTo(made.size());
                note(child, send(child, 1)); // all of it is a repeat now
                child.kill();
            }
        }
        assertThat(checkOpened()).as(as).isEqualTo(made.size());
        // sent again after their write
        assertThat(takenUnanswered).as(as).isGreaterThanOrEqualTo(lost);
    }

    /** Sends some bodies, and one more that it mostly sees no answer to. */
    private void sendUntilKilled(ServedChild child) throws Exception {
        long takenAtStart = taken;
        for (int bodies = random.nextInt(6); bodies > 0; bodies--) {
            Sent sent = sendMore(child);
            if (random.nextInt(4) == 0) {
                taken = sent.last; // the answer is lost on its way
                sent.answer.get(60, TimeUnit.SECONDS);
            } else {
                note(child, sent);
            }
        }
        long writtenByChild = taken - takenAtStart;
        Sent sent = sendMore(child);
        if (random.nextBoolean()) {
            awaitMoreThan(child, writtenByChild);
            child.kill();
            lost++;
            return; // whether an answer came or not
        }
        LockSupport.parkNanos(random.nextLong(120_000_000));
        child.kill();
        try {
            note(child, sent);
        } catch (ExecutionException e) {
            assertThat(e).as(child.errors()).hasCauseInstanceOf(IOException.class);
        }
    }

    private static void awaitMoreThan(ServedChild child, long count) throws InterruptedException {
        while (child.taken("f") <= count) {
            TimeUnit.MILLISECONDS.sleep(1); // the child ends after two minutes
        }
    }

    /** All that is not acknowledged, more behind it, and by chance some of what was in front. */
    private Sent sendMore(ServedChild child) {
        lines(random.nextInt(1, 20));
        long first = acknowledged + 1 - (random.nextInt(3) == 0 ? random.nextInt(10) : 0);
        return send(child, Math.max(1, first));
    }

    private Sent send(ServedChild child, long first) {
        StringBuilder body = new StringBuilder();
        for (long id = first; id <= made.size(); id++) {
            body.append(line(id));
        }
        return new Sent(first, made.size(), child.send("f", first, body.toString()));
    }

    /** Waits for the answer, and keeps that all is acknowledged up to there. */
    private void note(ServedChild child, Sent sent) throws Exception {
        JsonNode said = child.answer(sent.answer.get(60, TimeUnit.SECONDS));
        long repeated = Math.max(0, taken + 1 - sent.first);
        assertThat(said.at("/repeated").asLong()).as(as).isEqualTo(repeated);
        assertThat(said.at("/accepted").asLong())
                .as(as)
                .isEqualTo(sent.last + 1 - sent.first - repeated);
        assertThat(said.at("/rejected").asLong()).as(as).isZero();
        assertThat(said.at("/last").asLong()).as(as).isEqualTo(sent.last);
        acknowledged = sent.last;
        taken = sent.last;
    }

    /** A body with the numbers of its records. */
    private record Sent(long first, long last, CompletableFuture<HttpResponse<String>> answer) {}

    private static long count(Store store) {
        return (Long)
                value(Query.on(store.dataset("D")).count().run().toList().getFirst(), "count");
    }

    private static Object value(Map<String, ? extends @Nullable Object> record, String field) {
        return Objects.requireNonNull(record.get(field), field);
    }
}
