package io.turbidite.feeds.parse;

/** Finds out whether JSON without a line end is whole all the same. Static, without state. */
public final class JsonEnd {
    private JsonEnd() {}

    /**
     * Whether the bytes are one object or array with its closing bracket, and white space around
     * it. What is between the brackets is not checked: more bytes could not make it right.
     */
    public static boolean isWhole(byte[] bytes, int start, int length) {
        int depth = 0;
        boolean quoted = false;
        boolean closed = false;
        for (int at = start; at < start + length; at++) {
            byte b = bytes[at];
            if (quoted) {
                if (b == '\\') {
                    at++;
                } else {
                    quoted = b != '"';
                }
            } else if (b == '{' || b == '[') {
                if (closed) {
                    return false; // something follows
                }
                depth++;
            } else if (depth == 0) {
                if (!isBlank(b)) {
                    return false;
                }
            } else if (b == '"') {
                quoted = true;
            } else if (b == '}' || b == ']') {
                depth--;
                closed = depth == 0;
            }
        }
        return closed;
    }

    static boolean isBlank(byte b) {
        return b == ' ' || b == '\t' || b == '\r' || b == '\n';
    }
}
