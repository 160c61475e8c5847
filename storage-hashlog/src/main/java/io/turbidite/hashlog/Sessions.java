package io.turbidite.hashlog;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;
import io.turbidite.hashlog.log.SessionMark;
import io.turbidite.hashlog.recovery.SessionPoint;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The sessions of a log by name: which are open, how far each had come at the log's opening, and
 * how far it has come since. <em>Thread-safe.</em>
 */
final class Sessions {
    private final HashLog log;
    private final Counters counters;
    private final Map<String, SessionPoint> recovered;
    private final ConcurrentHashMap<String, SessionPoint> marks;

    /** The names of the open sessions; guarded by itself. */
    private final Set<String> names = new HashSet<>();

    Sessions(HashLog log, Map<String, SessionPoint> recovered, Meters meters) {
        this.log = log;
        this.recovered = recovered;
        this.marks = new ConcurrentHashMap<>(recovered);
        this.counters = Counters.of(meters);
    }

    /** The counters that all sessions share. */
    record Counters(
            Counter accepted, Counter rejected, Counter payloadBytes, Counter hardInsertions) {
        static Counters of(Meters meters) {
            return new Counters(
                    meters.counter("hashlog.ingest.records"),
                    meters.counter("hashlog.ingest.rejected"),
                    meters.counter("hashlog.ingest.bytes"),
                    meters.counter("hashlog.chain.contended"));
        }
    }

    /** {@link HashLog#openSession(String, long, RejectedRecord.Listener)}. */
    IngestSession open(
            Callers.Caller caller,
            String name,
            long startSerial,
            RejectedRecord.Listener listener) {
        int nameBytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (nameBytes == 0 || nameBytes > SessionMark.NAME_BYTES_MAX || startSerial < 0) {
            throw new InvalidRequestException(
                    "a session needs a name of 1 to 256 bytes and a start serial of 0 or more: '%s', %d"
                            .formatted(name, startSerial));
        }
        synchronized (names) {
            if (!names.add(name)) {
                throw new InvalidRequestException(
                        "a session '%s' is open: close it, or take another name".formatted(name));
            }
        }
        try (Undo undo = Undo.of(() -> closed(name))) {
            return undo.keep(new IngestSession(log, caller, name, startSerial, listener));
        }
    }

    Counters counters() {
        return counters;
    }

    /** Frees the name of a closed session. */
    void closed(String name) {
        synchronized (names) {
            names.remove(name);
        }
    }

    /** Notes that a session has left a mark in the log. */
    void marked(String name, long serial, long address) {
        marks.put(name, new SessionPoint(serial, address));
    }

    /** The newest mark of each session. */
    Map<String, SessionPoint> points() {
        return Map.copyOf(marks);
    }

    /** How many records of a session the log held at its opening. */
    long recoveredSerial(String name) {
        SessionPoint point = recovered.get(name);
        return point == null ? 0 : point.serial();
    }

    Set<String> recovered() {
        return recovered.keySet();
    }
}
