package io.turbidite.core.log;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.Disk;
import io.turbidite.core.log.FrameFormat.FrameHead;

import java.util.ArrayList;
import java.util.List;

/**
 * Opens the log: finds where it begins, replays it, tells a torn end from damage, and hardens what
 * was found.
 *
 * <ol>
 *   <li>{@link LogSegments#open List} the segment files, in the order of their first sequences;
 *       those that have none come last.
 *   <li>{@link LogSegments#findBegin Begin} at the last one whose first record is at or below
 *       the start position; what lies before is not needed.
 *   <li>{@link LogWalk Walk} the frames, and replay the records from the start position on.
 *   <li>{@link #survey Survey} everything behind the last good frame. A frame there that was
 *       written when more had been synced than the walk has found proves damage: that is a {@link
 *       CorruptionException}. Otherwise what is there never counted as durable, and the end is
 *       torn.
 *   <li>{@link #harden Harden}: write the frames that nothing proves durable once more, and
 *       sync. After a failed sync the page cache may show bytes that the disk does not have, and
 *       the next sync of clean pages succeeds without writing them. Behind a clean close only the
 *       seal is not proven, and is left to the session that writes something: opening alone writes
 *       nothing then.
 *   <li>{@link #tidy Tidy up}: files that are not needed are deleted, before anything new is
 *       written.
 * </ol>
 *
 * <p>Recovery changes no record, so a crash inside it leads to the same result. A session's mark,
 * written before its first record, is what makes the cut of a torn end final.
 *
 * <p><em>Confined to one thread.</em>
 */
final class LogRecovery {
    private final Disk disk;
    private final LogEnvironment environment;
    private final LogOptions options;
    private final long startPosition;
    private final LogSegments found;
    private final LogWalk walk;

    private LogRecovery(
            LogEnvironment environment,
            LogOptions options,
            long startPosition,
            LogSegments found,
            LogWalk walk) {
        this.disk = environment.disk();
        this.environment = environment;
        this.options = options;
        this.startPosition = startPosition;
        this.found = found;
        this.walk = walk;
    }

    /**
     * Replays from {@code startPosition} on and returns where to go on; opened files are the
     * result's.
     */
    static RecoveredLog recover(
            LogEnvironment environment,
            LogOptions options,
            long startPosition,
            ReplayVisitor visitor) {
        environment.disk().createDirectories(environment.directory());
        LogSegments found = new LogSegments(environment);
        try (Undo undo = Undo.of(found::close)) {
            LogRecovery recovery = replay(environment, options, startPosition, found, visitor);
            if (!recovery.walk.isSealed()) {
                recovery.harden();
            }
            return undo.keep(recovery.tidy());
        }
    }

    /**
     * As {@link #recover}, and changes no byte: nothing is hardened or tidied, so that what it
     * returns is good for nothing but closing its files.
     */
    static RecoveredLog look(
            LogEnvironment environment,
            LogOptions options,
            long startPosition,
            ReplayVisitor visitor) {
        LogSegments found = new LogSegments(environment);
        try (Undo undo = Undo.of(found::close)) {
            return undo.keep(
                    replay(environment, options, startPosition, found, visitor).found());
        }
    }

    private static LogRecovery replay(
            LogEnvironment environment,
            LogOptions options,
            long startPosition,
            LogSegments found,
            ReplayVisitor visitor) {
        found.open();
        int begin = found.findBegin(startPosition);
        LogWalk walk = new LogWalk(found, begin, startPosition, visitor);
        walk.run();
        LogRecovery recovery = new LogRecovery(environment, options, startPosition, found, walk);
        recovery.survey();
        return recovery;
    }

    /** All segments, in use or not: they are open. */
    private RecoveredLog found() {
        List<Segment> segments = found.all().stream().map(FoundSegment::inUse).toList();
        return new RecoveredLog(segments, null, walk.next(), walk.next(), walk.sessionMax() + 1, 1);
    }

    private void survey() {
        for (int i = walk.end(); i < found.count(); i++) {
            FoundSegment segment = found.get(i);
            long from = i == walk.end() ? segment.usedBytes : Segment.FIRST_FRAME_OFFSET;
            try (SegmentReader reader = found.reader(segment)) {
                long offset = reader.search(from);
                while (offset >= 0) {
                    segment.hasFrames = true;
                    checkTorn(segment, reader.head);
                    offset = reader.search(offset + FrameFormat.frameBytes(reader.head.length));
                }
            }
            if (segment.hasFrames) {
                segment.requireHeader(); // it was synced before any frame was written
            }
        }
        if (walk.next() < startPosition) {
            throw new CorruptionException(
                    found.nameOf(walk.end()),
                    found.count() == 0 ? 0 : found.get(walk.end()).usedBytes,
                    "the log",
                    "reaching position " + startPosition + ", which the manifest names",
                    "ending at " + walk.next());
        }
    }

    private void checkTorn(FoundSegment segment, FrameHead head) {
        walk.noteSession(head.session);
        if (head.durable > walk.next()) {
            FoundSegment damaged = found.get(walk.end());
            throw new CorruptionException(
                    damaged.file.name(),
                    damaged.usedBytes,
                    "log record " + walk.next(),
                    "whole, since record %d in segment %d was written after it had been synced"
                            .formatted(head.sequence, segment.number),
                    "damaged or missing");
        }
    }

    private void harden() {
        for (int i = walk.begin(); i <= walk.end() && i < found.count(); i++) {
            FoundSegment segment = found.get(i);
            boolean rewritten = false;
            try (SegmentReader reader = found.reader(segment)) {
                long offset = Segment.FIRST_FRAME_OFFSET;
                Slice frame = new Slice();
                while (offset < segment.usedBytes && reader.read(offset)) {
                    if (reader.head.sequence >= walk.durable()) {
                        reader.frame(offset, frame);
                        segment.file.write(offset, frame.segment(), frame.offset(), frame.length());
                        rewritten = true;
                    }
                    offset += FrameFormat.frameBytes(reader.head.length);
                }
            }
            if (rewritten) {
                segment.file.sync();
            }
        }
    }

    private RecoveredLog tidy() {
        List<Segment> segments = new ArrayList<>();
        Segment spare = null;
        boolean deleted = false;
        for (int i = 0; i < found.count(); i++) {
            FoundSegment segment = found.get(i);
            // The segment behind a full one is in use, even if its first frame has been torn away.
            boolean inUse = i >= walk.begin() && i <= walk.end() && segment.firstSequence >= 0;
            if (inUse) {
                segments.add(segment.inUse());
            } else if (spare == null
                    && i >= walk.begin()
                    && segment.isSpare(options, options.writesAhead(disk))) {
                spare = segment.spare();
            } else {
                if (i < walk.begin() || !segment.hasFrames) {
                    wipeHeader(segment); // what the survey asks of others stays
                }
                segment.file.close();
                disk.delete(segment.file.name());
                deleted = true;
            }
        }
        if (deleted) {
            disk.syncDirectory(environment.directory());
        }
        long nextNumber = 1
                + found.all().stream()
                        .mapToLong(segment -> segment.number)
                        .max()
                        .orElse(0);
        long proven = walk.isSealed() ? walk.durable() : walk.next();
        return new RecoveredLog(
                segments, spare, walk.next(), proven, walk.sessionMax() + 1, nextNumber);
    }

    /**
     * A full disk may refuse to write the header of a file whose making was cut short. Then no
     * block has ever been there, or the file system writes each one to a new place: in neither case
     * can a file made later show the header, so the opening need not fail for it.
     */
    private static void wipeHeader(FoundSegment segment) {
        try {
            Segment.wipeHeader(segment.file);
        } catch (StorageIoException e) {
            if (e.kind() != StorageIoException.Kind.NO_SPACE) {
                throw e;
            }
        }
    }
}
