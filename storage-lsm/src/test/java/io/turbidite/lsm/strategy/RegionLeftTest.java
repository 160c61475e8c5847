package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.index.IndexKind;
import io.turbidite.core.index.IndexRegion;
import io.turbidite.core.index.RegionPlace;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.HeapIndexKind;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.Map;

/** A region outside of the store whose file can't be deleted: somebody must be told of it. */
class RegionLeftTest {
    @TempDir
    private Path directory;

    /** A kind whose regions can't be deleted, as on a disk that has become read-only. */
    private record Undeletable(IndexKind kind) implements IndexKind {
        @Override
        public String name() {
            return kind.name();
        }

        @Override
        public Map<String, String> define(
                String use, Map<String, String> parameters, int primaryKeyBytesMax) {
            return kind.define(use, parameters, primaryKeyBytesMax);
        }

        @Override
        public IndexRegion create(RegionPlace place) {
            return kind.create(place);
        }

        @Override
        public @Nullable IndexRegion open(RegionPlace place, long absorbedThrough) {
            return kind.open(place, absorbedThrough);
        }

        @Override
        public @Nullable IndexRegion openCopy(RegionPlace place, long absorbedThrough) {
            return kind.openCopy(place, absorbedThrough);
        }

        @Override
        public void drop(RegionPlace place) {
            throw new StorageIoException(
                    StorageIoException.Kind.ACCESS_DENIED,
                    "delete",
                    "/pm/7.region",
                    "read-only",
                    null);
        }
    }

    @Test
    void the_file_of_a_dropped_index_that_can_not_be_deleted_is_named_by_an_event() {
        StoreOptions options =
                StoreOptions.defaults().withIndexKinds(new Undeletable(HeapIndexKind.persistent()));
        try (Store store = Store.open(directory, options)) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Visits")
                    .field("id", "int64")
                    .field("user", "string")
                    .primaryKey("id")
                    .partitions(1)
                    .maintenance(Maintenance.VALIDATION)
                    .index(IndexSpec.pm("by_user", "user")));
            dataset.upsert(Map.of("id", 1L, "user", "ann"));
            dataset.flush();
            dataset.dropIndex("by_user");
            assertThat(store.events().recent())
                    .filteredOn(StoreEvent.RegionLeft.class::isInstance)
                    .singleElement()
                    .satisfies(event -> assertThat(event.toString())
                            .contains("Visits", "by_user", "/pm/7.region"));
        }
    }
}
