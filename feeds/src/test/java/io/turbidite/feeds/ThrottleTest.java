package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The policy {@code throttle} in a feed. */
@Timeout(60)
class ThrottleTest {
    private static final int COUNT = 20_000;

    private static final String DEFINITION = """
            feed: f
            dataset: { name: D, type: { id: int64, name: string }, primaryKey: id }
            source: { kind: file, path: in.json }
            parser: { kind: json }
            policy: { kind: throttle, recordsPerSecond: 1000 }
            """;

    @TempDir
    private Path directory;

    private Store store;

    @BeforeEach
    void open() {
        store = Store.open(directory.resolve("store"), StoreOptions.defaults());
    }

    @AfterEach
    void close() {
        assertThat(store.verify().errors()).isEmpty();
        store.close();
    }

    private FeedDefinition definition(String text) {
        return FeedDefinition.parse("f.yaml", directory, text);
    }

    private void write(String record) throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < COUNT; i++) {
            lines.append(record.formatted(i)).append('\n');
        }
        Files.writeString(directory.resolve("in.json"), lines);
    }

    private long thereAre() {
        long there = 0;
        for (long i = 0; i < COUNT; i++) {
            there += store.dataset("D").get(i) == null ? 0 : 1;
        }
        return there;
    }

    @Test
    void noMoreThanTheRateIsTakenAndEachThatIsLeftOutIsCounted() throws IOException {
        write("{\"id\":%d,\"name\":\"n\"}");
        long start = System.nanoTime();
        FeedReport report;
        try (Feed feed = Feed.open(definition(DEFINITION), store)) {
            report = feed.run(FeedProgress.none());
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        assertThat(report.records() + report.dropped()).isEqualTo(COUNT);
        assertThat(report.records()).isPositive();
        assertThat((double) report.records()).isLessThanOrEqualTo(1_000 * (seconds + 0.2));
        assertThat(thereAre()).isEqualTo(report.records());
        try (Feed feed = Feed.open(definition(DEFINITION), store)) {
            FeedReport again = feed.run(FeedProgress.none());
            assertThat(again.records() + again.dropped()).isZero();
        }
    }

    @Test
    void theRateIsThatOfAllWorkersTogether() throws IOException {
        Files.createDirectories(directory.resolve("in"));
        for (int file = 0; file < 4; file++) {
            StringBuilder lines = new StringBuilder();
            for (int i = 0; i < COUNT / 4; i++) {
                lines.append("{\"id\":%d,\"name\":\"n\"}\n".formatted(file * COUNT / 4 + i));
            }
            Files.writeString(directory.resolve("in/f%d.json".formatted(file)), lines);
        }
        String yaml = DEFINITION.replace("path: in.json", "path: in") + "workers: 3\n";
        long start = System.nanoTime();
        try (Feed feed = Feed.open(definition(yaml), store)) {
            FeedReport report = feed.run(FeedProgress.none());
            double seconds = (System.nanoTime() - start) / 1e9;
            assertThat(report.records() + report.dropped()).isEqualTo(COUNT);
            assertThat((double) report.records())
                    .isPositive()
                    .isLessThanOrEqualTo(1_000 * (seconds + 0.2));
            assertThat(thereAre()).isEqualTo(report.records());
        }
        try (Feed feed = Feed.open(definition(yaml), store)) {
            FeedReport again = feed.run(FeedProgress.none());
            assertThat(again.records() + again.dropped()).isZero();
        }
    }

    /** Whoever feeds them again has looked at them. */
    @Test
    void deadLettersThatAreFedAgainAreNotLeftOut() throws IOException {
        write("{\"id\":%d,\"alias\":\"n\"}");
        String basic = DEFINITION.replace("throttle, recordsPerSecond: 1000", "basic");
        try (Feed feed = Feed.open(definition(basic), store)) {
            assertThat(feed.run(FeedProgress.none()).rejected()).isEqualTo(COUNT);
        }
        String mended = DEFINITION.replace("1000", "1") + "transform: { name: alias }\n";
        try (Feed feed = Feed.openLetters(definition(mended), store)) {
            assertThat(feed.run(FeedProgress.none()).records()).isEqualTo(COUNT);
        }
        assertThat(thereAre()).isEqualTo(COUNT);
    }

    @Test
    void badRatesAndDeletesAreRefused() {
        assertThat(definition(DEFINITION).policy())
                .isEqualTo(new FeedDefinition.PolicyPart.Throttle(1_000));
        assertThatThrownBy(() -> definition(DEFINITION + "mode: delete\n"))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("policy.kind throttle does not go with mode delete");
        assertThatThrownBy(() -> definition(DEFINITION.replace("1000", "0")))
                .hasMessageContaining("policy.recordsPerSecond must be a whole number from 1 to");
        assertThatThrownBy(() -> definition(DEFINITION.replace(", recordsPerSecond: 1000", "")))
                .hasMessageContaining("policy.recordsPerSecond is missing");
        assertThatThrownBy(() -> definition(DEFINITION.replace("1000", "1000, percentMax: 3")))
                .hasMessageContaining("percentMax");
    }
}
