package io.turbidite.ops.intersect;

import io.turbidite.core.scan.KeyBatch;
import io.turbidite.ops.search.Candidates;

/**
 * The common primary keys of several indexes, in their order; each comes once. Owns the
 * intersection. <em>Confined to one thread.</em>
 */
public final class JoinedCandidates implements Candidates {
    private final Intersection common;
    private final boolean hasVersions;
    private boolean isPending;

    public JoinedCandidates(Intersection common) {
        this.common = common;
        this.hasVersions = common.hasVersions();
    }

    @Override
    public boolean fill(KeyBatch batch, long countMax) {
        batch.clear();
        if (isPending) {
            isPending = false;
            boolean fits = add(batch);
            assert fits : "a batch holds one longest key";
        }
        while (batch.size() < countMax && common.next()) {
            if (!add(batch)) {
                isPending = true;
                break;
            }
        }
        return batch.size() > 0;
    }

    private boolean add(KeyBatch batch) {
        if (!hasVersions) {
            return batch.add(common.primaryKey());
        }
        int newest = common.newest();
        return batch.add(
                common.primaryKey(), common.timestamp(newest), common.checkedUntil(newest));
    }

    @Override
    public void close() {
        common.close();
    }
}
