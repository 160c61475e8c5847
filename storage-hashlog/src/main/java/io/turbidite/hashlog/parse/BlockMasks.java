package io.turbidite.hashlog.parse;

/**
 * Stage one of the JSON parser: where in each block of 64 bytes the characters lie that give JSON
 * its shape. Two ways of finding them ({@link VectorMasks}, {@link WordMasks}), one answer.
 * <em>Confined to one thread.</em>
 */
interface BlockMasks {
    int BLOCK_BYTES = 64;

    /**
     * Sets bit i of the masks of block b, for b in 0..blockCount-1, if byte i of that block is the
     * character: {@code quotes}, {@code slashes}, {@code opens}, {@code closes}, and commas in
     * {@code separators}. Looks neither at strings nor at escapes.
     *
     * @param offset where the first block starts; all blocks lie within the array
     */
    void read(byte[] bytes, int offset, int blockCount, StructuralIndex into);
}
