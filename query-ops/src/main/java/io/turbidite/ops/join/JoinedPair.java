package io.turbidite.ops.join;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;

/**
 * Both rows of a pair where they lie: the held one in the table or a run, the one that passes by
 * where its side has it. <em>Confined to one thread.</em>
 */
final class JoinedPair {
    private final RecordView held;

    /** Shows the row that passes by where it comes from a run. */
    private final RecordView read;

    private RecordView passing;
    private final Slice heldRow = new Slice();
    private boolean isHeldShown;

    JoinedPair(RecordType heldType, RecordType passingType) {
        this.held = new RecordView(heldType);
        this.read = new RecordView(passingType);
        this.passing = read;
    }

    void show(Slice newHeldRow, RecordView passingRow) {
        heldRow.set(newHeldRow);
        isHeldShown = false;
        passing = passingRow;
    }

    void show(Slice newHeldRow, Slice passingRow) {
        show(newHeldRow, read.wrap(passingRow));
    }

    /** One of both; the head of the held row is read when it is first asked for. */
    RecordView shown(boolean isHeld) {
        if (!isHeld) {
            return passing;
        }
        if (!isHeldShown) {
            isHeldShown = true;
            held.wrap(heldRow);
        }
        return held;
    }
}
