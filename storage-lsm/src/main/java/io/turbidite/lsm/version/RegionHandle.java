package io.turbidite.lsm.version;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.index.IndexRegion;
import io.turbidite.core.index.RegionPlace;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * An open region, held by the versions that have it. The last one that lets go closes it, and
 * deletes it if no manifest names it any more.
 *
 * <p><em>Thread-safe.</em> Starts with one reference, its maker's.
 */
public final class RegionHandle {
    private final RegionPlace place;
    private final IndexRegion region;
    private final Runnable drop;
    private final Consumer<StorageException> whenLeft;
    private final AtomicInteger references = new AtomicInteger(1);
    private volatile boolean obsolete;
    private volatile @Nullable StorageException failure;
    private final AtomicBoolean told = new AtomicBoolean();

    /**
     * Owns the region from now on.
     *
     * @param drop deletes it, when it is closed and obsolete
     * @param whenLeft is told if that fails
     */
    public RegionHandle(
            RegionPlace place,
            IndexRegion region,
            Runnable drop,
            Consumer<StorageException> whenLeft) {
        this.place = place;
        this.region = region;
        this.drop = drop;
        this.whenLeft = whenLeft;
    }

    /** Its number in the store. */
    public long id() {
        return place.regionId();
    }

    /** Dataset, partition and index, for people. */
    public String name() {
        return place.name();
    }

    public IndexRegion region() {
        return region;
    }

    /**
     * Notes that it can't be used: nobody reads it any more. The first cause stays.
     *
     * @param cause a {@link StorageException}, or the {@link InternalError} by which the JVM tells
     *     a fault in a mapped file; that may come after the call that met it, where no room of the
     *     region's sees it. Or what else a kind throws when it meets what it has not written
     * @return the cause as an exception of the storage
     */
    public StorageException fail(Throwable cause) {
        StorageException typed = switch (cause) {
            case StorageException known -> known;
            case InternalError fault ->
                new StorageIoException(
                        StorageIoException.Kind.IO,
                        "use",
                        name(),
                        "the mapped file was cut, or its device does not answer",
                        fault);
            default -> broken(cause);
        };
        if (failure == null) {
            failure = typed;
        }
        return typed;
    }

    /** What it has met in itself, where others write to it perhaps. */
    private StorageException broken(Throwable cause) {
        CorruptionException broken = new CorruptionException(
                "the region of " + name(), 0, "work", "done", "ended by " + cause);
        broken.addSuppressed(cause);
        return broken;
    }

    /**
     * As {@link #fail}, of a search that can't go on.
     *
     * @return what its caller is told: to ask again helps
     */
    public StorageException failSearch(Throwable cause) {
        StorageException typed = fail(cause);
        String use =
                "the region of %s can't be read; its index is disabled, so that the same query takes another way when it is run again"
                        .formatted(name());
        return switch (typed) {
            case CorruptionException damage -> damage.in(use);
            case StorageIoException failed -> failed.in(use);
            default -> typed;
        };
    }

    /** Tells why it failed, if it did and nobody has been told. */
    public void tellOnce(Consumer<StorageException> listener) {
        StorageException cause = failure;
        if (cause != null && told.compareAndSet(false, true)) {
            listener.accept(cause);
        }
    }

    /** Why it can't be used any more; null if it can. */
    public @Nullable StorageException failure() {
        return failure;
    }

    void retain() {
        int before = references.getAndIncrement();
        assert before > 0 : "region was let go";
    }

    /** Nobody names it any more: it is deleted when it is let go. */
    public void markObsolete() {
        obsolete = true;
    }

    /**
     * Lets one reference go; the last one closes the region. Does not fail: whoever lets a version
     * go has others to let go. A region that can't be closed cleanly is noted as failed, and the
     * next opening finds it so and trusts nothing of it unseen.
     */
    @SuppressWarnings("CatchingUnchecked") // whatever a kind throws
    public void release() {
        int left = references.decrementAndGet();
        assert left >= 0 : "region is let go twice";
        if (left > 0) {
            return;
        }
        try {
            region.close();
        } catch (RuntimeException | InternalError notClean) {
            var _ = fail(notClean);
        } finally {
            if (obsolete) {
                dropQuietly();
            }
        }
    }

    private void dropQuietly() {
        try {
            drop.run();
        } catch (StorageException left) {
            whenLeft.accept(left); // a later opening deletes it
        }
    }

    @Override
    public String toString() {
        return "RegionHandle[%s, through %d]".formatted(name(), region.absorbedThrough());
    }
}
