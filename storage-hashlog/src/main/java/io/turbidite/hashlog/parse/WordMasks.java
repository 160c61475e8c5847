package io.turbidite.hashlog.parse;

/**
 * The same in plain Java: eight bytes at once are asked whether one of them may matter, and only
 * those that may are looked at one by one. Six exact comparisons of every word, which a direct
 * translation of the vector code needs, cost more than the whole rest of the parser. Collecting the
 * classes in one register instead of an array was a quarter slower on tweets.
 */
final class WordMasks implements BlockMasks {
    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

    private static final int QUOTE = 1;
    private static final int SLASH = 2;
    private static final int COMMA = 3;
    private static final int OPEN = 4;
    private static final int CLOSE = 5;

    /** The class of every byte, 0 for those without meaning. */
    private static final byte[] CLASSES = classes();

    /** Bits by class; class 0 collects what did not matter after all. */
    private final long[] found = new long[8];

    private static byte[] classes() {
        byte[] classes = new byte[256];
        classes['"'] = QUOTE;
        classes['\\'] = SLASH;
        classes[','] = COMMA;
        classes['{'] = OPEN;
        classes['['] = OPEN;
        classes['}'] = CLOSE;
        classes[']'] = CLOSE;
        return classes;
    }

    @Override
    public void read(byte[] bytes, int offset, int blockCount, StructuralIndex into) {
        for (int b = 0; b < blockCount; b++) {
            block(bytes, offset + b * BLOCK_BYTES);
            into.quotes[b] = found[QUOTE];
            into.slashes[b] = found[SLASH];
            into.opens[b] = found[OPEN];
            into.closes[b] = found[CLOSE];
            into.separators[b] = found[COMMA];
        }
    }

    private void block(byte[] bytes, int offset) {
        for (int i = QUOTE; i <= CLOSE; i++) {
            found[i] = 0;
        }
        for (int i = 0; i < BLOCK_BYTES; i += 8) {
            long word = MachineWords.at(bytes, offset + i);
            long candidates = candidates(word);
            while (candidates != 0) {
                int bit = Long.numberOfTrailingZeros(candidates);
                int value = (int) (word >>> (bit - 7)) & 0xFF;
                found[CLASSES[value]] |= 1L << (i + (bit >>> 3));
                candidates &= candidates - 1;
            }
        }
    }

    /**
     * The high bit of each byte that may have a class; a byte above one that has may be named too,
     * as the subtraction borrows: the table decides.
     */
    private static long candidates(long word) {
        // quote and comma keep their value; brackets and backslash become 0x7B to 0x7D
        long folded = word | (0x20 * ONES);
        long quote = folded ^ ('"' * ONES);
        long comma = folded ^ (',' * ONES);
        // 0x7B and more reach the high bit; bytes that had it are masked by ~word
        long brackets = folded + 0x05 * ONES;
        return (((quote - ONES) & ~quote) | ((comma - ONES) & ~comma) | brackets)
                & ~word
                & HIGH_BITS;
    }
}
