package io.turbidite.it.samples;

import static io.turbidite.ops.Predicates.eq;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.feeds.log.LogJoin;
import io.turbidite.feeds.log.OpenLog;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.LogCursor;
import io.turbidite.hashlog.LogQuery;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.lsm.Dataset;
import io.turbidite.ops.run.RunOptions;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The examples of docs/hashlog.md. */
public final class FirstLog {
    private FirstLog() {}

    /**
     * Ingests {@code lines} into a log in {@code directory}; returns the push events, newest first.
     */
    public static List<String> pushes(Path directory, String lines) {
        MemorySegment batch = MemorySegment.ofArray(lines.getBytes(StandardCharsets.UTF_8));
        List<String> found = new ArrayList<>();
        // begin ingestion
        try (OpenLog open = OpenLog.openOrCreate(directory, OpenLog.defaults());
                IngestSession session = open.log().openSession("loader")) {
            open.log().register("type", PsfDefinition.parse("field(type)"));
            session.ingest(batch, 0, batch.byteSize());
            session.awaitDurable();
            try (LogCursor cursor =
                    open.log().find(LogQuery.property("type", "PushEvent").limit(10))) {
                while (cursor.next()) {
                    MemorySegment record =
                            cursor.segment().asSlice(cursor.offset(), cursor.length());
                    found.add(new String(record.toArray(Bytes.U8), StandardCharsets.UTF_8));
                }
            }
        }
        // end ingestion
        return found;
    }

    /** The push events of users in Iceland, each beside its user. */
    public static List<String> joined(HashLog log, Dataset users) {
        List<String> rows = new ArrayList<>();
        // begin join
        LogJoin.Match match =
                new LogJoin.Match(users, List.of("actor.id"), List.of(eq("country", "IS")), false);
        try (LogJoin join = LogJoin.open(
                log, LogQuery.property("type", "PushEvent"), match, RunOptions.defaults())) {
            while (join.next()) {
                Slice event = join.logRecord();
                Slice user = join.record(); // encoded, see users.type()
                rows.add(event.length() + " bytes beside " + user.length());
            }
        }
        // end join
        return rows;
    }
}
