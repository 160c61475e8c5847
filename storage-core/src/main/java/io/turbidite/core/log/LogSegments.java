package io.turbidite.core.log;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.FileHeader;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The segment files of a log, as recovery finds them. <em>Confined to one thread.</em>
 */
final class LogSegments {
    private final LogEnvironment environment;
    private final Disk disk;
    private final List<FoundSegment> found = new ArrayList<>();

    LogSegments(LogEnvironment environment) {
        this.environment = environment;
        this.disk = environment.disk();
    }

    /**
     * Opens all segment files, in the order of their first sequences; those that have none come
     * last. After a failure {@link #close} them.
     */
    void open() {
        List<Long> numbers = new ArrayList<>();
        // who only looks makes no directory: without one there are no segments, and that is checked
        // below
        List<String> names = disk.exists(environment.directory())
                ? disk.list(environment.directory())
                : List.of();
        for (String name : names) {
            long number = Segment.numberOf(name);
            if (number >= 0) {
                numbers.add(number);
            }
        }
        numbers.sort(Long::compare);
        for (long number : numbers) {
            DiskFile file = disk.open(Segment.name(environment.directory(), number));
            FoundSegment segment = new FoundSegment(number, file);
            found.add(segment);
            Segment.lock(disk, file);
            checkHeader(segment);
            try (SegmentReader reader = reader(segment)) {
                if (reader.read(Segment.FIRST_FRAME_OFFSET)
                        && reader.head.kind == FrameFormat.KIND_SEGMENT) {
                    segment.firstSequence = reader.head.sequence;
                    segment.firstSession = reader.head.session;
                }
            }
        }
        found.sort(Comparator.comparingLong(FoundSegment::order)); // stable: else by number
    }

    /** Sets what is wrong with the header, if anything. */
    private void checkHeader(FoundSegment segment) {
        String name = segment.file.name();
        FileHeader header;
        try {
            header = FileHeader.readFrom(segment.file);
            // one that was never synced may show what another file has left on its blocks
            header.checkFormat(name, Segment.FORMAT);
        } catch (CorruptionException e) {
            segment.damage = e;
            return;
        }
        header.check(name, Segment.FORMAT, Segment.FORMAT_VERSION);
        header.checkOwner(name, environment.storeId(), header.fileId());
        try {
            header.checkOwner(name, environment.storeId(), segment.number);
            long expected = Segment.capacityBytes(header);
            if (segment.file.size() != expected) {
                throw new CorruptionException(
                        name,
                        segment.file.size(),
                        "segment",
                        expected + " bytes long",
                        segment.file.size() + " bytes long");
            }
        } catch (CorruptionException e) {
            segment.damage = e;
            segment.hasHeader = true;
        }
        segment.spaceBytes = Segment.spaceBytes(header);
    }

    /**
     * Finds the last segment whose first record is at or below a position; what lies before is not
     * needed.
     *
     * @return its index, or -1 if there are no records
     * @throws CorruptionException if there is none, and records are needed
     */
    int findBegin(long startPosition) {
        int last = -1;
        for (int i = 0; i < found.size(); i++) {
            FoundSegment segment = found.get(i);
            boolean mayBegin = segment.firstSequence >= 0 && segment.firstSequence <= startPosition;
            // Of two that begin alike one holds nothing, and may be on its way to be deleted.
            boolean alike = last >= 0 && found.get(last).firstSequence == segment.firstSequence;
            if (mayBegin && (!alike || segment.damage == null)) {
                last = i;
            }
        }
        last = withAlikeInFront(last);
        for (int i = Math.max(0, last); i < found.size(); i++) {
            found.get(i).requireWhole();
        }
        if (last >= 0) {
            found.get(last).requireHeader();
        } else if (startPosition > 0) {
            throw new CorruptionException(
                    nameOfUnreadable(),
                    0,
                    "record %d of the log".formatted(startPosition),
                    "in a segment, since the manifest names it,",
                    describeSegments());
        }
        return last;
    }

    /**
     * Moves what begins as the segment where replay begins in front of it; returns where that is
     * then.
     */
    private int withAlikeInFront(int index) {
        int first = index;
        while (first >= 0
                && first + 1 < found.size()
                && found.get(first + 1).firstSequence == found.get(first).firstSequence) {
            found.add(first, found.remove(first + 1));
            first++;
        }
        return first;
    }

    /**
     * The first segment that can't be read; the directory if they all can, as one is not there
     * then.
     */
    private String nameOfUnreadable() {
        return found.stream()
                .filter(segment -> segment.damage != null)
                .map(segment -> segment.file.name())
                .findFirst()
                .orElse(environment.directory());
    }

    private String describeSegments() {
        StringBuilder text = new StringBuilder("in none of %d segments".formatted(found.size()));
        for (FoundSegment segment : found) {
            text.append(", ").append(segment.file.name());
            if (segment.damage != null) {
                text.append(" is unreadable (%d bytes)".formatted(segment.file.size()));
            } else if (segment.firstSequence < 0) {
                text.append(" has no first record");
            } else {
                text.append(" begins with ").append(segment.firstSequence);
            }
        }
        return text.toString();
    }

    int count() {
        return found.size();
    }

    FoundSegment get(int index) {
        return found.get(index);
    }

    List<FoundSegment> all() {
        return found;
    }

    /** The index of the segment of that number; {@link #count} if there is none. */
    int indexOf(long number) {
        int index = 0;
        while (index < found.size() && found.get(index).number != number) {
            index++;
        }
        return index;
    }

    /** Where the log is, for messages, when it ends in a segment. */
    String nameOf(int index) {
        return found.isEmpty() ? environment.directory() : found.get(index).file.name();
    }

    SegmentReader reader(FoundSegment segment) {
        return new SegmentReader(segment.file, environment.storeId(), segment.number);
    }

    /** Closes all files. */
    void close() {
        for (FoundSegment segment : found) {
            segment.file.close();
        }
    }
}
