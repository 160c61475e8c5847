package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Seeds;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.pm.PmKind;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/** Queries by an index of kind pm find what a scan finds, in every mode that a machine has. */
class RegionIndexQueryTest {
    private static final int KEYS = 300;
    private static final int USERS = 17;

    @TempDir
    Path directory;

    private static StoreOptions options() {
        return StoreOptions.defaults()
                .withDurability(Durability.PROCESS)
                .withIndexKinds(new PmKind());
    }

    private static DatasetSpec spec(Maintenance maintenance, String mode) {
        return DatasetSpec.named("Visits")
                .field("id", "int64")
                .field("user", "string")
                .field("at", "int64?")
                .primaryKey("id")
                .maintenance(maintenance)
                .mergePolicy(MergePolicySpec.parse("correlated-tiering"))
                .partitions(2)
                .index(IndexSpec.pm("by_user", "user")
                        .withParameter("mode", mode)
                        .withParameter("bytes", "64MiB"));
    }

    @ParameterizedTest
    @Timeout(120)
    @ValueSource(strings = {"auto", "file", "volatile"})
    void a_query_by_the_index_finds_what_a_scan_finds(String mode) {
        for (Maintenance maintenance :
                List.of(Maintenance.EAGER, Maintenance.VALIDATION, Maintenance.MUTABLE_BITMAP)) {
            Path place = directory.resolve(maintenance.label());
            SplittableRandom random = new SplittableRandom(Seeds.of("RegionIndexQueryTest"));
            for (int opening = 0; opening < 3; opening++) {
                try (Store store = Store.open(place, options())) {
                    Dataset dataset = opening == 0
                            ? store.createDataset(spec(maintenance, mode))
                            : store.dataset("Visits");
                    while (dataset.indexes().isEmpty()) {
                        Thread.onSpinWait(); // the region is being built
                    }
                    for (int round = 0; round < 4; round++) {
                        change(dataset, random);
                        check(dataset);
                        dataset.flush();
                        check(dataset);
                    }
                    dataset.mergeAll();
                    check(dataset);
                    assertThat(store.verify().errors()).isEmpty();
                }
            }
        }
    }

    private static void change(Dataset dataset, SplittableRandom random) {
        for (int i = 0; i < 400; i++) {
            long id = random.nextInt(KEYS);
            if (random.nextInt(8) == 0) {
                dataset.delete(id);
            } else {
                dataset.upsert(
                        Map.of("id", id, "user", "user " + random.nextInt(USERS), "at", (long) i));
            }
        }
    }

    private static void check(Dataset dataset) {
        for (int user = 0; user < USERS; user++) {
            String wanted = "user " + user;
            assertThat(ids(query(dataset, wanted).usingIndex("by_user")))
                    .isEqualTo(ids(query(dataset, wanted).usingScan()));
        }
    }

    private static Query query(Dataset dataset, String user) {
        return Query.on(dataset).where(Predicates.eq("user", user));
    }

    private static List<Object> ids(Query query) {
        List<Object> ids = new ArrayList<>();
        try (QueryResult result = query.run()) {
            for (Map<String, @Nullable Object> row : result) {
                ids.add(Objects.requireNonNull(row.get("id")));
            }
        }
        return ids.stream().sorted().toList();
    }
}
