package io.turbidite.pm.index;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.tree.PsTree;
import io.turbidite.pm.tree.TreeCursor;
import io.turbidite.pm.validate.Validation;

/**
 * One index of one partition in a region.
 *
 * <p><em>Thread-safe</em> for one writer and any readers. A reader is inside an epoch while it
 * searches. An absorption is, in this order:
 *
 * <ol>
 *   <li>{@link #begin} with the horizon and the layer's last timestamp, which is written down;
 *   <li>{@link #addVersion} for each primary key of the layer, deleted ones too;
 *   <li>{@link #addEntry} for each entry of the layer, by secondary key and then by timestamp;
 *   <li>{@link #commit} with the layer's last timestamp: durable, as far as the mode goes.
 * </ol>
 *
 * <p>After a failure in between, the region is what an opening takes back: the index is closed and
 * opened again, or made anew.
 */
public final class PmIndex implements AutoCloseable {
    private final Region region;
    private final Validation validation;
    private final PsTree tree;
    private final Hints hints = new Hints();
    private volatile long absorbedThrough;
    private final long foundThrough;
    private boolean hasEntries;

    private PmIndex(Region region, Validation validation, PsTree tree, long foundThrough) {
        this.foundThrough = foundThrough;
        this.region = region;
        this.validation = validation;
        this.tree = tree;
        this.absorbedThrough = region.absorbedThrough();
    }

    /**
     * Makes an empty index; whatever the memory held is gone.
     *
     * @param epochs that protect the readers
     * @param account for the table of stale keys
     */
    public static PmIndex create(
            RegionMemory memory, RegionSpec spec, Epochs epochs, MemoryBudget.Account account) {
        Region region = Region.create(memory, spec, epochs);
        region.setRoots(PsTree.create(region), Validation.create(region));
        region.commit(0);
        return open(memory, spec.ofThisSession(), epochs, account, 0);
    }

    /**
     * Opens an index, all of it checked. What lies above {@code absorbedThrough} is taken back: an
     * absorption that was cut, or that its store does not know of.
     *
     * @param absorbedThrough up to which timestamp the store knows the index to be whole
     * @throws io.turbidite.core.CorruptionException if it can't be trusted, and is to be made anew
     */
    public static PmIndex open(
            RegionMemory memory,
            RegionSpec spec,
            Epochs epochs,
            MemoryBudget.Account account,
            long absorbedThrough) {
        Region region = Region.open(memory, spec, epochs, absorbedThrough);
        long foundThrough = region.reachedThrough();
        Validation validation = Validation.open(region, account);
        PmIndex opened = null;
        try {
            PsTree tree = PsTree.open(region, validation);
            region.pages().freeTheRest();
            region.beginSession();
            if (region.isAbsorbing() || region.absorbedThrough() > absorbedThrough) {
                region.beginTakingBack(absorbedThrough);
                tree.markAbove(absorbedThrough);
                region.commit(absorbedThrough);
            }
            opened = new PmIndex(region, validation, tree, foundThrough);
            return opened;
        } finally {
            if (opened == null) {
                validation.close();
            }
        }
    }

    /** Up to which timestamp the index is whole. */
    public long absorbedThrough() {
        return absorbedThrough;
    }

    /**
     * The largest timestamp that any absorption was to end with when it was opened, a cut one and
     * one that an earlier opening took back too.
     */
    public long foundThrough() {
        return foundThrough;
    }

    public Region region() {
        return region;
    }

    public Validation validation() {
        return validation;
    }

    public PsTree tree() {
        return tree;
    }

    /** A search, for one reader. */
    public PmSearch search() {
        return new PmSearch(this);
    }

    /** A cursor for the secondary keys. */
    public TreeCursor keys() {
        return tree.keys();
    }

    /** A reader has met stale entries of a key. */
    void hint(Slice secondaryKey, Hints.Probe probe) {
        hints.add(secondaryKey, probe);
    }

    /** How many hints wait. */
    public int hintCount() {
        return hints.count();
    }

    // ---- the writer -----------------------------------------------------------------------------

    /**
     * Begins an absorption.
     *
     * @param horizon below which nobody reads
     * @param through the layer's last timestamp
     */
    public void begin(long horizon, long through) {
        hasEntries = false;
        validation.setHorizon(horizon);
        region.begin(through);
    }

    /**
     * The newest operation on a primary key in the layer.
     *
     * @param hasEntry whether it has an entry: not if it is a delete
     * @param entryCount how many entries the layer has for the key
     */
    public void addVersion(Slice primaryKey, long timestamp, boolean hasEntry, int entryCount) {
        if (hasEntries) {
            throw new InvalidRequestException("a version behind the entries of its layer");
        }
        validation.absorb(primaryKey, timestamp, hasEntry, entryCount);
    }

    /** An entry of the layer. */
    public void addEntry(Slice secondaryKey, Slice primaryKey, long timestamp) {
        if (!hasEntries) {
            hasEntries = true;
            validation.flush();
        }
        tree.add(secondaryKey, primaryKey, timestamp);
    }

    /** Ends an absorption: all of it is durable, and the index is whole up to a timestamp. */
    public void commit(long timestamp) {
        if (!hasEntries) {
            // behind entries no page may be released before the tree has published its pointers
            validation.flush();
        }
        tree.flush();
        validation.release();
        region.commit(timestamp);
        absorbedThrough = timestamp;
    }

    /**
     * One operation at a time, as in the paper's Figure 8: at most three fences if no page and no
     * leaf is split. Between {@link #begin} and {@link #commit}.
     */
    public void insert(Slice secondaryKey, Slice primaryKey, long timestamp) {
        validation.absorb(primaryKey, timestamp, true, 1);
        validation.stage();
        tree.add(secondaryKey, primaryKey, timestamp);
        tree.prepare();
        validation.publish();
        tree.publish();
    }

    /** Whether readers have met stale entries of some key. */
    boolean hasHints() {
        return hints.count() > 0;
    }

    /**
     * Looks after keys that readers have met stale entries of: an absorption of its own.
     *
     * @param countMax how many keys at most
     * @return how many keys there were
     */
    public int collectHints(int countMax, long horizon) {
        int count = 0;
        if (hasHints()) {
            begin(horizon, absorbedThrough);
            Slice key = hints.poll();
            while (key != null && count < countMax) {
                tree.collect(key);
                count++;
                key = count < countMax ? hints.poll() : null;
            }
            commit(absorbedThrough);
        }
        return count;
    }

    /** Closes the region cleanly, unless it is in the middle of an absorption. */
    @Override
    public void close() {
        new Cleanup().add(region::close).add(validation::close).run();
    }
}
