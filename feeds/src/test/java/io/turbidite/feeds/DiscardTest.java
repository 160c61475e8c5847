package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.flow.DiscardPolicy;
import io.turbidite.feeds.flow.RecordPolicy;
import io.turbidite.feeds.flow.WorkerPolicy;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.store.Delivery;
import io.turbidite.feeds.store.FeedDelivery;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The policy {@code discard} before a store that is behind. */
@Timeout(60)
class DiscardTest {
    private static final int COUNT = 20_000;

    @TempDir
    private Path directory;

    @Test
    void aStoreThatIsBehindGetsNoLessThanWasPromisedAndEachDropIsCounted() throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < COUNT; i++) {
            lines.append("{\"id\":").append(i).append("}\n");
        }
        Path file = Files.writeString(directory.resolve("in.json"), lines);
        RecordType type = RecordType.of(List.of(Field.parse("id", "int64")));
        try (Store store = Store.open(directory.resolve("store"), StoreOptions.defaults())) {
            Dataset dataset = store.createDataset(
                    DatasetSpec.named("D").field("id", "int64").primaryKey("id"));
            assertThat(run(store, dataset, type, file, 1)).isBetween(COUNT / 4L, COUNT / 2L);
            long there = 0;
            for (long i = 0; i < COUNT; i++) {
                there += dataset.get(i) == null ? 0 : 1;
            }
            assertThat(there).isBetween(COUNT / 2L, COUNT * 3L / 4);
            assertThat(run(store, dataset, type, file, 1))
                    .as("nothing comes again")
                    .isZero();
        }
    }

    /** Who leaves out nearly all is as fast as what it keeps: else it would be no help. */
    @Test
    void whatIsLeftOutCostsTheStoreNoWrite() throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < COUNT; i++) {
            lines.append("{\"id\":").append(i).append("}\n");
        }
        Path file = Files.writeString(directory.resolve("in.json"), lines);
        RecordType type = RecordType.of(List.of(Field.parse("id", "int64")));
        try (Store store = Store.open(directory.resolve("store"), StoreOptions.defaults())) {
            Dataset dataset = store.createDataset(
                    DatasetSpec.named("D").field("id", "int64").primaryKey("id"));
            AtomicInteger writes = new AtomicInteger();
            RecordPolicy oneInHundred = new RecordPolicy() {
                private int seen;

                @Override
                public boolean takesNext(boolean isBehind) {
                    return ++seen % 100 == 0;
                }
            };
            assertThat(run(store, dataset, type, file, 1, oneInHundred, writes))
                    .isEqualTo(COUNT * 99L / 100);
            assertThat(writes.get()).isBetween(1, 5);
        }
    }

    @Test
    void theShareIsThatOfAllWorkersTogether() throws IOException {
        Path in = Files.createDirectories(directory.resolve("in"));
        for (int file = 0; file < 4; file++) {
            StringBuilder lines = new StringBuilder();
            for (int i = 0; i < COUNT / 4; i++) {
                lines.append("{\"id\":%d}\n".formatted(file * COUNT / 4 + i));
            }
            Files.writeString(in.resolve("f%d.json".formatted(file)), lines);
        }
        RecordType type = RecordType.of(List.of(Field.parse("id", "int64")));
        try (Store store = Store.open(directory.resolve("store"), StoreOptions.defaults())) {
            Dataset dataset = store.createDataset(
                    DatasetSpec.named("D").field("id", "int64").primaryKey("id"));
            long dropped = run(store, dataset, type, in, 2);
            assertThat(dropped).isBetween(COUNT / 16L, COUNT / 2L);
            long there = 0;
            for (long i = 0; i < COUNT; i++) {
                there += dataset.get(i) == null ? 0 : 1;
            }
            assertThat(there).isEqualTo(COUNT - dropped);
            assertThat(run(store, dataset, type, in, 2)).isZero();
        }
    }

    /** Returns how many records were left out. */
    private static long run(Store store, Dataset dataset, RecordType type, Path file, int workers) {
        DiscardPolicy ofAll = new DiscardPolicy(0.5, 100);
        return run(store, dataset, type, file, workers, ofAll, new AtomicInteger());
    }

    private static long run(
            Store store,
            Dataset dataset,
            RecordType type,
            Path file,
            int workers,
            RecordPolicy ofAll,
            AtomicInteger writes) {
        FeedDelivery into = FeedDelivery.into(store, dataset, "f", FeedDelivery.Operation.UPSERT);
        try (FeedSource source = FeedDefinition.SourcePart.ofFile(file).open();
                Delivery slow = new SlowDelivery(into, writes)) {
            FeedRun run = new FeedRun(
                    new FeedRun.Parts(
                            "f",
                            source,
                            () -> new ParseTools(
                                    new JsonRecordParser(type, true, List.of()), null, null, ofAll),
                            WorkerPolicy.fixed(workers),
                            ',',
                            slow,
                            store.environment().tasks(),
                            store.environment().clock(),
                            store.events(),
                            null),
                    FeedProgress.none(),
                    () -> false);
            assertThat(run.run()).isTrue();
            assertThat(slow.accepted() + run.dropped()).isIn(0L, (long) COUNT);
            return run.dropped();
        }
    }

    @Test
    void deletesAreNotDiscarded() {
        String definition = """
                feed: f
                dataset: { name: D, type: { id: int64 }, primaryKey: id }
                source: { kind: file, path: in.json }
                parser: { kind: json }
                policy: { kind: discard, percentMax: 50 }
                """;
        FeedDefinition parsed = FeedDefinition.parse("f.yaml", directory, definition);
        assertThat(parsed.policy()).isEqualTo(new FeedDefinition.PolicyPart.Discard(50, 100));
        assertThatThrownBy(() ->
                        FeedDefinition.parse("f.yaml", directory, definition + "mode: delete\n"))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("policy.kind discard does not go with mode delete");
        assertThatThrownBy(() ->
                        FeedDefinition.parse("f.yaml", directory, definition.replace("50", "100")))
                .hasMessageContaining("policy.percentMax must be a whole number from 1 to 99");
        assertThatThrownBy(() -> FeedDefinition.parse(
                        "f.yaml", directory, definition.replace(", percentMax: 50", "")))
                .hasMessageContaining("policy.percentMax is missing");
    }

    /** A store that takes some milliseconds for each batch. */
    private record SlowDelivery(FeedDelivery into, AtomicInteger writes) implements Delivery {
        @Override
        public @Nullable PartitionState taken(String partition) {
            return into.taken(partition);
        }

        @Override
        public Lane newLane() {
            Lane lane = into.newLane();
            return batch -> {
                sleep();
                writes.incrementAndGet();
                return lane.deliver(batch);
            };
        }

        private static void sleep() {
            try {
                boolean isOpen = new CountDownLatch(1).await(20, TimeUnit.MILLISECONDS);
                assertThat(isOpen).isFalse();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public boolean replaces(Slice before, Slice after) {
            return into.replaces(before, after);
        }

        @Override
        public Map<String, PartitionState> taken() {
            return into.taken();
        }

        @Override
        public void whenDurable(DurableListener listener) {
            into.whenDurable(listener);
        }

        @Override
        public void commit() {
            into.commit();
        }

        @Override
        public long accepted() {
            return into.accepted();
        }

        @Override
        public long rejected() {
            return into.rejected();
        }

        @Override
        public @Nullable String deadLetters() {
            return into.deadLetters();
        }

        @Override
        public void close() {
            into.close();
        }
    }
}
