package io.turbidite.lsm.strategy;

/**
 * The eager strategy (LUO19 §3.1): entries that the old record alone has get anti-matter, those
 * that the new one alone has are put; one that both have is put only if a filter field has changed
 * (were only the keys compared, a search that prunes by filter could skip the component that holds
 * the entry).
 *
 * @param keepsUnchanged whether the entry of an old version may stand for a new one. Not under
 *     retention, which drops the old one's component before the new one's (design §4 rule 10)
 */
record EagerIndex(boolean keepsUnchanged) implements IndexMaintainer {
    @Override
    public OldRecord reads() {
        return OldRecord.RECORD;
    }

    @Override
    public void put(IndexWrite write) {
        write.putDifference(!(write.sameFilters && keepsUnchanged));
    }

    @Override
    public void remove(IndexWrite write) {
        write.putDifference(true);
    }
}
