package io.turbidite.core.log;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * Where recovery found the end, for writer and keeper to go on from. <em>Immutable.</em>
 *
 * @param segments in use, oldest first; the last one is where writing goes on; empty for a fresh log
 * @param spare a prepared segment that recovery found, or null
 * @param next the sequence after the last one found
 * @param session number for the session that begins: greater than any found
 * @param nextNumber greater than any segment's number
 */
record RecoveredLog(
        List<Segment> segments, @Nullable Segment spare, long next, int session, long nextNumber) {}
