package io.turbidite.hashlog.parse;

import io.turbidite.core.InvalidRequestException;

/** How the JSON parser finds structural characters: both ways give the same answers. */
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
        if (!isAvailable()) {
            throw new InvalidRequestException(
                    "this JVM has no vectors: start it with --add-modules jdk.incubator.vector");
        }
        return this == VECTOR ? new VectorMasks() : new WordMasks();
    }
}
