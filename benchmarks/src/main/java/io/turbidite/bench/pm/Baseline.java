package io.turbidite.bench.pm;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.tree.PsTree;
import io.turbidite.pm.validate.Validation;

/**
 * What both baselines have: leaves and tables in a region of their own. Neither collects garbage,
 * as in the paper, so their tables of stale keys only grow.
 */
final class Baseline {
    /** As many entries share the fences as in the tree of {@code pm.tree}. */
    private static final int SLICE_ENTRY_COUNT = 1_024;

    final Region region;
    final Validation validation;
    final KeyLeaves leaves;
    private boolean hasEntries;
    private int sliceEntryCount;
    private long entryCount;

    private Baseline(Region region, Validation validation, KeyLeaves leaves) {
        this.region = region;
        this.validation = validation;
        this.leaves = leaves;
    }

    static Baseline create(
            RegionMemory memory, RegionSpec spec, Epochs epochs, MemoryBudget.Account account) {
        Region made = Region.create(memory, spec, epochs);
        made.setRoots(PsTree.create(made), Validation.create(made));
        made.commit(0);
        Region region = Region.open(memory, spec, epochs, 0);
        Validation validation = Validation.open(region, account);
        KeyLeaves leaves = KeyLeaves.open(region);
        region.pages().freeTheRest();
        return new Baseline(region, validation, leaves);
    }

    /** Nobody reads below the end of the layer, which is the horizon. */
    void begin(long horizon) {
        hasEntries = false;
        validation.setHorizon(horizon);
        region.begin(horizon);
    }

    void version(Slice primaryKey, long timestamp) {
        validation.absorb(primaryKey, timestamp, true, 1);
    }

    /** Before an entry is absorbed: fences what came before, a slice at a time. */
    void beforeEntry(Slice key) {
        if (!hasEntries) {
            hasEntries = true;
            validation.flush();
        }
        if (sliceEntryCount >= SLICE_ENTRY_COUNT && leaves.isBehindLeaf(key)) {
            publish();
        }
        sliceEntryCount++;
        entryCount++;
    }

    private void publish() {
        leaves.publish();
        sliceEntryCount = 0;
    }

    void commit(long timestamp) {
        validation.flush();
        publish();
        validation.release();
        region.commit(timestamp);
    }

    void beforeInsert(Slice primaryKey, long timestamp) {
        validation.absorb(primaryKey, timestamp, true, 1);
        validation.stage();
        entryCount++;
    }

    void afterInsert() {
        leaves.prepare();
        validation.publish();
        publish();
    }

    long entryCount() {
        return entryCount;
    }

    boolean isValid(Slice primaryKey, long timestamp, long snapshot) {
        return timestamp <= snapshot
                && validation.check(primaryKey, timestamp, snapshot) == Validation.Answer.VALID;
    }

    void close() {
        region.close();
        validation.close();
    }
}
