package io.turbidite.feeds.store;

/**
 * How far a feed has got with a file. <em>Immutable.</em>
 *
 * @param offset bytes of the (uncompressed) content that are delivered
 * @param line the line that begins there, from 1
 * @param ended whether that was the end of the content
 * @param records how many records of it the store has accepted
 * @param rejected how many became dead letters
 * @param head what the file began with
 */
public record FilePosition(
        long offset, long line, boolean ended, long records, long rejected, FileHead head) {
    /** Where a file begins. */
    public static FilePosition start(FileHead head) {
        return new FilePosition(0, 1, false, 0, 0, head);
    }

    /**
     * What a file begins with: tells a file from another that has taken its name.
     *
     * @param byteCount how many bytes of the file as it lies there, from its start
     * @param crc32c of those
     */
    public record FileHead(int byteCount, long crc32c) {}
}
