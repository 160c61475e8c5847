package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.hashlog.chain.ChainWalk;
import io.turbidite.hashlog.chain.Property;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogScan;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.registry.Interval;
import io.turbidite.hashlog.registry.RegisteredPsf;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * All that a log of {@link #event}s shows: for comparing a log with itself after a recovery, and
 * chains with scans.
 *
 * @param all records by address, deleted ones too
 * @param records those that queries show
 */
record LogState(
        long begin,
        long tail,
        TreeMap<Long, String> all,
        TreeMap<Long, String> records,
        List<RegisteredPsf> psfs) {
    static final int TYPE_COUNT = 3;

    /** Event {@code n} of session {@code name}. */
    static String event(String name, int n) {
        return "{\"w\":\"%s\",\"n\":%d,\"type\":\"t%d\",\"x\":\"%s\"}"
                .formatted(name, n, n % TYPE_COUNT, "x".repeat(20 + n * 37 % 300));
    }

    /** The record that a cursor shows. */
    static String text(LogCursor cursor) {
        return new String(
                cursor.segment().asSlice(cursor.offset(), cursor.length()).toArray(Bytes.U8),
                StandardCharsets.UTF_8);
    }

    static LogState of(HashLog log) {
        TreeMap<Long, String> all = new TreeMap<>();
        try (LogReader reader = log.openReader("state")) {
            reader.protect();
            LogScan scan = new LogScan(reader);
            scan.start(log.log().begin(), Long.MAX_VALUE);
            while (scan.next()) {
                if (RecordHeader.kind(scan.header()) == RecordHeader.RECORD) {
                    byte[] bytes = scan.segment()
                            .asSlice(
                                    scan.offset() + RecordHeader.payloadOffset(scan.header()),
                                    RecordHeader.payloadBytes(scan.header()))
                            .toArray(Bytes.U8);
                    all.put(scan.address(), new String(bytes, StandardCharsets.UTF_8));
                }
            }
        }
        TreeMap<Long, String> records = new TreeMap<>(all);
        records.keySet().removeIf(log.log().deleted()::contains);
        return new LogState(log.log().begin(), log.log().tail(), all, records, log.psfs());
    }

    /** The numbers of a session's events, in the order of the log, deleted ones too. */
    List<Integer> numbersOf(String name) {
        String start = "{\"w\":\"%s\",\"n\":".formatted(name);
        List<Integer> numbers = new ArrayList<>();
        for (String record : all.values()) {
            if (record.startsWith(start)) {
                int end = record.indexOf(',', start.length());
                int n = Integer.parseInt(record.substring(start.length(), end));
                assertThat(record).isEqualTo(event(name, n));
                numbers.add(n);
            }
        }
        return numbers;
    }

    /** In each interval of each PSF of a field, chains have what a scan finds, newest first. */
    void checkChains(HashLog log, String what) {
        try (LogReader reader = log.openReader("chains")) {
            for (RegisteredPsf psf : psfs) {
                assertThat(psf.definition()).isInstanceOf(PsfDefinition.Field.class);
                for (int type = 0; type < TYPE_COUNT; type++) {
                    checkChain(log, reader, psf, "t" + type, what);
                }
            }
        }
    }

    private void checkChain(
            HashLog log, LogReader reader, RegisteredPsf psf, String type, String what) {
        if (!psf.definition().text().equals("field(type)")) {
            return;
        }
        for (Interval interval : psf.intervals()) {
            reader.protect();
            List<Long> chain = new ArrayList<>();
            ChainWalk walk = log.walk(reader, Property.ofText(psf.id(), type));
            walk.start(Math.max(begin, interval.from()));
            while (walk.next()) {
                if (interval.contains(walk.address())) {
                    chain.addFirst(walk.address());
                }
            }
            reader.unprotect();
            List<Long> all = new ArrayList<>();
            records.subMap(interval.from(), Math.max(interval.from(), interval.to()))
                    .forEach((address, record) -> {
                        if (record.contains("\"type\":\"" + type + "\"")) {
                            all.add(address);
                        }
                    });
            assertThat(chain).as("%s: %s, %s", what, psf, type).isEqualTo(all);
        }
    }
}
