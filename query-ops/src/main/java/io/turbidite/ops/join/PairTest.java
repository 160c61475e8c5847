package io.turbidite.ops.join;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.RecordPredicate;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * What must hold of a left and a right row with equal keys for them to meet. <em>Confined to one
 * thread.</em>
 */
public final class PairTest {
    private final JoinedRow joined;
    private final RecordView pair;
    private final RecordPredicate[] predicates;

    /** What must hold, too; null: nothing. */
    private final @Nullable PairTest next;

    /**
     * @param output what the pair has of both sides
     * @param predicates on pairs; all must hold
     */
    public PairTest(
            RecordType leftType,
            RecordType rightType,
            JoinOutput output,
            List<RecordPredicate> predicates) {
        this.joined = new JoinedRow(leftType, rightType, output);
        this.pair = new RecordView(output.rowType());
        this.predicates = predicates.toArray(RecordPredicate[]::new);
        this.next = null;
    }

    private PairTest(PairTest first, @Nullable PairTest next) {
        this.joined = first.joined;
        this.pair = first.pair;
        this.predicates = first.predicates;
        this.next = next;
    }

    /** This test, and behind it another one; only one of them is used further. */
    public PairTest and(PairTest other) {
        return new PairTest(this, next == null ? other : next.and(other));
    }

    boolean holds(Slice leftRow, Slice rightRow) {
        pair.wrap(joined.pair(leftRow, rightRow));
        for (RecordPredicate predicate : predicates) {
            if (!predicate.matches(pair)) {
                return false;
            }
        }
        return next == null || next.holds(leftRow, rightRow);
    }
}
