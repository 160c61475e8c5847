package io.turbidite.it.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StorageIoException;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.pm.PmKind;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;

/** An index whose regions are to lie on a file system that is full. */
class FullRegionPlaceTest {
    private static final long BYTES = 64 << 20;
    private static final int RECORDS = 2_000;

    @Test
    @Timeout(300)
    void a_place_that_is_full_is_named_and_nothing_is_changed(@TempDir Path directory)
            throws IOException, InterruptedException {
        String refusal = LoopFileSystem.refusal(LoopFileSystem.Kind.EXT4);
        if (refusal != null) {
            System.out.printf("FullRegionPlaceTest: no ext4 here, skipped: %s%n", refusal);
        }
        Assumptions.assumeTrue(refusal == null, refusal);
        Path mount = Files.createDirectory(directory.resolve("mount"));
        try (LoopFileSystem system = LoopFileSystem.create(LoopFileSystem.Kind.EXT4, mount, BYTES);
                Store store = Store.open(
                        directory.resolve("store"),
                        StoreOptions.defaults().withIndexKinds(new PmKind()))) {
            Dataset visits = store.createDataset(DatasetSpec.named("Visits")
                    .field("id", "int64")
                    .field("user", "string")
                    .primaryKey("id")
                    .maintenance(Maintenance.VALIDATION));
            for (long id = 0; id < RECORDS; id++) {
                visits.upsert(Map.of("id", id, "user", "user " + id % 7));
            }
            Path place = Files.createDirectory(system.directory().resolve("pm"));
            Path ballast = system.directory().resolve("ballast");
            long free = Files.getFileStore(place).getUsableSpace();
            Files.write(ballast, new byte[Math.toIntExact(free - (64 << 10))]);
            IndexSpec index = IndexSpec.pm("by_user", "user")
                    .withParameter("mode", "file")
                    .withParameter("path", place.toString());
            assertThatThrownBy(() -> visits.createIndex(index))
                    .isInstanceOfSatisfying(
                            StorageIoException.class,
                            full -> assertThat(full.kind())
                                    .isEqualTo(StorageIoException.Kind.NO_SPACE))
                    .hasMessageContaining("index by_user of Visits")
                    .hasMessageContaining("making " + place + "/")
                    .hasMessageContaining("there is no room");
            assertThat(visits.indexes()).isEmpty();
            try (Stream<Path> files = Files.list(place)) {
                assertThat(files).isEmpty();
            }
            visits.upsert(Map.of("id", (long) RECORDS, "user", "user 1"));
            assertThat(store.verify().errors()).isEmpty();
            Files.delete(ballast);
            visits.createIndex(index);
            assertThat(Query.on(visits)
                            .where(Predicates.eq("user", "user 1"))
                            .usingIndex("by_user")
                            .run()
                            .toList())
                    .hasSize(287);
            assertThat(store.verify().errors()).isEmpty();
        }
    }
}
