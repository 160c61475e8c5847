package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.log.Durability;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.pm.PmKind;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A region goes while a query reads it: that fails typed, and says that to run it again helps. */
@Timeout(300)
class RegionGoesTest {
    private static final int RECORD_COUNT = 6_000;
    private static final int USERS = 3;
    private static final String AGAIN = "when it is run again";

    @TempDir
    Path directory;

    private Store create() {
        Store store = Store.open(
                directory.resolve("store"),
                StoreOptions.defaults()
                        .withDurability(Durability.PROCESS)
                        .withIndexKinds(new PmKind()));
        Dataset dataset = store.createDataset(DatasetSpec.named("Visits")
                .field("id", "int64")
                .field("user", "string")
                .primaryKey("id")
                .partitions(1)
                .maintenance(Maintenance.VALIDATION)
                .index(IndexSpec.pm("by_user", "user")
                        .withParameter("mode", "file")
                        .withParameter("bytes", "16MiB")));
        for (long id = 0; id < RECORD_COUNT; id++) {
            dataset.upsert(Map.of("id", id, "user", "user " + id % USERS));
        }
        dataset.flush();
        return store;
    }

    private static Query query(Dataset dataset, boolean isNewest) {
        Query query = Query.on(dataset).usingIndex("by_user");
        return isNewest
                ? query.where(Predicates.eq("user", "user 1")).newestFirst()
                : query.where(Predicates.range("user", "user 0", "user 3"));
    }

    private List<Path> regions() throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve("store").resolve("regions"))) {
            return files.toList();
        }
    }

    private void spoil(String attack) throws IOException {
        for (Path region : regions()) {
            if (attack.equals("cut")) {
                try (FileChannel file = FileChannel.open(region, StandardOpenOption.WRITE)) {
                    file.truncate(0);
                }
            } else {
                Files.write(region, new byte[(int) Files.size(region)], StandardOpenOption.WRITE);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"cut, true", "cut, false", "zeros, true", "zeros, false"})
    void a_query_that_meets_damage_says_that_to_run_it_again_helps(String attack, boolean isNewest)
            throws IOException {
        try (Store store = create()) {
            Dataset dataset = store.dataset("Visits");
            Query query = query(dataset, isNewest);
            assertThatThrownBy(() -> {
                        try (QueryResult rows = query.run()) {
                            var _ = rows.next();
                            spoil(attack);
                            var _ = rows.toList();
                        }
                        // all was read before: the next run meets it
                        var _ = query.run().toList();
                    })
                    .isInstanceOfAny(
                            CorruptionException.class,
                            StorageIoException.class,
                            InvalidRequestException.class)
                    .hasMessageContaining("by_user")
                    .hasMessageContaining(AGAIN);
            int count = isNewest ? RECORD_COUNT / USERS : RECORD_COUNT;
            Query again = isNewest
                    ? Query.on(dataset).where(Predicates.eq("user", "user 1")).newestFirst()
                    : Query.on(dataset).where(Predicates.range("user", "user 0", "user 3"));
            assertThat(again.run().toList()).hasSize(count);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_query_whose_index_is_dropped_says_that_to_run_it_again_helps(boolean isNewest) {
        try (Store store = create()) {
            Dataset dataset = store.dataset("Visits");
            try (QueryResult rows = query(dataset, isNewest).run()) {
                var _ = rows.next();
                dataset.dropIndex("by_user");
                try {
                    // what was pinned may be read on
                    assertThat(rows.toList()).isNotEmpty();
                } catch (InvalidRequestException gone) {
                    assertThat(gone).hasMessageContaining(AGAIN);
                }
            }
            assertThat(Query.on(dataset)
                            .where(Predicates.eq("user", "user 1"))
                            .run()
                            .toList())
                    .hasSize(RECORD_COUNT / USERS);
        }
    }

    /** Each bit of both headers, while the store has the region open: nobody asks them again. */
    @Test
    void damage_to_the_headers_of_an_open_region_disturbs_nobody() throws IOException {
        int slotBytes = 256;
        try (Store store = create()) {
            Dataset dataset = store.dataset("Visits");
            List<Map<String, @Nullable Object>> wanted = answer(dataset, 5);
            try (FileChannel file = FileChannel.open(
                    regions().getFirst(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                for (int bit = 0; bit < 2 * 8 * slotBytes; bit++) {
                    long at = bit / 8 % slotBytes + bit / (8 * slotBytes) * 4_096L;
                    flip(file, at, bit % 8);
                    if (bit % 64 == 0) {
                        dataset.upsert(Map.of("id", 0L, "user", "user 1"));
                        dataset.flush(); // writes the older header anew
                        wanted = answer(dataset, 5);
                    }
                    assertThat(answer(dataset, 5)).isEqualTo(wanted);
                    flip(file, at, bit % 8);
                }
            }
            assertThat(store.verify().errors()).isEmpty();
        } catch (StorageException told) {
            throw new AssertionError("an open region does not read its header", told);
        }
        try (Store store = Store.open(
                directory.resolve("store"), StoreOptions.defaults().withIndexKinds(new PmKind()))) {
            Dataset dataset = store.dataset("Visits");
            while (dataset.indexes().isEmpty()) {
                Thread.onSpinWait(); // the class has a bound
            }
            assertThat(answer(dataset, RECORD_COUNT))
                    .containsExactlyInAnyOrderElementsOf(Query.on(dataset)
                            .where(Predicates.eq("user", "user 1"))
                            .usingScan()
                            .run()
                            .toList());
        }
    }

    private static List<Map<String, @Nullable Object>> answer(Dataset dataset, long limit) {
        return Query.on(dataset)
                .where(Predicates.eq("user", "user 1"))
                .usingIndex("by_user")
                .newestFirst()
                .limit(limit)
                .run()
                .toList();
    }

    private static void flip(FileChannel file, long at, int bit) throws IOException {
        ByteBuffer one = ByteBuffer.allocate(1);
        var _ = file.read(one, at);
        one.put(0, (byte) (one.get(0) ^ (1 << bit)));
        var _ = file.write(one.flip(), at);
    }
}
