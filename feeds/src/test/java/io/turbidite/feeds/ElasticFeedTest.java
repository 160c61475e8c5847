package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.flow.ElasticPolicy;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.store.FeedDelivery;
import io.turbidite.feeds.store.FeedDelivery.Operation;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/** The policy {@code elastic} in a feed, on threads and by the clock on the wall. */
@Timeout(120)
class ElasticFeedTest {
    private static final int PARTITIONS = 3;

    @TempDir
    private Path directory;

    private Store store() {
        return Store.open(
                directory.resolve("store"),
                StoreOptions.defaults()
                        .withLog(
                                512L << 20,
                                LogOptions.defaults().withDurability(Durability.PROCESS)));
    }

    /**
     * As fast as it can be read, and then not at all. Reading is what takes the time, however fast
     * parser and store are by then: a worker is busy throughout.
     */
    @Test
    void aSecondWorkerComesUnderLoadAndGoesWhenThereIsNone() {
        RecordType type = RecordType.builder().field("id", "int64").build();
        WorkedSource source = new WorkedSource(
                PARTITIONS,
                Integer.MAX_VALUE / PARTITIONS,
                number -> {
                    LockSupport.parkNanos(1_000);
                    return "{\"id\":%d}".formatted(number % 1_000);
                },
                new SplittableRandom(1));
        source.isEndless = true;
        source.breakPercent = 0; // batches are full
        source.begin();
        AtomicBoolean hasGone = new AtomicBoolean();
        List<Integer> seen = new ArrayList<>(List.of(1));
        long deadline = System.nanoTime() + 100_000_000_000L;
        FeedRun[] run = new FeedRun[1];
        try (Store store = store()) {
            Dataset dataset = store.createDataset(
                    DatasetSpec.named("D").field("id", "int64").primaryKey("id"));
            try (FeedDelivery delivery = FeedDelivery.into(store, dataset, "f", Operation.UPSERT)) {
                run[0] = new FeedRun(
                        new FeedRun.Parts(
                                "f",
                                source,
                                () -> ParseTools.of(new JsonRecordParser(type, true, List.of())),
                                new ElasticPolicy(1, 2),
                                ',',
                                delivery,
                                store.environment().tasks(),
                                store.environment().clock(),
                                store.events(),
                                null),
                        (records, rejected, bytes, bytesTotal) -> {
                            int workers = run[0].workers();
                            if (workers != seen.getLast()) {
                                seen.add(workers);
                            }
                            source.isResting |= workers == 2;
                            hasGone.set(source.isResting && workers == 1);
                        },
                        () -> hasGone.get() || System.nanoTime() - deadline > 0);
                assertThat(run[0].run()).isFalse();
                long taken = 0;
                for (int p = 0; p < PARTITIONS; p++) {
                    taken += source.durable.getOrDefault("p" + p, 0L);
                }
                assertThat(delivery.accepted()).isEqualTo(taken).isPositive();
                assertThat(delivery.repeated()).isZero();
            }
            assertThat(store.verify().errors()).isEmpty();
        }
        assertThat(seen).containsExactly(1, 2, 1);
    }

    @Test
    void filesOfADirectoryAreTakenOnceAndOneFileIsRefused() throws IOException {
        Files.createDirectories(directory.resolve("in"));
        for (int file = 0; file < 5; file++) {
            StringBuilder text = new StringBuilder();
            for (int number = 0; number < 200; number++) {
                text.append("{\"id\":%d}\n".formatted(file * 1_000 + number));
            }
            Files.writeString(directory.resolve("in/f%d.json".formatted(file)), text);
        }
        String yaml = """
                feed: f
                dataset: { name: D, type: { id: int64 }, primaryKey: id }
                source: { kind: file, path: in }
                parser: { kind: json }
                mode: insert
                policy: { kind: elastic, workersMin: 2, workersMax: 4 }
                """;
        try (Store store = store()) {
            FeedDefinition definition = FeedDefinition.parse("f.yaml", directory, yaml);
            assertThat(definition.policy()).isEqualTo(new FeedDefinition.PolicyPart.Elastic(2, 4));
            try (Feed feed = Feed.open(definition, store)) {
                FeedTurns turns = feed.begin(FeedProgress.none());
                while (turns.next() != FeedTurns.Outcome.FINISHED) {
                    store.environment().tasks().await(turns::hasRoom);
                }
                assertThat(turns.workers()).isBetween(2, 4);
                turns.close();
                FeedReport report = turns.report();
                assertThat(report.records()).isEqualTo(1_000);
                assertThat(report.rejected()).isZero();
            }
            FeedDefinition one = FeedDefinition.parse(
                    "f.yaml", directory, yaml.replace("path: in", "path: in/f0.json"));
            assertThatThrownBy(() -> Feed.open(one, store))
                    .isInstanceOf(DefinitionException.class)
                    .hasMessage(
                            "f.yaml:6: policy.kind elastic does not go with a source of one partition, such as one file: one worker reads it, and others would have nothing to do; take basic");
        }
    }
}
