package io.turbidite.feeds.parse;

import org.jspecify.annotations.Nullable;

/**
 * Finds where an element of a JSON array ends, by its brackets and quotes; whether what is between
 * them is JSON is the parser's to say. Goes on over several pieces of bytes. <em>Confined to one
 * thread.</em>
 *
 * <p>An object whose brackets don't close must not take those behind it with it. So it also ends in
 * front of what can't be in it: the closing bracket of the array, or an object that stands where an
 * object has a name (behind a comma). A text ends with its line at the latest, because a line end
 * can't be in it.
 */
final class ElementScan {
    /** Deeper than the parser goes; below that, brackets are counted and not told apart. */
    private static final int DEPTH_MAX = 64;

    private static final String NOT_CLOSED = "the object is not closed";

    /** Bit d is set if bracket d is an object's. */
    private long objects;

    private int depth;
    private boolean hasBegun;
    private boolean quoted;
    private boolean escaped;

    /** Whether the last byte that counts was a comma. */
    private boolean afterComma;

    private int lineEnds;
    private @Nullable String problem;

    /** Begins with the next element. */
    void begin() {
        objects = 0;
        depth = 0;
        hasBegun = false;
        quoted = false;
        escaped = false;
        afterComma = false;
        lineEnds = 0;
        problem = null;
    }

    /** Whether the element can't end here: what closes it may still come. */
    boolean isOpen() {
        return depth > 0 || quoted;
    }

    /** Why the element can't be one, or null. */
    @Nullable
    String problem() {
        return problem;
    }

    /** Line ends in what was looked at of the element. */
    int lineEnds() {
        return lineEnds;
    }

    /**
     * Looks at bytes of the element.
     *
     * @return the index behind its last byte, or -1 if it goes on
     */
    int end(byte[] bytes, int from, int to) {
        for (int at = from; at < to; at++) {
            byte b = bytes[at];
            if (b == '\n') {
                if (depth == 0) {
                    return at; // no object: it ends with its line
                }
                lineEnds++;
                if (quoted) {
                    quoted = false;
                    escaped = false;
                    afterComma = true; // it may have been in the text, and an object can't be here
                    problem = "a text goes over the end of its line";
                }
            } else if (quoted) {
                quoted = escaped || b != '"';
                escaped = !escaped && b == '\\';
                if (!quoted && depth == 0) {
                    return at + 1;
                }
            } else if (b == '"') {
                quoted = true;
                afterComma = false;
            } else if (depth == 0 && hasBegun) {
                if (b == ',' || b == ']' || b == '[' || b == '{') {
                    return at;
                }
            } else if (b == '{' || b == '[') {
                if (b == '{' && afterComma && isInObject()) {
                    problem = NOT_CLOSED;
                    return at;
                }
                open(b == '{');
            } else if (b == '}' || b == ']') {
                if (b == ']' && depth == 1 && isInObject()) {
                    problem = NOT_CLOSED;
                    return at;
                }
                if (depth <= 1) {
                    return at + 1;
                }
                depth--;
                afterComma = false;
            } else if (!JsonEnd.isBlank(b)) {
                afterComma = b == ',';
            }
            hasBegun = true;
        }
        return -1;
    }

    private void open(boolean isObject) {
        if (depth < DEPTH_MAX) {
            long bit = 1L << depth;
            objects = isObject ? objects | bit : objects & ~bit;
        }
        depth++;
        afterComma = false;
    }

    private boolean isInObject() {
        return depth >= 1 && depth <= DEPTH_MAX && (objects & 1L << (depth - 1)) != 0;
    }
}
