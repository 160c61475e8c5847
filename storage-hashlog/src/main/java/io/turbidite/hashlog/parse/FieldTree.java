package io.turbidite.hashlog.parse;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.FieldPath;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The wanted paths as a tree in flat arrays: node 0 is the record, the children of a node are
 * neighbours. <em>Immutable.</em>
 */
final class FieldTree {
    /** Most fields that one parser may look for. */
    static final int FIELD_COUNT_MAX = 4_096;

    static final int NO_NODE = -2;

    /** Eight backslashes: a name that is looked up in another way. */
    private static final long NO_NAME = 0x5C5C_5C5C_5C5C_5C5CL;

    /** The field that ends at a node, -1 for none. */
    final int[] field;
    /** -1 for the record. */
    final int[] parent;
    /** Children by name: {@code [firstName, firstElement)}. */
    final int[] firstName;
    /** Children by index, ascending: {@code [firstElement, endElement)}. */
    final int[] firstElement;

    final int[] endElement;
    /** The name in UTF-8, of nodes reached by one. */
    final byte[][] names;
    /** The first bytes of the name and its closing quote, up to eight, little-endian. */
    final long[] nameWord;
    /** Which of the eight bytes count. */
    final long[] nameMask;
    /** The last bytes of a name of eight or more and its closing quote, eight of them. */
    final long[] nameTail;
    /** The index, of nodes reached by one. */
    final int[] elementIndex;
    /** How many fields end at a node or below it. */
    final int[] fieldCount;
    /** The node at which a field ends. */
    final int[] nodeOfField;

    /**
     * @throws InvalidRequestException if they are too many
     */
    FieldTree(List<FieldPath> paths) {
        if (paths.size() > FIELD_COUNT_MAX) {
            throw new InvalidRequestException("%d fields are more than the limit of %d"
                    .formatted(paths.size(), FIELD_COUNT_MAX));
        }
        Building root = new Building(null);
        for (int f = 0; f < paths.size(); f++) {
            Building node = root;
            for (FieldPath.Step step : paths.get(f).steps()) {
                node = node.child(step);
            }
            if (node.field >= 0) {
                throw new InvalidRequestException(
                        "the field %s is wanted twice".formatted(paths.get(f).text()));
            }
            node.field = f;
        }
        List<Building> nodes = new ArrayList<>(List.of(root));
        for (int n = 0; n < nodes.size(); n++) {
            Building node = nodes.get(n);
            nodes.addAll(node.named);
            node.elements.sort((a, b) -> Integer.compare(a.index(), b.index()));
            nodes.addAll(node.elements);
        }
        int count = nodes.size();
        field = new int[count];
        parent = new int[count];
        firstName = new int[count];
        firstElement = new int[count];
        endElement = new int[count];
        names = new byte[count][];
        nameWord = new long[count];
        nameMask = new long[count];
        nameTail = new long[count];
        elementIndex = new int[count];
        fieldCount = new int[count];
        nodeOfField = new int[paths.size()];
        parent[0] = -1;
        int next = 1;
        for (int n = 0; n < count; n++) {
            Building node = nodes.get(n);
            field[n] = node.field;
            firstName[n] = next;
            firstElement[n] = next + node.named.size();
            next = firstElement[n] + node.elements.size();
            endElement[n] = next;
            Arrays.fill(parent, firstName[n], next, n);
            describe(n, node);
        }
        for (int n = count - 1; n >= 0; n--) {
            if (field[n] >= 0) {
                fieldCount[n]++;
                nodeOfField[field[n]] = n;
            }
            if (n > 0) {
                fieldCount[parent[n]] += fieldCount[n];
            }
        }
    }

    private void describe(int n, Building node) {
        names[n] = new byte[0];
        if (node.step instanceof FieldPath.Name(String name)) {
            names[n] = name.getBytes(StandardCharsets.UTF_8);
            // a name with a character that JSON escapes has no plain spelling, and matches none
            nameMask[n] = -1;
            nameWord[n] = NO_NAME;
            if (name.chars().noneMatch(c -> c < ' ' || c == '"' || c == '\\')) {
                int bytes = Math.min(8, names[n].length + 1);
                nameWord[n] = 0;
                for (int i = 0; i < bytes; i++) {
                    int value = i < names[n].length ? names[n][i] & 0xFF : '"';
                    nameWord[n] |= (long) value << (8 * i);
                }
                nameMask[n] = -1L >>> (64 - 8 * bytes);
                nameTail[n] = tail(names[n]);
            }
        } else if (node.step instanceof FieldPath.Element(int index)) {
            elementIndex[n] = index;
        }
    }

    private static long tail(byte[] name) {
        long tail = (long) '"' << 56;
        for (int i = 0; i < 7 && i < name.length; i++) {
            tail |= (name[name.length - 1 - i] & 0xFFL) << (48 - 8 * i);
        }
        return tail;
    }

    int nodeCount() {
        return field.length;
    }

    boolean hasNames(int node) {
        return firstName[node] < firstElement[node];
    }

    boolean hasElements(int node) {
        return firstElement[node] < endElement[node];
    }

    /** The child of {@code node} with this name, or {@link #NO_NODE}. */
    int childNamed(int node, byte[] name, int nameLength) {
        for (int child = firstName[node]; child < firstElement[node]; child++) {
            if (Arrays.equals(names[child], 0, names[child].length, name, 0, nameLength)) {
                return child;
            }
        }
        return NO_NODE;
    }

    private static final class Building {
        final FieldPath.@Nullable Step step;
        final List<Building> named = new ArrayList<>();
        final List<Building> elements = new ArrayList<>();
        int field = -1;

        Building(FieldPath.@Nullable Step step) {
            this.step = step;
        }

        int index() {
            return step instanceof FieldPath.Element(int index) ? index : -1;
        }

        Building child(FieldPath.Step next) {
            List<Building> siblings = next instanceof FieldPath.Name ? named : elements;
            for (Building sibling : siblings) {
                if (next.equals(sibling.step)) {
                    return sibling;
                }
            }
            Building child = new Building(next);
            siblings.add(child);
            return child;
        }
    }
}
