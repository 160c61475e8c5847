package io.turbidite.lsm.sort;

import io.turbidite.core.file.Disk;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.sort.RunStorage;
import io.turbidite.core.sort.SortMemory;
import io.turbidite.lsm.memory.ChunkSource;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;

/**
 * Where a sort takes place. Immutable.
 *
 * @param disk for run files, which lie among the components
 * @param chunks all memory that a sort takes: what it sorts in, and a buffer for each run
 * @param ownerId the store's, stands in the runs' headers
 * @param newFileId numbers that no other file has
 * @param fileName of the run with a number
 * @param spilledBytes counts what is written to runs
 */
public record SortStorage(
        Disk disk,
        ChunkSource chunks,
        long ownerId,
        LongSupplier newFileId,
        LongFunction<String> fileName,
        Counter spilledBytes)
        implements RunStorage {
    /** Memory for entries up to {@code bytesMax}; a first piece there always is. */
    SortMemory memory(long bytesMax) {
        return new SortMemory() {
            private long takenBytes;

            @Override
            public @Nullable MemorySegment take(long bytesMin) {
                long bytes = Math.max(bytesMin, chunks.chunkBytes());
                if (takenBytes > 0 && takenBytes + bytes > bytesMax) {
                    return null;
                }
                MemorySegment piece = takeBuffer(bytes);
                takenBytes += bytes;
                return piece;
            }

            @Override
            public void give(MemorySegment piece) {
                takenBytes -= piece.byteSize();
                giveBuffer(piece);
            }
        };
    }

    @Override
    public long newNumber() {
        return newFileId.getAsLong();
    }

    @Override
    public String nameOf(long number) {
        return fileName.apply(number);
    }

    @Override
    public int blockBytes() {
        return chunks.chunkBytes();
    }

    @Override
    public MemorySegment takeBuffer(long bytesMin) {
        return bytesMin <= chunks.chunkBytes() ? chunks.take() : chunks.takeOversized(bytesMin);
    }

    @Override
    public void giveBuffer(MemorySegment buffer) {
        if (buffer.byteSize() == chunks.chunkBytes()) {
            chunks.give(buffer);
        } else {
            chunks.giveOversized(buffer);
        }
    }

    @Override
    public void written(long bytes) {
        spilledBytes.add(bytes);
    }
}
