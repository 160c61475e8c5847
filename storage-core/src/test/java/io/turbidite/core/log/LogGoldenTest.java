package io.turbidite.core.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Two segments of version 3, in {@code src/test/resources/golden}: a full one and the one that it
 * goes on in, with every kind of frame. They are read for ever; they are written so until the
 * version changes.
 *
 * <p>{@code -Dgolden.print=true} prints what a new archive has to hold.
 */
class LogGoldenTest {
    private static final long STORE_ID = 0x0123_4567_89AB_CDEFL;
    private static final int SEGMENT_BYTES = 8 << 10;
    private static final LogOptions OPTIONS =
            LogOptions.defaults().withSegmentBytes(SEGMENT_BYTES, 2, 64, 2 << 10);

    @Test
    void versionThreeIsRead() throws IOException {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        disk.createDirectories("log");
        for (int number = 1; number <= 2; number++) {
            byte[] used = HexFormat.of().parseHex(golden(number));
            disk.put(Segment.name("log", number), Arrays.copyOf(used, SEGMENT_BYTES));
        }
        Map<Long, String> replayed = new TreeMap<>();
        SimClock clock = new SimClock();
        try (SimTasks tasks = new SimTasks(1, clock)) {
            environment(disk, tasks, clock, replayed).close();
        }
        assertEquals(written(new SimDisk(1, Profile.STRICT)), replayed);
    }

    @Test
    void versionThreeIsWrittenAsItAlwaysWas() throws IOException {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        var _ = written(disk);
        for (int number = 1; number <= 2; number++) {
            byte[] content = disk.content(Segment.name("log", number));
            int end = content.length;
            while (content[end - 1] == 0) {
                end--;
            }
            String hex = HexFormat.of().formatHex(content, 0, (end + 15) / 16 * 16);
            if (Boolean.getBoolean("golden.print")) {
                System.out.println("---- " + fileName(number));
                System.out.println(hex.replaceAll("(.{64})", "$1\n").strip());
            } else {
                assertEquals(golden(number), hex);
            }
        }
    }

    /**
     * Two sessions, a group of records with a cancelled claim, a large record, a change of segment,
     * a clean close.
     */
    private static Map<Long, String> written(SimDisk disk) {
        Map<Long, String> published = new TreeMap<>();
        SimClock clock = new SimClock();
        for (int session = 1; session <= 2; session++) {
            try (SimTasks tasks = new SimTasks(session, clock)) {
                WriteAheadLog log = environment(disk, tasks, clock, new TreeMap<>());
                for (int i = 0; i < 3; i++) {
                    String text = "record " + i + " of session " + session;
                    published.put(log.append(WriteAheadLogTest.utf8(text)), text);
                }
                log.claim(10).cancel();
                log.flush();
                String large = "large ".repeat(340);
                for (int i = 0; i < 2; i++) {
                    published.put(log.append(WriteAheadLogTest.utf8(large)), large);
                    log.flush();
                }
                log.close();
            }
        }
        return published;
    }

    private static WriteAheadLog environment(
            SimDisk disk, SimTasks tasks, SimClock clock, Map<Long, String> replayed) {
        return WriteAheadLog.open(
                new LogEnvironment(disk, "log", STORE_ID, tasks, clock),
                OPTIONS,
                0,
                (position, payload) -> replayed.put(position, payload.toUtf8()));
    }

    private static String fileName(int number) {
        return "log-v3-segment-" + number + ".hex";
    }

    private static String golden(int number) throws IOException {
        String name = "/golden/" + fileName(number);
        try (InputStream in =
                Objects.requireNonNull(LogGoldenTest.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII).replaceAll("\\s", "");
        }
    }
}
