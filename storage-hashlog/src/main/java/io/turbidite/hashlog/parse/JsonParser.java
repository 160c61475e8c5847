package io.turbidite.hashlog.parse;

import io.turbidite.core.expr.FieldPath;

import java.lang.foreign.MemorySegment;

/**
 * Stage two of the JSON parser: walks the objects and arrays that lead to wanted fields, and jumps
 * over everything else on the bitmaps of {@link StructuralIndex}. <em>Confined to one thread.</em>
 *
 * <p>Along the way to wanted fields everything is checked: names, colons, commas, brackets,
 * numbers, literals, and the UTF-8 and escapes of wanted strings. What is jumped over is checked
 * for the balance of its brackets and quotes alone, and may be nested to any depth: it is counted,
 * not entered.
 */
final class JsonParser implements RecordParser {
    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

    /** Results of a step of the walk. */
    private static final int REFUSED = -1;

    private static final int DONE = -2;

    /** In place of where a value ends: it is none, and is jumped over. */
    private static final int MALFORMED = -3;

    /** In place of a node: nobody wants what stands there. */
    private static final int UNWANTED = FieldTree.NO_NODE;

    private final FieldTree tree;
    private final RecordBytes record = new RecordBytes();
    private final StructuralIndex index;
    private final JsonText text = new JsonText();
    private final JsonNumber number;
    private final ByteBuilder name = new ByteBuilder();

    // the containers that are open, outermost first
    private final int[] nodes = new int[FieldPath.STEP_COUNT_MAX + 1];
    private final int[] starts = new int[FieldPath.STEP_COUNT_MAX + 1];
    /** The index of the next element in an array, -1 in an object. */
    private final int[] elements = new int[FieldPath.STEP_COUNT_MAX + 1];

    /** By node, the child that is likely to come next. */
    private final int[] expected;

    private int depth;
    private int length;
    private final FieldValues values;

    /** Where the walk goes on after {@link #childNamed}. */
    private int nameEnd;

    JsonParser(FieldTree tree, BlockMasks masks, FieldValues values) {
        this.tree = tree;
        this.index = new StructuralIndex(masks, record);
        this.number = new JsonNumber(record);
        this.values = values;
        this.expected = tree.firstName.clone();
    }

    @Override
    public FieldValues values() {
        return values;
    }

    @Override
    public boolean parse(MemorySegment segment, long offset, int recordBytes) {
        length = recordBytes;
        record.start(segment, offset, recordBytes);
        index.start();
        values.begin(record.array(), recordBytes);
        if (values.isDone()) {
            return true;
        }
        int start = skipSpace(0);
        if (record.at(start) != '{') {
            refuse(Rejection.Kind.NOT_AN_OBJECT, start);
            return false;
        }
        depth = -1;
        int position = enter(0, start, -1);
        while (position >= 0) {
            position = member(position);
        }
        return position == DONE;
    }

    /**
     * Opens the container of {@code node} whose bracket is at {@code start}; returns where it goes
     * on.
     */
    private int enter(int node, int start, int element) {
        depth++;
        nodes[depth] = node;
        starts[depth] = start;
        elements[depth] = element;
        int inside = skipSpace(start + 1);
        return record.at(inside) == (element < 0 ? '}' : ']') ? leave(inside) : inside;
    }

    /** One member or element, and what separates it from the next, which starts where it says. */
    private int member(int position) {
        int node = nodes[depth];
        int child;
        int value = position;
        if (elements[depth] >= 0) {
            child = childAt(node, elements[depth]++);
        } else {
            if (record.at(position) != '"') {
                return refuse(Rejection.Kind.EXPECTED_NAME, position);
            }
            child = childNamed(node, position + 1);
            if (child == REFUSED) {
                return REFUSED;
            }
            value = nameEnd;
        }
        if (child < 0 || values.isSettled(child)) {
            return skipMember(value);
        }
        if (elements[depth] < 0) {
            int colon = skipSpace(value);
            if (record.at(colon) != ':') {
                return refuse(Rejection.Kind.EXPECTED_COLON, colon);
            }
            value = skipSpace(colon + 1);
        }
        return value(child, value);
    }

    /**
     * Jumps over what lies between {@code position}, outside of a string or at its start, and its
     * end.
     */
    private int skipMember(int position) {
        int separator = index.nextSeparator(position);
        if (separator >= 0 && isOpening(record.at(separator))) {
            int end = index.closingBracket(separator + 1);
            separator = end < 0 ? end : index.nextSeparator(end + 1);
        }
        return separator < 0 ? refuse(Rejection.Kind.TRUNCATED, length) : separate(separator);
    }

    private static boolean isOpening(int c) {
        return (c | 0x20) == '{';
    }

    /** Goes on after a value that ended before {@code position}. */
    private int after(int position) {
        return separate(skipSpace(position));
    }

    /** Goes on at what should be a comma or the closing bracket of the container. */
    private int separate(int separator) {
        int c = record.at(separator);
        if (c == ',') {
            int node = nodes[depth];
            if (values.isSettledBelow(node)) {
                int end = index.closingBracket(separator + 1);
                return end < 0 ? refuse(Rejection.Kind.TRUNCATED, length) : leave(end);
            }
            return skipSpace(separator + 1);
        }
        if (c == '}' || c == ']') {
            return leave(separator);
        }
        return refuse(Rejection.Kind.EXPECTED_COMMA, separator);
    }

    /** Closes the innermost container with the bracket at {@code end}, and any that end with it. */
    private int leave(int end) {
        boolean array = elements[depth] >= 0;
        if (record.at(end) != (array ? ']' : '}')) {
            return refuse(Rejection.Kind.WRONG_BRACKET, end);
        }
        int node = nodes[depth];
        int field = tree.field[node];
        if (field >= 0) {
            int start = starts[depth];
            values.found(field, array ? ValueKind.ARRAY : ValueKind.OBJECT, start, end + 1 - start);
        }
        values.close(node);
        if (values.isDone() && depth > 0) {
            return DONE;
        }
        if (depth == 0) {
            int rest = skipSpace(end + 1);
            return rest == length ? DONE : refuse(Rejection.Kind.TRAILING_BYTES, rest);
        }
        depth--;
        return after(end + 1);
    }

    /** The value of {@code child}, which is wanted or leads to what is. */
    private int value(int child, int start) {
        int field = tree.field[child];
        int end;
        switch (record.at(start)) {
            case '"' -> end = string(field, start + 1);
            case '{' -> {
                if (tree.hasNames(child)) {
                    return enter(child, start, -1);
                }
                end = container(field, ValueKind.OBJECT, start);
            }
            case '[' -> {
                if (tree.hasElements(child)) {
                    return enter(child, start, 0);
                }
                end = container(field, ValueKind.ARRAY, start);
            }
            case 't' -> end = literal(field, ValueKind.TRUE, TRUE, start);
            case 'f' -> end = literal(field, ValueKind.FALSE, FALSE, start);
            case 'n' -> end = literal(field, ValueKind.NULL, NULL, start);
            default -> end = number(field, start);
        }
        if (end == REFUSED) {
            return REFUSED;
        }
        if (end == MALFORMED) {
            values.close(child);
            return values.isDone() ? DONE : skipMember(start);
        }
        // the first of its name decides: what it lacks is missing
        values.close(child);
        return values.isDone() ? DONE : after(end);
    }

    private static final byte[] TRUE = {'t', 'r', 'u', 'e'};
    private static final byte[] FALSE = {'f', 'a', 'l', 's', 'e'};
    private static final byte[] NULL = {'n', 'u', 'l', 'l'};

    private int literal(int field, ValueKind kind, byte[] spelling, int start) {
        for (int i = 1; i < spelling.length; i++) {
            if (record.at(start + i) != spelling[i]) {
                return malformed(Rejection.Kind.BAD_LITERAL, start + i);
            }
        }
        if (field >= 0) {
            values.found(field, kind, start, spelling.length);
        }
        return start + spelling.length;
    }

    private int number(int field, int start) {
        int c = record.at(start);
        if (c != '-' && (c < '0' || c > '9')) {
            return endsValue(c) || c == ':'
                    ? refuse(Rejection.Kind.EXPECTED_VALUE, start)
                    : malformed(Rejection.Kind.EXPECTED_VALUE, start);
        }
        if (!number.read(start) || !endsValue(record.at(number.end()))) {
            return malformed(Rejection.Kind.BAD_NUMBER, number.end());
        }
        if (field >= 0) {
            if (number.isInteger()) {
                values.foundInteger(field, number.value(), start, number.end() - start);
            } else {
                values.found(field, ValueKind.DECIMAL, start, number.end() - start);
            }
        }
        return number.end();
    }

    private static boolean endsValue(int c) {
        return switch (c) {
            case -1, ' ', '\n', '\r', '\t', ',', '}', ']' -> true;
            default -> false;
        };
    }

    private int string(int field, int start) {
        int end = index.closingQuote(start);
        if (end < 0) {
            return refuse(Rejection.Kind.TRUNCATED, length);
        }
        if (field >= 0 && !text(field, start, end)) {
            return malformed(text.problem(), start + text.problemAt());
        }
        return end + 1;
    }

    private boolean text(int field, int start, int end) {
        int byteCount = end - start;
        if (!index.escaped()) {
            if (!text.check(record.array(), start, byteCount)) {
                return false;
            }
            values.found(field, ValueKind.TEXT, start, byteCount);
            return true;
        }
        ByteBuilder decoded = values.decoded();
        int before = decoded.length();
        if (!text.decode(record.array(), start, byteCount, decoded)) {
            return false;
        }
        values.found(field, ValueKind.DECODED_TEXT, before, decoded.length() - before);
        return true;
    }

    private int container(int field, ValueKind kind, int start) {
        int end = index.closingBracket(start + 1);
        if (end < 0) {
            return refuse(Rejection.Kind.TRUNCATED, length);
        }
        if (record.at(end) != (kind == ValueKind.OBJECT ? '}' : ']')) {
            return refuse(Rejection.Kind.WRONG_BRACKET, end);
        }
        if (field >= 0) {
            values.found(field, kind, start, end + 1 - start);
        }
        return end + 1;
    }

    private int childAt(int node, int element) {
        for (int child = tree.firstElement[node]; child < tree.endElement[node]; child++) {
            if (tree.elementIndex[child] == element) {
                return child;
            }
        }
        return UNWANTED;
    }

    /**
     * The child of {@code node} that the name at {@code start} names; a negative number other than
     * REFUSED if none does. A name is compared as it is spelt, eight bytes at once with its closing
     * quote, so that one that is not wanted costs no search for its end.
     */
    private int childNamed(int node, int start) {
        long word = record.wordAt(start);
        if (hasBackslash(word)) {
            return childSpelt(node, start);
        }
        int first = tree.firstName[node];
        int end = tree.firstElement[node];
        // the one after the one before: records of one source tend to have one order
        int child = expected[node];
        for (int i = first; i < end; i++, child++) {
            if (child >= end) {
                child = first;
            }
            if (((word ^ tree.nameWord[child]) & tree.nameMask[child]) == 0) {
                int nameBytes = tree.names[child].length;
                if (nameBytes < 8
                        || (record.wordAt(start + nameBytes - 7) == tree.nameTail[child]
                                && (nameBytes < 16 || middleMatches(child, start)))) {
                    expected[node] = child + 1;
                    nameEnd = start + nameBytes + 1;
                    return child;
                }
                if (hasBackslashWithin(start, nameBytes)) {
                    return childSpelt(node, start);
                }
            }
        }
        // inside the string still: the bitmaps know
        nameEnd = start;
        return UNWANTED;
    }

    /** Compares what lies between the first and the last eight bytes of a long name. */
    private boolean middleMatches(int child, int start) {
        byte[] name = tree.names[child];
        for (int i = 8; i < name.length - 7; i++) {
            if (record.at(start + i) != (name[i] & 0xFF)) {
                return false;
            }
        }
        return true;
    }

    private boolean hasBackslashWithin(int start, int byteCount) {
        for (int i = 0; i < byteCount; i++) {
            if (record.at(start + i) == '\\') {
                return true;
            }
        }
        return false;
    }

    /** {@link #childNamed} for a name that may have escapes. */
    private int childSpelt(int node, int start) {
        int end = index.closingQuote(start);
        if (end < 0) {
            return refuse(Rejection.Kind.TRUNCATED, length);
        }
        nameEnd = end + 1;
        name.clear();
        if (!text.decode(record.array(), start, end - start, name)) {
            return refuse(text.problem(), start + text.problemAt());
        }
        return tree.childNamed(node, name.bytes(), name.length());
    }

    private static boolean hasBackslash(long word) {
        long x = word ^ ('\\' * ONES);
        return ((x - ONES) & ~x & HIGH_BITS) != 0;
    }

    private int skipSpace(int from) {
        int position = from;
        int c = record.at(position);
        while (c <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t')) {
            c = record.at(++position);
        }
        return position;
    }

    /** A value that is none: it is jumped over as one that nobody wants, or refuses the record. */
    private int malformed(Rejection.Kind kind, int at) {
        return values.isForgiving() && at < length ? MALFORMED : refuse(kind, at);
    }

    /** Refuses the record; whatever was expected at its end, it is too short. */
    private int refuse(Rejection.Kind kind, int at) {
        values.reject(at >= length ? Rejection.Kind.TRUNCATED : kind, at);
        return REFUSED;
    }
}
