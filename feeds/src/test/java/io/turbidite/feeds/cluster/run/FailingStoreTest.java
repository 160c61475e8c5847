package io.turbidite.feeds.cluster.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CacheFullException;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.feeds.cluster.change.Change;
import io.turbidite.feeds.cluster.change.Change.DatasetCreated;
import io.turbidite.feeds.cluster.change.Change.NodeAdded;
import io.turbidite.feeds.cluster.change.ClusterMap;
import io.turbidite.feeds.cluster.change.Entry;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.catalog.StoreCatalog;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A change that a store can't prepare is refused, whatever the cause, and the node goes on. */
class FailingStoreTest {
    private static final String NAME = "APPLIED";

    @TempDir
    Path directory;

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);

    /** What calls of the store throw, by their names: those that make, when they have made. */
    private final Map<String, StorageException> failures = new HashMap<>();

    private final Entry first = Entry.after(0, Entry.CHAIN_START, new NodeAdded("n1"));
    private final ClusterMap map = ClusterMap.EMPTY.with(first.change());
    private Store store;
    private StoreSchema schema;

    @BeforeEach
    void open() {
        store = Store.open(directory);
        Catalog real = StoreCatalog.of(store, false);
        Catalog failing = (Catalog) Proxy.newProxyInstance(
                Catalog.class.getClassLoader(),
                new Class<?>[] {Catalog.class},
                (proxy, method, arguments) -> {
                    StorageException failure = failures.get(method.getName());
                    if (failure != null && !method.getName().startsWith("create")) {
                        throw failure;
                    }
                    try {
                        Object answer = method.invoke(real, arguments);
                        if (failure != null) {
                            throw failure;
                        }
                        return answer;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        schema = StoreSchema.open(disk, NAME, 1, "n1", failing);
        assertThat(schema.prepare(first, ClusterMap.EMPTY)).isNull();
        schema.apply(first, ClusterMap.EMPTY);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private Entry trips() {
        Change change = new DatasetCreated(
                StoreSchemaTest.trips("Trips", 1), new TreeMap<>(Map.of("n1", List.of(0))));
        return Entry.after(1, first.chain(), change);
    }

    private @Nullable String prepared() {
        return schema.prepare(trips(), map);
    }

    private void goesOn() {
        failures.clear();
        disk.onOperation(step -> {});
        assertThat(store.datasets()).isEmpty();
        assertThat(prepared()).isNull();
        schema.apply(trips(), map);
        schema.check(map.with(trips().change()));
        assertThat(new AppliedFile(disk, NAME, 1).read().prepared()).isNull();
    }

    @Test
    void a_full_cache_or_damage_refuses_the_change() {
        for (StorageException failure : List.of(
                new CacheFullException(1 << 20, 1_000),
                new CorruptionException("data/7.component", 64, "a page", "1", "2"))) {
            failures.put("createDataset", failure);
            assertThat(prepared()).isEqualTo(failure.getMessage());
            assertThat(new AppliedFile(disk, NAME, 1).read().prepared()).isNull();
        }
        goesOn();
    }

    @Test
    void a_note_that_can_not_be_written_refuses_the_change() {
        disk.onOperation(step -> {
            throw new StorageIoException(
                    StorageIoException.Kind.NO_SPACE, "write", NAME, "no space", null);
        });
        assertThat(prepared())
                .startsWith("write of APPLIED failed: no space; and it could not be undone yet: ");
        goesOn();
    }

    @Test
    void what_could_not_be_undone_is_undone_before_the_next_change() {
        failures.put("createDataset", new CacheFullException(1 << 20, 1_000));
        failures.put("dropDataset", new CacheFullException(1 << 20, 2_000));
        assertThat(prepared()).contains("for 1 ms", "; and it could not be undone yet: ");
        assertThat(store.datasets()).hasSize(1);
        assertThat(prepared()).contains("for 2 ms");
        failures.clear();
        assertThat(prepared()).isNull();
        schema.discard();
        goesOn();
    }

    @Test
    void a_store_that_has_failed_ends_the_node() {
        StoreFailedException failure = new StoreFailedException("the store has failed", null);
        failures.put("createDataset", failure);
        assertThatThrownBy(this::prepared).isSameAs(failure);
    }
}
