package io.turbidite.core.log;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.file.DiskFile;

import org.jspecify.annotations.Nullable;

/**
 * A segment file as recovery found it. <em>Confined to one thread.</em>
 */
final class FoundSegment {
    final long number;
    final DiskFile file;

    /** What is wrong with header or length, if anything. */
    @Nullable
    CorruptionException damage;

    /** Whether what is wrong is not the header itself. */
    boolean hasHeader;

    /** From its first frame; −1 if there is none. */
    long firstSequence = -1;

    int firstSession;

    /** How far it is known to have been written once. */
    long spaceBytes;

    long usedBytes = Segment.FIRST_FRAME_OFFSET;
    boolean hasFrames;

    FoundSegment(long number, DiskFile file) {
        this.number = number;
        this.file = file;
    }

    /**
     * An unreadable header may be that of an unfinished preparation; a sound one of another
     * segment, or of a longer file, can't be: it is written last.
     */
    void requireWhole() {
        if (hasHeader) {
            requireHeader();
        }
    }

    void requireHeader() {
        if (damage != null) {
            throw damage;
        }
    }

    /** Where it stands in the log. */
    long order() {
        return firstSequence < 0 ? Long.MAX_VALUE : firstSequence;
    }

    boolean isSpare(LogOptions options, boolean writesAhead) {
        long wanted = writesAhead ? options.segmentBytes() : 0;
        return damage == null
                && !hasFrames
                && usedBytes == Segment.FIRST_FRAME_OFFSET
                && file.size() == options.segmentBytes()
                && spaceBytes >= wanted;
    }

    Segment spare() {
        return new Segment(number, file, file.size(), spaceBytes);
    }

    Segment inUse() {
        Segment segment = spare();
        segment.firstSequence = firstSequence;
        segment.usedBytes = usedBytes;
        segment.syncedBytes = usedBytes;
        return segment;
    }
}
