package io.turbidite.ops.plan;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.join.JoinKind;

import java.util.ArrayList;
import java.util.List;

/**
 * What a join of rows of two types is by, and what it gives. <em>Immutable.</em>
 *
 * @param leftKeys fields of the left rows that must be equal to those of the right ones
 * @param rightKeys as many fields of the right rows
 * @param shown the right fields that the rows have
 * @param rowType of the rows
 */
record JoinedType(
        List<Integer> leftKeys, List<Integer> rightKeys, List<Integer> shown, RecordType rowType) {
    JoinedType {
        leftKeys = List.copyOf(leftKeys);
        rightKeys = List.copyOf(rightKeys);
        shown = List.copyOf(shown);
    }

    /**
     * @throws InvalidRequestException if a side has no such field, kinds do not go together, or
     *     rows would have two fields of one name
     */
    static JoinedType of(
            RecordType left, RecordType right, JoinKind kind, List<JoinPlan.Equal> on) {
        List<Integer> leftKeys = new ArrayList<>();
        List<Integer> rightKeys = new ArrayList<>();
        for (JoinPlan.Equal one : on) {
            leftKeys.add(key(left, one.left(), "left"));
            rightKeys.add(key(right, one.right(), "right"));
            checkKinds(one, left.field(leftKeys.getLast()), right.field(rightKeys.getLast()));
        }
        if (!kind.hasPairs()) {
            return new JoinedType(leftKeys, rightKeys, List.of(), left);
        }
        List<Integer> shown = shown(right, on);
        if (kind == JoinKind.FULL) {
            checkShared(left, right, on);
        }
        return new JoinedType(
                leftKeys, rightKeys, shown, pairType(left, right, shown, kind == JoinKind.FULL));
    }

    /** The same of pairs that are tested and not given: rows of the left side are. */
    static JoinedType ofPairs(RecordType left, RecordType right, List<JoinPlan.Equal> on) {
        return of(left, right, JoinKind.LEFT, on);
    }

    /** A field that both sides have under one name is of either. */
    private static void checkShared(RecordType left, RecordType right, List<JoinPlan.Equal> on) {
        for (JoinPlan.Equal one : on) {
            Field a = left.field(left.indexOf(one.left()));
            Field b = right.field(right.indexOf(one.right()));
            if (one.left().equals(one.right()) && a.kind() != b.kind()) {
                throw new InvalidRequestException(
                        "'%s' of a full join is %s on one side and %s on the other: select one of them as another name"
                                .formatted(
                                        one.left(), a.kind().label(), b.kind().label()));
            }
        }
    }

    private static int key(RecordType type, String name, String which) {
        int field = type.indexOf(name);
        if (field < 0 || type.isEach(field) || !type.field(field).kind().isScalar()) {
            throw new InvalidRequestException(
                    "the %s side of the join has no field '%s' of one value; its rows have %s"
                            .formatted(which, name, type.names()));
        }
        return field;
    }

    private static void checkKinds(JoinPlan.Equal one, Field left, Field right) {
        TypeKind a = left.kind();
        TypeKind b = right.kind();
        if (a != b && !(isWhole(a) && isWhole(b))) {
            throw new InvalidRequestException(
                    "a join of '%s' of type %s with '%s' of type %s: select one of them as the type of the other"
                            .formatted(one.left(), a.label(), one.right(), b.label()));
        }
    }

    /** Whether values are whole numbers, whose keys are the same whatever their width. */
    static boolean isWhole(TypeKind kind) {
        return switch (kind) {
            case INT8, INT16, INT32, INT64 -> true;
            default -> false;
        };
    }

    /** The fields of rows that lie in no other. */
    static List<Integer> tops(RecordType type) {
        List<Integer> fields = new ArrayList<>();
        for (int field = 0; field < type.fields().size(); field = type.behind(field)) {
            fields.add(field);
        }
        return fields;
    }

    /** The right fields but those that are equal to a left one of the same name. */
    private static List<Integer> shown(RecordType type, List<JoinPlan.Equal> on) {
        return tops(type).stream()
                .filter(field -> {
                    String name = type.field(field).name();
                    return !on.contains(new JoinPlan.Equal(name, name));
                })
                .toList();
    }

    private static RecordType pairType(
            RecordType left, RecordType right, List<Integer> shown, boolean isLeftOptional) {
        List<Field> fields = new ArrayList<>();
        for (Field field : left.declared()) {
            fields.add(isLeftOptional ? field.as(field.name(), true) : field);
        }
        for (int field : shown) {
            Field declared = right.field(field);
            if (fields.stream().anyMatch(other -> other.name().equals(declared.name()))) {
                throw new InvalidRequestException(
                        "both sides of the join have a field '%1$s': select one of them as another name, '%1$s as …'"
                                .formatted(declared.name()));
            }
            fields.add(declared.as(declared.name(), true));
        }
        return RecordType.of(fields);
    }
}
