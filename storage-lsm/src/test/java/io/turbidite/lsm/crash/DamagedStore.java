package io.turbidite.lsm.crash;

import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.StoreDescription.ComponentDescription;
import io.turbidite.lsm.StoreDescription.IndexDescription;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** A store on a simulated disk, with datasets whose components can be told apart. */
final class DamagedStore implements AutoCloseable {
    static final long SEED = 31;
    static final int ROWS = 2_000;

    final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    SimStore sim = open();

    @Override
    public void close() {
        sim.close();
    }

    SimStore open() {
        return SimStore.open(disk, SEED, SimStore.options(Durability.SYNC));
    }

    void reopen() {
        sim.close();
        sim = open();
    }

    Dataset dataset(String name) {
        return sim.store.dataset(name);
    }

    static Row row(long id, int round) {
        return new Row(
                id,
                "user" + id % 7,
                round,
                Instant.ofEpochSecond(1_000L * round + id),
                "b" + round);
    }

    /** Three components in each tree: the ids from 0, from {@link #ROWS} and from twice that. */
    Dataset create(String name, Maintenance maintenance, String policy) {
        Dataset dataset = sim.store.createDataset(
                Row.spec(name).maintenance(maintenance).mergePolicy(MergePolicySpec.parse(policy)));
        for (int round = 0; round < 3; round++) {
            put(dataset, round);
            dataset.flush();
        }
        return dataset;
    }

    static void put(Dataset dataset, int round) {
        for (int i = 0; i < ROWS; i++) {
            dataset.upsert(row((long) round * ROWS + i, round).toMap());
        }
    }

    IndexDescription tree(String dataset, String index) {
        return sim.store.describe().datasets().stream()
                .filter(described -> described.name().equals(dataset))
                .flatMap(described -> described.partitions().getFirst().indexes().stream())
                .filter(described -> described.name().equals(index))
                .findFirst()
                .orElseThrow();
    }

    List<Long> files(String dataset, String index) {
        return tree(dataset, index).components().stream()
                .map(ComponentDescription::fileId)
                .toList();
    }

    <E> List<E> events(Class<E> kind) {
        return sim.store.events().recent().stream()
                .filter(kind::isInstance)
                .map(kind::cast)
                .toList();
    }

    long gauge(String name) {
        return sim.store.meters().instruments().stream()
                .filter(Reading.class::isInstance)
                .map(Reading.class::cast)
                .filter(reading -> reading.name().equals(name))
                .mapToLong(reading -> reading.source().getAsLong())
                .sum();
    }

    List<String> quarantined() {
        List<String> names = new ArrayList<>();
        for (var dataset : sim.store.describe().datasets()) {
            for (var partition : dataset.partitions()) {
                for (var index : partition.indexes()) {
                    index.components().stream()
                            .filter(component -> component.quarantine() != null)
                            .forEach(component ->
                                    names.add("%s.%s".formatted(dataset.name(), index.name())));
                }
            }
        }
        return names;
    }

    void checkTakesWrites() {
        Dataset found = sim.store.findDataset("Other");
        Dataset other = found != null
                ? found
                : sim.store.createDataset(
                        Row.blindSpec("Other").mergePolicy(MergePolicySpec.parse("no-merge")));
        other.upsert(row(1, 1).toMap());
        other.flush();
        other.upsert(row(2, 2).toMap());
        other.flush();
        other.mergeAll();
    }
}
