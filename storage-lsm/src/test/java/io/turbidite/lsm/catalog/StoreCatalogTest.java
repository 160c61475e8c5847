package io.turbidite.lsm.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.Moment;
import io.turbidite.core.catalog.OpenCatalog;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.Map;

class StoreCatalogTest {
    @TempDir
    Path directory;

    private void store() {
        try (Store store = Store.open(directory)) {
            store.createDataset(DatasetSpec.named("Pets")
                            .field("id", "int32")
                            .field("name", "string")
                            .primaryKey("id")
                            .index(IndexSpec.btree("by_name", "name").asUnique()))
                    .upsert(Map.of("id", 1, "name", "Rex"));
            store.createDataset(DatasetSpec.named("Ants").field("id", "int32").primaryKey("id"));
        }
    }

    @Test
    void a_store_is_found_by_its_directory() {
        store();
        try (OpenCatalog catalog = OpenCatalog.open(directory, true)) {
            assertThat(catalog.isReadOnly()).isTrue();
            assertThat(catalog.datasets()).extracting(Source::name).containsExactly("Ants", "Pets");
            Source pets = catalog.datasets().getLast();
            try (Moment moment = catalog.openMoment();
                    ReadView view = moment.view(pets)) {
                assertThat(view.source()).isEqualTo(pets);
            }
        }
    }

    @Test
    void what_is_no_store_is_refused() {
        assertThatThrownBy(() -> OpenCatalog.open(directory.resolve("none"), false))
                .isInstanceOf(InvalidRequestException.class);
        assertThat(directory.resolve("none")).doesNotExist();
    }

    @Test
    void a_moment_shows_nothing_of_later() {
        store();
        try (Store store = Store.open(directory)) {
            StoreCatalog catalog = StoreCatalog.of(store, false);
            Source pets = catalog.datasets().getLast();
            try (Moment moment = catalog.openMoment()) {
                store.dataset("Pets").upsert(Map.of("id", 2, "name", "Tib"));
                try (ReadView view = moment.view(pets);
                        ReadView now = pets.openView()) {
                    assertThat(view.timestamp()).isLessThan(now.timestamp());
                }
            }
        }
    }
}
