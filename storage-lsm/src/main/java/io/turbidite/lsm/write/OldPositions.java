package io.turbidite.lsm.write;

import io.turbidite.lsm.strategy.bitmap.run.OldPosition;

import java.util.Arrays;

/**
 * Where the versions lie that the operations of a batch supersede, as far as a bitmap may have to
 * know.
 *
 * <p><em>Confined to one thread;</em> reused.
 */
final class OldPositions {
    private OldPosition[] positions = new OldPosition[0];
    private int count;

    /** Forgets all, and has room for so many operations. */
    void begin(int operationCount) {
        if (positions.length < operationCount) {
            int before = positions.length;
            positions = Arrays.copyOf(positions, Math.max(operationCount, 2 * before));
            for (int i = before; i < positions.length; i++) {
                positions[i] = new OldPosition();
            }
        }
        count = operationCount;
        clear();
    }

    OldPosition of(int operation) {
        return positions[operation];
    }

    /** Forgets all: a position keeps a bitmap or a layer from the garbage collector. */
    void clear() {
        for (int i = 0; i < count; i++) {
            positions[i].clear();
        }
    }
}
