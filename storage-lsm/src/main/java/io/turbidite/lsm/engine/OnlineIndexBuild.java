package io.turbidite.lsm.engine;

import io.turbidite.core.StorageException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.lsm.dataset.OpenDataset;
import io.turbidite.lsm.indexbuild.IndexFilling;
import io.turbidite.lsm.indexbuild.StoppedException;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.version.Installation;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An index that is being built in the background. Its steps, after writers have begun to maintain
 * it:
 *
 * <ol>
 *   <li>hold the primary's components, when the merges that replace some of them are through,
 *   <li>read the primary's components, partition by partition, and write the index's,
 *   <li>put them under what writers have put in since; nobody searches the tree yet,
 *   <li>a unique index: wait until every write in flight probes the whole tree, then look for two
 *       records with the same key,
 *   <li>one manifest edit that names the index and all its files, and with it readers see it.
 * </ol>
 *
 * Before the last step nothing durable knows the index: a crash leaves files that the next opening
 * puts into the trash.
 *
 * <p><em>Thread-safe;</em> the steps are run by one background worker.
 */
public final class OnlineIndexBuild {
    /** Entries of the primary read in a step: between two, the build can be stopped. */
    private static final int STEP_ENTRY_COUNT = 2_048;

    private final OpenDataset dataset;
    private final DatasetSchema base;
    private final IndexSchema index;
    private final SchemaChanges changes;
    private final StoreCore core;
    private final List<IndexFilling> builds;
    private final long startNanos;
    private final AtomicLong entriesTotal = new AtomicLong();
    private final AtomicLong entriesRead = new AtomicLong();
    private volatile boolean stopping;
    private volatile boolean done;

    /** Begun by the store itself. */
    private volatile boolean own;

    private volatile @Nullable StorageException failure;
    private Step step = Step.HOLD;
    private final Installation installation = new Installation();
    private int partitionNumber;

    private enum Step {
        HOLD,
        READ,
        PAUSE_WRITES,
        CHECK_UNIQUE,
        INSTALL
    }

    /**
     * @param base the schema to go back to if the build fails, the ids that it took used up
     * @param builds one for each partition; this closes them
     */
    OnlineIndexBuild(
            SchemaChanges changes,
            OpenDataset dataset,
            DatasetSchema base,
            IndexSchema index,
            List<IndexFilling> builds) {
        this.base = base;
        this.changes = changes;
        this.dataset = dataset;
        this.index = index;
        this.builds = builds;
        this.core = changes.core();
        this.startNanos = core.clock().monotonicNanos();
    }

    void begin() {
        publish("building");
    }

    /** The index's name. */
    public String index() {
        return index.name();
    }

    /** Entries of the primary read so far. */
    public long entriesRead() {
        return entriesRead.get();
    }

    /** Entries of the primary to be read; 0 until they are counted, which waits for merges. */
    public long entriesTotal() {
        return entriesTotal.get();
    }

    void markOwn() {
        own = true;
    }

    /** Whether the store began it by itself, so that nobody waits for it. */
    boolean isOwn() {
        return own;
    }

    /** Whether the build has come to its end, well or not. */
    public boolean isDone() {
        return done;
    }

    /**
     * Waits for the end.
     *
     * @throws StorageException what made it fail; nothing is left of a new index, and one that was
     *     to be enabled or rebuilt is disabled, which a suppressed exception says
     * @throws io.turbidite.core.InvalidRequestException also if it was stopped
     */
    public void await() {
        awaitEnd();
        StorageException cause = failure;
        if (cause != null) {
            throw cause;
        }
    }

    /** A build that broke ends itself; one that waits behind it is left by the worker. */
    private void awaitEnd() {
        core.tasks().await(() -> done || core.health().isOver());
        if (!done) {
            core.health().checkUnbroken();
            core.tasks().await(() -> done);
        }
    }

    /** Gives up; returns when nothing is left of the index, or it had been ready before. */
    public void stop() {
        stopping = true;
        changes.wake();
        awaitEnd();
    }

    /** Gets on; whether there may be more to do right away. */
    boolean step() {
        if (done) {
            return false;
        }
        try {
            if (isStopping()) {
                throw new StoppedException();
            }
            return switch (step) {
                case HOLD -> hold();
                case READ -> read();
                case PAUSE_WRITES -> pauseWrites();
                case CHECK_UNIQUE -> checkUnique();
                case INSTALL -> install();
            };
        } catch (StoppedException stopped) {
            end(changes.stopped(dataset, index), "stopped");
        } catch (StorageException cause) {
            end(cause, "failed");
        } catch (RuntimeException | AssertionError bug) {
            end(
                    new StoreFailedException("the build of index " + index.name() + " broke", bug),
                    "failed");
            throw bug;
        }
        return false;
    }

    /** Whether it has been told to give up. */
    boolean isStopping() {
        return stopping || core.health().isClosing();
    }

    /**
     * Partition by partition; merges that were under way when the build began come to their end
     * first.
     */
    private boolean hold() {
        while (partitionNumber < builds.size()) {
            IndexFilling build = builds.get(partitionNumber);
            if (!build.tryHold()) {
                return false;
            }
            entriesTotal.addAndGet(build.entriesTotal());
            partitionNumber++;
        }
        partitionNumber = 0;
        step = Step.READ;
        return true;
    }

    private boolean read() {
        if (partitionNumber == builds.size()) {
            for (IndexFilling build : builds) {
                build.install();
            }
            step = index.unique() ? Step.PAUSE_WRITES : Step.INSTALL;
            return true;
        }
        IndexFilling build = builds.get(partitionNumber);
        long before = build.entriesRead();
        boolean more = build.read(STEP_ENTRY_COUNT);
        if (!more) {
            build.complete(this::isStopping);
            partitionNumber++;
        }
        entriesRead.addAndGet(build.entriesRead() - before);
        if (!more) {
            publish("building");
        }
        return true;
    }

    /**
     * A write that probed before the old part was there may have let a duplicate in: it must be
     * through.
     */
    private boolean pauseWrites() {
        if (!changes.writes().tryPause()) {
            return false;
        }
        step = Step.CHECK_UNIQUE;
        return true;
    }

    private boolean checkUnique() {
        if (!changes.writes().isPaused()) {
            return false;
        }
        // from here on every write probes the whole tree: what is there at a snapshot of now is all
        // to look at
        changes.writes().resume();
        step = Step.INSTALL;
        changes.checkUnique(dataset, index, this::isStopping);
        return true;
    }

    private boolean install() {
        try {
            installation.run(() -> changes.install(dataset, index, builds));
        } catch (StoreFailedException failed) {
            core.health().fail(failed);
            throw failed;
        }
        end(null, "ready");
        return false;
    }

    private void end(@Nullable StorageException cause, String state) {
        if (step == Step.CHECK_UNIQUE) {
            changes.writes().resume();
        }
        if (cause != null && !installation.mayStand()) {
            changes.takeBack(dataset, base);
        }
        builds.forEach(build -> build.close(installation.mayStand()));
        if (cause != null && base.catalog().find(index.name()) != null) {
            cause.addSuppressed(SchemaChanges.leftDisabled(dataset, index));
        }
        failure = cause;
        publish(state);
        dataset.admission().endChange();
        done = true;
        core.tasks().signal();
    }

    /** Ends the build as if it had been stopped; its worker has ended. */
    void giveUp() {
        if (!done) {
            end(changes.stopped(dataset, index), "stopped");
        }
    }

    boolean isOf(OpenDataset other) {
        return dataset.equals(other);
    }

    private void publish(String state) {
        core.events()
                .indexChanged(
                        dataset.schema(),
                        index.name(),
                        state,
                        new long[] {entriesRead.get(), entriesTotal.get()},
                        core.clock().monotonicNanos() - startNanos);
    }

    @Override
    public String toString() {
        return "build of index %s of %s, %d of %d entries read"
                .formatted(index.name(), dataset.name(), entriesRead(), entriesTotal());
    }
}
