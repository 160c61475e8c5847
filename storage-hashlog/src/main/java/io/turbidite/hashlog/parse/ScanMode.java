package io.turbidite.hashlog.parse;

import io.turbidite.core.InvalidRequestException;

/** How newlines and structural characters of JSON are found: both ways give the same answers. */
public enum ScanMode {
    /** Vectors, of 128 to 512 bits: needs {@code --add-modules jdk.incubator.vector}. */
    VECTOR,
    /** Words of 64 bits: plain Java. */
    WORDS;

    private static final ScanMode BEST =
            ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent() ? VECTOR : WORDS;

    /** Vectors where this JVM was started with the module, words where it was not. */
    public static ScanMode best() {
        return BEST;
    }

    /** Whether this JVM can. */
    public boolean isAvailable() {
        return this == WORDS || BEST == VECTOR;
    }

    BlockMasks newMasks() {
        requireAvailable();
        return this == VECTOR ? new VectorMasks() : new WordMasks();
    }

    /** What finds the ends of lines. */
    public LineEnds newLineEnds() {
        requireAvailable();
        return this == VECTOR ? new VectorLineEnds() : new WordLineEnds();
    }

    private void requireAvailable() {
        if (!isAvailable()) {
            throw new InvalidRequestException(
                    "this JVM has no vectors: start it with --add-modules jdk.incubator.vector");
        }
    }
}
