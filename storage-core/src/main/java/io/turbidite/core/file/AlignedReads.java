package io.turbidite.core.file;

import java.lang.foreign.MemorySegment;

/**
 * A direct file for readers of any range into any memory: the blocks around the range go into a
 * borrowed buffer and the range from there to the caller, unless all is aligned already.
 *
 * <p><em>Thread-safe</em> as the direct file is, which it owns; each read has a buffer of its own.
 */
final class AlignedReads implements ForwardingFile {
    private final DiskFile file;
    private final AlignedBuffers buffers;
    private final int blockBytes;

    AlignedReads(DiskFile file, AlignedBuffers buffers) {
        this.file = file;
        this.buffers = buffers;
        this.blockBytes = file.blockBytes();
    }

    @Override
    public DiskFile file() {
        return file;
    }

    @Override
    public int read(long fileOffset, MemorySegment target, long targetOffset, int byteCount) {
        if (target.isNative()
                && ((fileOffset | byteCount | (target.address() + targetOffset)) & (blockBytes - 1))
                        == 0) {
            return file.read(fileOffset, target, targetOffset, byteCount);
        }
        MemorySegment buffer = buffers.take();
        try {
            int done = 0;
            while (done < byteCount) {
                long from = fileOffset + done;
                int lead = (int) (from & (blockBytes - 1));
                int wanted = Math.min(byteCount - done, AlignedBuffers.BYTES - lead);
                int blocks = lead + wanted + blockBytes - 1 & -blockBytes;
                int there = Math.min(file.read(from - lead, buffer, 0, blocks) - lead, wanted);
                if (there > 0) {
                    MemorySegment.copy(buffer, lead, target, targetOffset + done, there);
                    done += there;
                }
                if (there < wanted) {
                    break; // the file ends
                }
            }
            return done;
        } finally {
            buffers.give(buffer);
        }
    }

    @Override
    public String toString() {
        return "AlignedReads[" + file.name() + "]";
    }
}
