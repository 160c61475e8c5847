package io.turbidite.lsm.version;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.memory.CollectedChunks;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The pin count alone, in loops so tight that threads meet in it: what {@link VersionLincheckTest}
 * does between two of its pins takes longer than the window that a lost count needs.
 */
class VersionPinTest {
    private static final int PINS = Tier.count(50_000, 300_000, 20_000_000);
    private static final int ENDS = Tier.count(2_500, 20_000, 500_000);

    private final MemoryLayer layer =
            new MemoryLayer(new CollectedChunks(), SmallestSchema.SCHEMA, 2, 0, 0);

    @AfterEach
    void the_layer_is_let_go() {
        layer.release();
    }

    private Version version() {
        return new Version(SmallestSchema.SCHEMA, layer, Map.of(), List.of());
    }

    @Test
    void a_version_that_has_ended_is_not_pinned_again() {
        Version version = version();
        assertThat(version.tryPin()).isTrue();
        version.unpin();
        version.unpin();
        assertThat(version.liveCount()).isZero();
        assertThat(version.tryPin()).isFalse();
    }

    @Test
    void every_pin_of_two_threads_is_counted() throws Exception {
        Version version = version();
        Callable<Integer> pinning = () -> {
            int refused = 0;
            for (int i = 0; i < PINS; i++) {
                if (version.tryPin()) {
                    version.unpin();
                } else {
                    refused++;
                }
            }
            return refused;
        };
        try (ExecutorService pool = Executors.newFixedThreadPool(2)) {
            for (Future<Integer> one : pool.invokeAll(List.of(pinning, pinning))) {
                assertThat(one.get()).isZero();
            }
        }
        assertThat(version.liveCount()).isOne();
        version.unpin();
        assertThat(version.liveCount()).isZero();
    }

    @Test
    void a_pin_that_meets_the_end_of_a_version_holds_it_or_is_refused() throws Exception {
        Version[] versions = new Version[ENDS];
        for (int i = 0; i < ENDS; i++) {
            versions[i] = version();
        }
        CyclicBarrier start = new CyclicBarrier(2);
        Callable<Integer> pinning = () -> {
            start.await();
            int endedWhilePinned = 0;
            for (Version version : versions) {
                if (version.tryPin()) {
                    endedWhilePinned += version.liveCount() == 1 ? 0 : 1;
                    version.unpin();
                }
            }
            return endedWhilePinned;
        };
        Callable<Integer> ending = () -> {
            start.await();
            for (Version version : versions) {
                version.unpin();
            }
            return 0;
        };
        try (ExecutorService pool = Executors.newFixedThreadPool(2)) {
            for (Future<Integer> one : pool.invokeAll(List.of(pinning, ending))) {
                assertThat(one.get()).isZero();
            }
        }
        for (Version version : versions) {
            assertThat(version.liveCount()).isZero();
        }
    }
}
