package io.turbidite.lsm.strategy.validation;

import io.turbidite.core.StorageException;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schedule.FailureRule;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Looks at the live versions of partitions whose readers have asked for it, one after the other
 * ({@link LivePass}), when no repair waits. What can't be read is not told here: readers who need
 * it are.
 *
 * <p><em>Thread-safe:</em> one worker at a time takes a step, others go on.
 */
public final class LiveWork implements AutoCloseable {
    private static final long STEP_KEYS = 16_384;

    private final PartitionRegistry partitions;
    private final StoreCore core;
    private final ValidationMeter meter;

    /** No lock: a simulated wait runs other workers inside itself. */
    private final AtomicBoolean stepping = new AtomicBoolean();

    /** Under way; of whoever is {@link #stepping}. */
    private @Nullable LivePass current;

    public LiveWork(PartitionRegistry partitions) {
        this.partitions = partitions;
        this.core = partitions.core();
        this.meter = ValidationMeter.of(core.meters());
    }

    /**
     * Takes a step.
     *
     * @return whether there was something to do
     */
    public boolean step() {
        if (!stepping.compareAndSet(false, true)) {
            return false;
        }
        try {
            LivePass pass = current;
            if (pass == null) {
                pass = startNext();
                current = pass;
            }
            if (pass == null) {
                return false;
            }
            advance(pass);
            return true;
        } finally {
            stepping.set(false);
        }
    }

    private @Nullable LivePass startNext() {
        for (Partition partition : partitions.all()) {
            if (partition.liveVersions().isAsked()) {
                LivePass started = LivePass.start(partition);
                if (started != null) {
                    return started;
                }
            }
        }
        return null;
    }

    private void advance(LivePass pass) {
        boolean isOver = true;
        try {
            isOver = pass.advance(STEP_KEYS);
        } catch (StorageException failure) {
            if (FailureRule.of(failure) == FailureRule.STORE) {
                core.health().fail(failure);
            }
        } finally {
            if (isOver) {
                current = null;
                meter.keys().add(pass.keyCount());
                pass.close();
            }
        }
    }

    /** Gives up what is under way, and forgets all; the workers have ended. */
    @Override
    public void close() {
        LivePass pass = current;
        current = null;
        if (pass != null) {
            pass.close();
        }
        partitions.all().forEach(partition -> partition.liveVersions().forget());
    }
}
