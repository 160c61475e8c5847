package io.turbidite.ops.join;

import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Set;

/**
 * What a join is made of.
 *
 * @param rowType of the rows; of a semi or anti join that of the left side
 * @param fields where its fields at the top come from; none of a semi or anti join
 * @param used fields of the rows that anybody looks at, the others may be missing; null: all
 * @param test what must hold of rows with equal keys; null: nothing
 * @param holdsLeft whether the left side is held, not the right one: not of full joins and
 *     {@link JoinKind#NOT_IN}
 */
public record JoinOutput(
        JoinKind kind,
        RecordType rowType,
        List<PairField> fields,
        @Nullable Set<Integer> used,
        @Nullable PairTest test,
        boolean holdsLeft) {
    public JoinOutput {
        if (holdsLeft && (kind == JoinKind.FULL || kind == JoinKind.NOT_IN)) {
            throw new IllegalArgumentException(kind + " holds the right side");
        }
        fields = List.copyOf(fields);
        used = used == null ? null : Set.copyOf(used);
    }

    /** Those of the fields that anybody looks at. */
    List<PairField> lookedAt() {
        Set<Integer> looked = used;
        return looked == null
                ? fields
                : fields.stream()
                        .filter(field -> looked.contains(field.target()))
                        .toList();
    }
}
