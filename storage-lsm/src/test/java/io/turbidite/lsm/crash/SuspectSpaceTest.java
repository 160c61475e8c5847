package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.StoreDescription.ComponentDescription;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A damaged component that there is no space to merge holds up no other merge. */
class SuspectSpaceTest {
    private static final long SEED = 31;
    private static final int BIG_ROWS = 20_000;
    private static final int COMPONENTS_MAX = 3;

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);

    @Test
    void merges_of_others_go_on() {
        try (SimStore sim = open()) {
            Dataset big = sim.store.createDataset(Row.spec("Big")
                    .maintenance(Maintenance.MUTABLE_BITMAP)
                    .mergePolicy(MergePolicySpec.parse("correlated-no-merge")));
            for (int i = 0; i < BIG_ROWS; i++) {
                big.upsert(row(i, 0).toMap());
            }
            big.flush();
            sim.store.createDataset(Row.blindSpec("Small")
                    .mergePolicy(MergePolicySpec.parse(
                            "constant(componentCountMax=%d)".formatted(COMPONENTS_MAX))));
        }
        try (SimStore sim = open()) {
            Dataset big = sim.store.dataset("Big");
            ComponentDescription largest = components(sim, "Big").stream()
                    .max(Comparator.comparingLong(ComponentDescription::entries))
                    .orElseThrow();
            String file = StoreFiles.component(largest.fileId());
            Dataset small = sim.store.dataset("Small");
            flush(small, 0);
            flush(small, 1);
            leaveSpace();
            disk.flipBit(file, keyPageAt(file), 3);
            for (int i = 0; i < BIG_ROWS; i += BIG_ROWS / 5) {
                // a page may be in the cache: some of these meet the damage
                upsertOrBeTold(big, i);
            }

            for (int round = 2; round < 14; round++) {
                flush(small, round);
            }
            AtomicInteger asked = new AtomicInteger();
            sim.tasks.await(() -> asked.incrementAndGet() > 2_000);

            assertThat(components(sim, "Small")).hasSizeLessThanOrEqualTo(COMPONENTS_MAX + 1);
        }
    }

    private SimStore open() {
        return SimStore.open(disk, SEED, SimStore.options(Durability.SYNC));
    }

    private static Row row(long id, int round) {
        return new Row(
                id,
                "user" + id % 7,
                round,
                Instant.ofEpochSecond(1_000L * round + id),
                "b" + round);
    }

    private static void flush(Dataset dataset, int round) {
        for (int i = 0; i < 20; i++) {
            dataset.upsert(row(i, round).toMap());
        }
        dataset.flush();
    }

    private static void upsertOrBeTold(Dataset dataset, long id) {
        try {
            dataset.upsert(row(id, 1).toMap());
        } catch (CorruptionException damage) {
            assertThat(damage.file()).isNotEmpty();
        }
    }

    /** Enough for merges of the small dataset, too little for one of the big one. */
    private void leaveSpace() {
        disk.capacity(1L << 50);
        long used = (1L << 50) - disk.usableBytes();
        disk.capacity(used + (1L << 20) + 230_000);
    }

    private static List<ComponentDescription> components(SimStore sim, String dataset) {
        return sim.store.describe().datasets().stream()
                .filter(d -> d.name().equals(dataset))
                .flatMap(d -> d.partitions().getFirst().indexes().stream())
                .filter(index -> index.name().equals("primary"))
                .findFirst()
                .orElseThrow()
                .components();
    }

    /**
     * A byte of the first block of keys: behind its header of 32 bytes, of which 8 to 11 are its
     * length.
     */
    private long keyPageAt(String file) {
        ByteBuffer bytes = ByteBuffer.wrap(disk.content(file)).order(ByteOrder.LITTLE_ENDIAN);
        int at = 64;
        while (bytes.get(at + 4) != 2) {
            at += 32 + bytes.getInt(at + 8);
        }
        return at + 40L;
    }
}
