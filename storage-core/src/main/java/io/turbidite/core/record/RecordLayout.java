package io.turbidite.core.record;

import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import java.util.Arrays;

/**
 * Where the slots of one record type lie: {@link RecordFormat} worked out for its declared fields.
 * <em>Immutable.</em>
 */
final class RecordLayout {
    private final int fieldCount;
    private final TypeKind[] kinds;
    private final int[] slotOffsets;
    private final int[] variableIndexes;
    private final int[] previousEndOffsets;
    private final int variableCount;
    private final int version;
    private final boolean[] optional;

    private RecordLayout(RecordType type) {
        version = type.isFlat() ? RecordFormat.VERSION_FLAT : RecordFormat.VERSION;
        fieldCount = type.fields().size();
        kinds = new TypeKind[fieldCount + type.arrayCount()];
        for (int i = fieldCount; i < kinds.length; i++) {
            kinds[i] = type.field(i).kind();
        }
        optional = new boolean[fieldCount];
        slotOffsets = new int[fieldCount + 1];
        variableIndexes = new int[fieldCount];
        previousEndOffsets = new int[fieldCount + 1];
        int offset = RecordFormat.HEADER_BYTES;
        int variables = 0;
        int previousEndOffset = -1;
        for (int i = 0; i < fieldCount; i++) {
            kinds[i] = type.field(i).kind();
            optional[i] = type.field(i).optional();
            slotOffsets[i] = offset;
            previousEndOffsets[i] = previousEndOffset;
            variableIndexes[i] = -1;
            if (RecordFormat.isVariable(kinds[i])) {
                variableIndexes[i] = variables++;
                previousEndOffset = offset;
            }
            offset += RecordFormat.slotBytes(kinds[i]);
        }
        slotOffsets[fieldCount] = offset;
        previousEndOffsets[fieldCount] = previousEndOffset;
        variableCount = variables;
    }

    /** Worked out once for each type: every view and writer has it. */
    static RecordLayout of(RecordType type) {
        return type.derived(RecordLayout.class, RecordLayout::new);
    }

    /** Newest version of its records. */
    int version() {
        return version;
    }

    /** Whether the field may be absent, as far as that does not depend on others. */
    boolean isOptional(int field) {
        return optional[field];
    }

    int fieldCount() {
        return fieldCount;
    }

    /** Arrays: so many fields behind the declared ones stand for their elements. */
    int arrayCount() {
        return kinds.length - fieldCount;
    }

    /** The kinds of the arrays' elements, in order. */
    TypeKind[] elementKinds() {
        return Arrays.copyOfRange(kinds, fieldCount, kinds.length);
    }

    /** Of a field, or of an array's elements. */
    TypeKind kind(int field) {
        return kinds[field];
    }

    /** From the start of the record. */
    int slotOffset(int field) {
        return slotOffsets[field];
    }

    /** Where the states of a record of {@code count} declared fields begin. */
    int statesOffset(int count) {
        return slotOffsets[count];
    }

    /** Where the variable area of a record of {@code count} declared fields begins. */
    int variableOffset(int count) {
        return slotOffsets[count] + RecordFormat.stateBytes(count);
    }

    /** The field's place among the variable-width fields, or -1. */
    int variableIndex(int field) {
        return variableIndexes[field];
    }

    /**
     * The slot that says where the last variable-width field before {@code field} ends, or -1 if
     * there is none; for a count of fields, the slot that says where the variable area ends.
     */
    int previousEndOffset(int field) {
        return previousEndOffsets[field];
    }

    int variableCount() {
        return variableCount;
    }
}
