package io.turbidite.lsm.strategy;

/**
 * The writes of the deleted-key strategy (LUO19 §4.1, after AsterixDB's former way): as blind as
 * those of {@link BlindIndex}, and beside the new entry the primary key goes into the layer's
 * deleted-key tree, as anti-matter, to say that what older layers have of it is obsolete as of now.
 *
 * <p>Once for each layer is enough: what older layers hold is hidden from the first write of the
 * key on, and what this layer holds gets anti-matter in the index itself.
 */
record DeletedKeyIndex() implements IndexMaintainer {
    private static final BlindIndex BLIND = new BlindIndex();

    @Override
    public OldRecord reads() {
        return BLIND.reads();
    }

    @Override
    public void put(IndexWrite write) {
        noteKey(write);
        BLIND.put(write);
    }

    @Override
    public void remove(IndexWrite write) {
        noteKey(write);
        BLIND.remove(write);
    }

    private static void noteKey(IndexWrite write) {
        if (!write.has(write.deletedKeyTree, write.primaryKey)) {
            write.put(write.deletedKeyTree, write.primaryKey, true);
        }
    }
}
