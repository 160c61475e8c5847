package io.turbidite.feeds.source.file;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.DiskFile;
import io.turbidite.feeds.source.file.FileSource.Head;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipException;

/**
 * The content of gzip members that follow one another (RFC 1952), each proven before it is given
 * out. <em>Confined to one thread.</em>
 *
 * <p>A member says at its end alone whether what it was uncompressed to is right. So it is read
 * twice: once to its checksum and length, then for its content. Invariants:
 *
 * <ol>
 *   <li>{@link #read} gives out content of members that lie before {@link #provenBytes} only.
 *   <li>What is read a second time is, block for block, what was checked the first time: a file
 *       that is written over meanwhile is told before anything of it is given out.
 * </ol>
 *
 * <p>Content ends where the last whole member is followed by nothing, or by zeros alone, as tapes
 * and block devices have them; all else is an {@link IOException}. The JDK's own stream takes a
 * later member whose header is cut or damaged for the end.
 *
 * <p>Memory: two buffers, and four bytes for each 64 KiB of the file.
 */
final class GzipStream implements AutoCloseable {
    static final int MAGIC_FIRST = 0x1f;
    static final int MAGIC_SECOND = 0x8b;

    private static final int METHOD_DEFLATE = 8;
    private static final int FLAG_HEADER_CRC = 2;
    private static final int FLAG_EXTRA = 4;
    private static final int FLAG_NAME = 8;
    private static final int FLAG_COMMENT = 16;
    private static final int FLAGS_RESERVED = 0xE0;

    /** What is read of the file at once, from a multiple of it on. */
    private static final int BLOCK_BYTES = 64 << 10;

    private final DiskFile file;
    private final long fileBytes;
    private final boolean proves;

    private final byte[] block = new byte[BLOCK_BYTES];
    private final MemorySegment blockSegment = MemorySegment.ofArray(block);
    private long blockOffset;
    private int next;
    private int end;

    /** CRC-32C of the blocks that were read so far, in the order of the file. */
    private int[] blockSums = new int[16];

    private int blockCount;
    private final CRC32C blockSum = new CRC32C();

    /** What the file begins with, as it was when it was read first: it may be another by now. */
    private final byte[] firstBytes = new byte[FileSource.HEAD_BYTES];

    private final Inflater inflater = new Inflater(true);
    private final CRC32 crc = new CRC32();
    private final CRC32 headerCrc = new CRC32();

    /** Takes content that nobody wants. */
    private final byte[] scratch = new byte[BLOCK_BYTES];

    /** In a member that may be given out: not before it was proven, if it must be. */
    private boolean inMember;

    private boolean ended;

    /** Where the member's compressed content begins. */
    private long memberData;

    private long provenBytes;

    /** Behind all that was ever read. */
    private long reachedBytes;

    private BooleanSupplier stopped = () -> false;

    /**
     * Starts at the beginning of {@code file}, and closes it in the end.
     *
     * @param fileBytes how much of the file counts
     * @param proves whether members are proven before they are given out; else as they are read
     */
    GzipStream(DiskFile file, long fileBytes, boolean proves) {
        this.file = file;
        this.fileBytes = fileBytes;
        this.proves = proves;
    }

    /** {@code asked} often while content is checked or passed over; that ends when it says yes. */
    void stopWhen(BooleanSupplier asked) {
        stopped = asked;
    }

    /**
     * Reads some content.
     *
     * @return how many bytes, or -1 at the end
     * @throws IOException if what follows is damaged: nothing of it was given out
     * @throws StorageIoException of kind INTERRUPTED if it was stopped
     */
    int read(byte[] target, int offset, int byteCount) throws IOException {
        while (byteCount > 0) {
            if (!inMember) {
                if (!beginMember()) {
                    return -1;
                }
                if (wantsProof()) {
                    var _ = proveMember();
                    rewindMember();
                }
                inMember = true;
            }
            int count = inflate(target, offset, byteCount);
            if (count > 0) {
                return count;
            }
            endMember();
        }
        return 0;
    }

    /**
     * Passes over content; where it stops in a member, that is proven.
     *
     * @return how many bytes were there to be passed over
     */
    long skip(long byteCount) throws IOException {
        long skipped = 0;
        while (skipped < byteCount) {
            if (!inMember) {
                if (!beginMember()) {
                    break;
                }
                if (wantsProof()) {
                    long memberBytes = proveMember();
                    if (memberBytes <= byteCount - skipped) {
                        skipped += memberBytes;
                        continue;
                    }
                    rewindMember();
                }
                inMember = true;
            }
            checkStopped();
            int count = inflate(scratch, 0, (int) Math.min(byteCount - skipped, scratch.length));
            skipped += count;
            if (count == 0) {
                endMember();
            }
        }
        return skipped;
    }

    /** Proves all members that follow, and begins again. */
    void proveAll() throws IOException {
        while (beginMember()) {
            var _ = proveMember();
        }
        restart();
    }

    /** Begins again; what was proven remains so. */
    void restart() throws IOException {
        seek(0);
        inMember = false;
        ended = false;
    }

    /** Where in the file the next byte to be looked at is. */
    long position() {
        return blockOffset + next;
    }

    /** The end of the last member from the beginning on that was proven, with all before it. */
    long provenBytes() {
        return provenBytes;
    }

    /** What the file begins with, as far as that was proven. */
    Head head() {
        return Head.of(firstBytes, (int) Math.min(firstBytes.length, provenBytes));
    }

    /** How much of the work on the file is done, counted in its bytes: each is read twice. */
    long workedBytes() {
        return proves ? (reachedBytes + Math.min(position(), provenBytes)) / 2 : position();
    }

    @Override
    public void close() {
        inflater.end();
        file.close();
    }

    /** Returns false at the end of the content. */
    private boolean beginMember() throws IOException {
        boolean first = position() == 0;
        if (!ended && !first && next == end && !fill()) {
            ended = true;
        } else if (!ended && !first && block[next] == 0) {
            passZeros();
            ended = true;
        }
        if (ended) {
            return false;
        }
        readHeader();
        memberData = position();
        startInflating();
        return true;
    }

    private boolean wantsProof() {
        return proves && memberData > provenBytes;
    }

    /**
     * Reads the member that was begun to its end, and checks it.
     *
     * @return how many bytes its content has
     */
    private long proveMember() throws IOException {
        while (inflate(scratch, 0, scratch.length) > 0) {
            checkStopped();
        }
        long byteCount = inflater.getBytesWritten();
        endMember();
        provenBytes = Math.max(provenBytes, position());
        return byteCount;
    }

    /** Goes back to where the content of the member begins that was just proven. */
    private void rewindMember() throws IOException {
        seek(memberData);
        startInflating();
    }

    private void startInflating() {
        inflater.reset();
        crc.reset();
    }

    private void checkStopped() {
        if (stopped.getAsBoolean()) {
            throw StorageIoException.ofEndedWait("the check of " + file.name(), "it was stopped");
        }
    }

    /** Returns 0 where the member's content ends. */
    private int inflate(byte[] target, int offset, int byteCount) throws IOException {
        try {
            while (true) {
                inflater.setInput(block, next, end - next);
                int count = inflater.inflate(target, offset, byteCount);
                next = end - inflater.getRemaining();
                if (count > 0) {
                    crc.update(target, offset, count);
                    return count;
                }
                if (inflater.finished()) {
                    return 0;
                }
                if (inflater.needsDictionary()) {
                    throw new ZipException(
                            "a member that wants a dictionary, of which gzip has none");
                }
                if (next == end && !fill()) {
                    throw new EOFException("cut in the middle of a member");
                }
            }
        } catch (DataFormatException e) {
            ZipException damaged = new ZipException("a member that is damaged: " + e.getMessage());
            damaged.initCause(e);
            throw damaged;
        }
    }

    private void endMember() throws IOException {
        long wantedCrc = readInt();
        long wantedBytes = readInt();
        if (wantedCrc != crc.getValue()) {
            throw new ZipException("a member whose checksum is wrong");
        }
        if (wantedBytes != (inflater.getBytesWritten() & 0xFFFF_FFFFL)) {
            throw new ZipException("a member whose length is wrong");
        }
        inMember = false;
    }

    private void passZeros() throws IOException {
        do {
            for (; next < end; next++) {
                if (block[next] != 0) {
                    throw new ZipException("neither a member nor zeros alone behind a member");
                }
            }
        } while (fill());
    }

    private void readHeader() throws IOException {
        headerCrc.reset();
        if (readByte() != MAGIC_FIRST || readByte() != MAGIC_SECOND) {
            throw new ZipException("neither a member nor zeros alone behind a member");
        }
        int method = readByte();
        if (method != METHOD_DEFLATE) {
            throw new ZipException("a member that is compressed by method %d".formatted(method));
        }
        int flags = readByte();
        if ((flags & FLAGS_RESERVED) != 0) {
            throw new ZipException("a member that has flags 0x%02x".formatted(flags));
        }
        pass(6); // time, how hard it was compressed, operating system
        if ((flags & FLAG_EXTRA) != 0) {
            int low = readByte();
            pass(low | readByte() << Byte.SIZE);
        }
        if ((flags & FLAG_NAME) != 0) {
            passText();
        }
        if ((flags & FLAG_COMMENT) != 0) {
            passText();
        }
        if ((flags & FLAG_HEADER_CRC) != 0) {
            long wanted = headerCrc.getValue() & 0xFFFF;
            int low = readByte();
            if ((low | readByte() << Byte.SIZE) != wanted) {
                throw new ZipException("a member whose header's checksum is wrong");
            }
        }
    }

    private void pass(int byteCount) throws IOException {
        for (int i = 0; i < byteCount; i++) {
            var _ = readByte();
        }
    }

    private void passText() throws IOException {
        int b = readByte();
        while (b != 0) {
            b = readByte();
        }
    }

    /** Little-endian, unsigned. */
    private long readInt() throws IOException {
        long value = 0;
        for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
            value |= (long) readByte() << shift;
        }
        return value;
    }

    private int readByte() throws IOException {
        if (next == end && !fill()) {
            throw new EOFException("cut in a member's header or trailer");
        }
        int b = block[next++] & 0xFF;
        headerCrc.update(b);
        return b;
    }

    private void seek(long offset) throws IOException {
        if (offset < blockOffset || offset > blockOffset + end) {
            load(offset - offset % BLOCK_BYTES);
        }
        next = (int) (offset - blockOffset);
    }

    /** Reads the next block; false if there is none. */
    private boolean fill() throws IOException {
        if (end % BLOCK_BYTES != 0) {
            return false; // the last one
        }
        load(blockOffset + end);
        return end > 0;
    }

    private void load(long offset) throws IOException {
        int count = (int) Math.min(BLOCK_BYTES, fileBytes - offset);
        end = count <= 0 ? 0 : file.read(offset, blockSegment, 0, count);
        blockOffset = offset;
        next = 0;
        reachedBytes = Math.max(reachedBytes, offset + end);
        if (blockCount == 0) {
            System.arraycopy(block, 0, firstBytes, 0, Math.min(firstBytes.length, end));
        }
        checkUnchanged((int) (offset / BLOCK_BYTES));
    }

    /** Blocks are read in sequence the first time. */
    private void checkUnchanged(int index) throws IOException {
        blockSum.reset();
        blockSum.update(block, 0, end);
        int sum = (int) blockSum.getValue();
        if (index == blockCount) {
            if (blockCount == blockSums.length) {
                blockSums = Arrays.copyOf(blockSums, 2 * blockCount);
            }
            blockSums[blockCount++] = sum;
        } else if (blockSums[index] != sum) {
            throw new ZipException(
                    "other than it was when it was checked just before: the file is being written");
        }
    }
}
