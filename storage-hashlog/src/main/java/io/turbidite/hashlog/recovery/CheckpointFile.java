package io.turbidite.hashlog.recovery;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * The file of an index checkpoint: a stream of 64-bit words in checksummed blocks, within the
 * envelope.
 *
 * <p><em>Stateless;</em> {@link Writer} and {@link Reader} are confined to one thread. All
 * little-endian.
 *
 * <pre>
 * offset  bytes field
 *      0     64 {@link FileHeader}, format "hashlog-index", version 1, storeId = log's id, fileId = number
 *     64    8+n blocks, each of 64 KiB but for the last
 *     ..     64 {@link FileFooter}; its payload checksum is of the blocks' checksums in order
 *
 * block: offset bytes field
 *             0     4 wordCount   1 to 8191; only the last block has fewer than 8191
 *             4     4 checksum    masked CRC32C of the block's number (8 bytes), wordCount and words
 *             8     n words
 *
 * words  := baseBits, doublings, from, bucket*, -1, deletions, address*, sessions, session*, end
 * bucket := index in bits 0 to 31, entry count in bits 32 to 61, folded in bit 62; then its entries
 * session := serial, address of its mark, bytes of its name, name padded with zeros to words
 * </pre>
 *
 * <p>{@code from} is the safe tail before the first bucket was read: a replay from there finds all
 * that the buckets may lack. {@code end} is the tail after everything was read: no word names a
 * higher address, and the log was durable to there before the file got its name.
 */
final class CheckpointFile {
    static final String FORMAT = "hashlog-index";
    static final int VERSION = 1;
    static final int BLOCK_BYTES = 64 << 10;
    static final int COUNT_OFFSET = 0;
    static final int CHECKSUM_OFFSET = COUNT_OFFSET + 4;
    static final int WORDS_OFFSET = CHECKSUM_OFFSET + 4;
    static final int WORD_COUNT_MAX = (BLOCK_BYTES - WORDS_OFFSET) / 8;

    private CheckpointFile() {}

    private static int checksum(Crc32c crc, long block, int wordCount, MemorySegment buffer) {
        return crc.begin()
                .updateLong(block)
                .updateInt(wordCount)
                .update(buffer, WORDS_OFFSET, wordCount * 8L)
                .value();
    }

    /** Appends words; {@link #finish} makes the file whole and durable. */
    static final class Writer {
        private final DiskFile file;
        private final long logId;
        private final long number;
        private final MemorySegment buffer = MemorySegment.ofArray(new byte[BLOCK_BYTES]);
        private final Crc32c crc = new Crc32c();
        private final Crc32c total = new Crc32c().begin();
        private long blockCount;
        private int wordCount;
        private long position = FileHeader.BYTES;

        Writer(DiskFile file, long logId, long number) {
            this.file = file;
            this.logId = logId;
            this.number = number;
            new FileHeader(FORMAT, VERSION, 0, logId, number).writeTo(file);
        }

        void word(long word) {
            buffer.set(Bytes.I64, WORDS_OFFSET + 8L * wordCount, word);
            wordCount++;
            if (wordCount == WORD_COUNT_MAX) {
                writeBlock();
            }
        }

        void text(String text) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            word(utf8.length);
            MemorySegment padded = MemorySegment.ofArray(new byte[(utf8.length + 7) & -8]);
            MemorySegment.copy(utf8, 0, padded, Bytes.U8, 0, utf8.length);
            for (long at = 0; at < padded.byteSize(); at += 8) {
                word(padded.get(Bytes.I64, at));
            }
        }

        private void writeBlock() {
            int checksum = checksum(crc, blockCount, wordCount, buffer);
            buffer.set(Bytes.I32, COUNT_OFFSET, wordCount);
            buffer.set(Bytes.I32, CHECKSUM_OFFSET, checksum);
            int byteCount = WORDS_OFFSET + 8 * wordCount;
            file.write(position, buffer, 0, byteCount);
            position += byteCount;
            total.updateInt(checksum);
            blockCount++;
            wordCount = 0;
        }

        /** Returns the bytes of the file. */
        long finish() {
            if (wordCount > 0) {
                writeBlock();
            }
            long payloadBytes = position - FileHeader.BYTES;
            MemorySegment footer = MemorySegment.ofArray(new byte[FileFooter.BYTES]);
            new FileFooter(FileHeader.BYTES, payloadBytes, total.value(), logId, number)
                    .write(footer, 0);
            file.write(position, footer, 0, FileFooter.BYTES);
            file.sync();
            return position + FileFooter.BYTES;
        }
    }

    /**
     * Reads words; each was verified. Requires at the end that there are no more and none is
     * missing.
     */
    static final class Reader {
        private final DiskFile file;
        private final FileFooter footer;
        private final MemorySegment buffer = MemorySegment.ofArray(new byte[BLOCK_BYTES]);
        private final Crc32c crc = new Crc32c();
        private final Crc32c total = new Crc32c().begin();
        private final long payloadEnd;
        private long blockCount;
        private int wordCount;
        private int next;
        private long position = FileHeader.BYTES;

        /**
         * Verifies header and footer.
         *
         * @throws CorruptionException if they are damaged, or those of another file
         * @throws io.turbidite.core.FormatVersionException if another release wrote it
         */
        Reader(DiskFile file, long logId, long number) {
            this.file = file;
            FileHeader header = FileHeader.readFrom(file)
                    .check(file.name(), FORMAT, VERSION)
                    .checkOwner(file.name(), logId, number);
            long fileBytes = file.size();
            this.footer = FileFooter.readFrom(file).checkOwner(file.name(), fileBytes, header);
            this.payloadEnd = fileBytes - FileFooter.BYTES;
            if (footer.payloadOffset() != FileHeader.BYTES
                    || footer.payloadBytes() != payloadEnd - FileHeader.BYTES) {
                throw wrong("payload bytes", payloadEnd - FileHeader.BYTES, footer.payloadBytes());
            }
        }

        long word() {
            if (next == wordCount) {
                readBlock();
            }
            return buffer.get(Bytes.I64, WORDS_OFFSET + 8L * next++);
        }

        /** A word that must be {@code min} to {@code max}. */
        long word(String what, long min, long max) {
            long word = word();
            if (word < min || word > max) {
                throw new CorruptionException(
                        file.name(),
                        position,
                        what,
                        "%d to %d".formatted(min, max),
                        Long.toString(word));
            }
            return word;
        }

        String text(int byteCountMax) {
            byte[] utf8 = new byte[(int) word("text bytes", 0, byteCountMax)];
            MemorySegment padded = MemorySegment.ofArray(new byte[(utf8.length + 7) & -8]);
            for (long at = 0; at < padded.byteSize(); at += 8) {
                padded.set(Bytes.I64, at, word());
            }
            MemorySegment.copy(padded, Bytes.U8, 0, utf8, 0, utf8.length);
            return new String(utf8, StandardCharsets.UTF_8);
        }

        private void readBlock() {
            int byteCount = (int) Math.min(BLOCK_BYTES, payloadEnd - position);
            int found = byteCount <= WORDS_OFFSET ? 0 : file.read(position, buffer, 0, byteCount);
            if (found < byteCount || byteCount <= WORDS_OFFSET) {
                throw wrong("block bytes", byteCount, found);
            }
            int count = buffer.get(Bytes.I32, COUNT_OFFSET);
            if (count < 1 || count > WORD_COUNT_MAX || WORDS_OFFSET + 8 * count != byteCount) {
                throw wrong("words of the block", (byteCount - WORDS_OFFSET) / 8, count);
            }
            int stored = buffer.get(Bytes.I32, CHECKSUM_OFFSET);
            int computed = checksum(crc, blockCount, count, buffer);
            if (stored != computed) {
                throw wrong("block checksum", computed, stored);
            }
            total.updateInt(stored);
            position += byteCount;
            blockCount++;
            wordCount = count;
            next = 0;
        }

        void finish() {
            if (next != wordCount || position != payloadEnd) {
                throw wrong("end of the words", payloadEnd, position);
            }
            int computed = total.value();
            if (computed != footer.payloadChecksum()) {
                throw wrong("payload checksum", footer.payloadChecksum(), computed);
            }
        }

        CorruptionException wrong(String what, long expected, long found) {
            return new CorruptionException(
                    file.name(), position, what, Long.toString(expected), Long.toString(found));
        }
    }
}
