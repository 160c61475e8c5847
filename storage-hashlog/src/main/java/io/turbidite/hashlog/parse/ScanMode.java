package io.turbidite.hashlog.parse;

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

    BlockMasks newMasks() {
        return this == VECTOR ? new VectorMasks() : new WordMasks();
    }
}
