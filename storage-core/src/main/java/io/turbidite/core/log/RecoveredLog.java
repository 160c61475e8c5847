package io.turbidite.core.log;

import io.turbidite.core.Cleanup;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * Where recovery found the end, for writer and keeper to go on from. <em>Immutable.</em>
 *
 * @param segments in use, oldest first; the last one is where writing goes on; empty for a fresh
 *     log
 * @param spare a prepared segment that recovery found, or null
 * @param next the sequence after the last one found
 * @param proven everything below is on disk; what lies between it and {@code next}, if anything, is
 *     the seal of a clean close, the last frame of the last segment
 * @param session number for the session that begins: greater than any found
 * @param nextNumber greater than any segment's number
 */
record RecoveredLog(
        List<Segment> segments,
        @Nullable Segment spare,
        long next,
        long proven,
        int session,
        long nextNumber) {
    /** For who does not go on from here. */
    void closeFiles() {
        Cleanup all = new Cleanup().addAll(segments, Segment::close);
        if (spare != null) {
            all.add(spare::close);
        }
        all.run();
    }
}
