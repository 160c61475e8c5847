package io.turbidite.hashlog.parse;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Checks that records are whole JSON objects, by their brackets alone: a session looks no further
 * than PSFs want, and without any takes every record. <em>Confined to one thread.</em>
 */
public final class WholeObject {
    private final RecordBytes record = new RecordBytes();
    private final StructuralIndex index;

    private WholeObject(ScanMode mode) {
        index = new StructuralIndex(mode.newMasks(), record);
    }

    /** A check that scans as the parser does. */
    public static WholeObject of(ScanMode mode) {
        return new WholeObject(mode);
    }

    /**
     * Why the record is no object from its bracket to the one that closes it, with white space
     * around, or null if it is one.
     */
    public @Nullable Rejection check(MemorySegment segment, long offset, int byteCount) {
        record.start(segment, offset, byteCount);
        index.start();
        int start = skipSpace(0);
        if (record.at(start) != '{') {
            return new Rejection(Rejection.Kind.NOT_AN_OBJECT, start);
        }
        int end = index.closingBracket(start + 1);
        if (end < 0) {
            return new Rejection(Rejection.Kind.TRUNCATED, byteCount);
        }
        if (record.at(end) != '}') {
            return new Rejection(Rejection.Kind.WRONG_BRACKET, end);
        }
        int rest = skipSpace(end + 1);
        return rest == byteCount ? null : new Rejection(Rejection.Kind.TRAILING_BYTES, rest);
    }

    private int skipSpace(int from) {
        int at = from;
        while (true) {
            switch (record.at(at)) {
                case ' ', '\t', '\r', '\n' -> at++;
                default -> {
                    return at;
                }
            }
        }
    }
}
