package io.turbidite.lsm.strategy;

/**
 * The writes of validation (LUO19 §4.2) and deferred (DEFER18): every upsert puts its entries with
 * its own timestamp, changed or not, so that readers can tell by the primary key index whether one
 * is current. What was superseded stays, but for what is in the same memory component: that gets
 * anti-matter at once, so that within a component of its own age no entry is obsolete (design §4
 * rule 3).
 */
record BlindIndex() implements IndexMaintainer {
    @Override
    public OldRecord reads() {
        return OldRecord.CURRENT_LAYER;
    }

    @Override
    public void put(IndexWrite write) {
        write.putDifference(true);
    }

    @Override
    public void remove(IndexWrite write) {
        write.putDifference(true);
    }
}
