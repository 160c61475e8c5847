package io.turbidite.ops.join;

import io.turbidite.core.type.RecordType;

import java.util.ArrayList;
import java.util.List;

/**
 * Where a field of the rows of a join comes from. <em>Immutable.</em>
 *
 * @param target its index in the rows
 * @param isOfLeft whether it is one of the left side, else of the right one
 * @param field its index there
 * @param instead the field of the right side that stands for a left one where there is no left row;
 *     {@link #NONE}
 */
public record PairField(int target, boolean isOfLeft, int field, int instead) {
    /** Null stands for it. */
    public static final int NONE = -1;

    /** A field of the left side that nothing stands for. */
    public static PairField ofLeft(int target, int field) {
        return new PairField(target, true, field, NONE);
    }

    /** A field of the right side. */
    public static PairField ofRight(int target, int field) {
        return new PairField(target, false, field, NONE);
    }

    /**
     * All fields of the left side, and some of the right one, each under the name that it has
     * there.
     *
     * @param shown of the right side; a left field of the name of another one has what that has
     *     where there is no left row
     */
    public static List<PairField> byNames(
            RecordType left, RecordType right, List<Integer> shown, RecordType rowType) {
        List<PairField> fields = new ArrayList<>();
        for (int field : JoinedRow.tops(left)) {
            String name = left.field(field).name();
            int same = right.indexOf(name);
            fields.add(new PairField(
                    rowType.indexOf(name), true, field, shown.contains(same) ? NONE : same));
        }
        for (int field : shown) {
            fields.add(ofRight(rowType.indexOf(right.field(field).name()), field));
        }
        return List.copyOf(fields);
    }
}
