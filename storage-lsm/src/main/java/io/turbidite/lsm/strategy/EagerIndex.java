package io.turbidite.lsm.strategy;

/**
 * The eager strategy (LUO19 §3.1): the old record's entry gets anti-matter, the new one is put;
 * nothing if both are the same and so are all filter fields (were only the key compared, a search
 * that prunes by filter could skip the component that holds the entry).
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
        boolean same = write.sameEntry();
        if (same && write.sameFilters && keepsUnchanged) {
            return;
        }
        if (write.knowsOld && !same) {
            write.removeOld();
        }
        write.putNew();
    }

    @Override
    public void remove(IndexWrite write) {
        if (write.knowsOld) {
            write.removeOld();
        }
    }
}
