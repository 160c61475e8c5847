package io.turbidite.pm.tree;

import io.turbidite.core.CorruptionException;
import io.turbidite.pm.cells.NodeImage;
import io.turbidite.pm.region.CheckedWord;
import io.turbidite.pm.region.RegionMemory;

/** The word of a leaf's cell: the checked pointer to a key's list. <em>Stateless.</em> */
final class KeyWord {
    private KeyWord() {}

    static long of(long pointer, int keySum) {
        return CheckedWord.of(pointer / 8, keySum);
    }

    /** The pointer in a cell of the region. */
    static long pointer(RegionMemory memory, long cell) {
        return pointer(memory, cell, memory.getLong(cell));
    }

    static long pointer(RegionMemory memory, long cell, long word) {
        if (!CheckedWord.isSound(word, NodeImage.keySum(memory, cell))) {
            throw new CorruptionException(
                    memory.name(), cell, "pointer of a key", "checked", Long.toHexString(word));
        }
        return CheckedWord.payload(word) * 8;
    }
}
