package io.turbidite.it.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** R9: a small file system fills; the store refuses, and goes on when there is space. */
class FullFileSystemTest {
    private static final int ROUNDS = Tier.count(1, 1, 50);
    private static final long BYTES = 64 << 20;

    /** What is left when the store has been made; segments of its log are a mebibyte. */
    private static final int LEFT_BYTES = 4 << 20;

    private static final int COMMITS_MAX = 20_000;
    private static final int RESUME_SECONDS_MAX = 30;

    private final long seed = Seeds.of("FullFileSystemTest");

    private static StoreOptions options() {
        LogOptions log = LogOptions.defaults()
                .withSegmentBytes(1 << 20, 64, 256, 64 << 10)
                .withDurability(Durability.INTERVAL);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(1 << 20)
                .withCacheBytes(1 << 20)
                .withLog(2 << 20, log);
    }

    @Test
    @Timeout(1_800)
    void a_full_file_system_is_refused_and_the_store_goes_on_when_it_is_freed(
            @TempDir Path directory) throws IOException, InterruptedException {
        String refusal = LoopFileSystem.refusal(LoopFileSystem.Kind.EXT4);
        if (refusal != null) {
            System.out.printf("FullFileSystemTest: no ext4 here, skipped: %s%n", refusal);
        }
        Assumptions.assumeTrue(refusal == null, refusal);
        for (int round = 0; round < ROUNDS; round++) {
            Path place = Files.createDirectory(directory.resolve("round" + round));
            try (LoopFileSystem system =
                    LoopFileSystem.create(LoopFileSystem.Kind.EXT4, place, BYTES)) {
                fill(system, Seeds.mix(seed, round));
            }
        }
    }

    /** What could not be written is tried again after a while, and writers are let in after it. */
    private static void commitSoon(Store store, Dataset dataset, long seed, long n) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(RESUME_SECONDS_MAX);
        while (true) {
            try {
                CutHistory.commit(store, dataset, seed, n);
                return;
            } catch (StorageIoException full) {
                if (System.nanoTime() - end > 0) {
                    throw full;
                }
            }
        }
    }

    private void fill(LoopFileSystem system, long roundSeed) throws IOException {
        String as = Seeds.replay("FullFileSystemTest", seed);
        Path ballast = system.directory().resolve("ballast");
        CutHistory history = new CutHistory(roundSeed);
        Path path = system.directory().resolve("store");
        long number = 0;
        StorageException full = null;
        try (Store store = Store.open(path, options())) {
            Dataset dataset = CutHistory.dataset(store);
            long free = Files.getFileStore(path).getUsableSpace();
            Files.write(ballast, new byte[Math.toIntExact(free - LEFT_BYTES)]);
            while (full == null && number < COMMITS_MAX) {
                try {
                    CutHistory.commit(store, dataset, roundSeed, number + 1);
                    number++;
                } catch (StorageException e) {
                    full = e;
                }
            }
            assertThat(full).as(as).isNotNull();
            assertThat(Objects.requireNonNull(full).getMessage())
                    .as(as)
                    .containsAnyOf("space", "full");
            history.check(store, number, as);
            Files.delete(ballast);
            commitSoon(store, dataset, roundSeed, ++number);
            for (int i = 0; i < 200; i++) {
                CutHistory.commit(store, dataset, roundSeed, ++number);
            }
            history.check(store, number, as);
        }
        try (Store store = Store.open(path, options())) {
            history.check(store, number, as);
        }
    }
}
