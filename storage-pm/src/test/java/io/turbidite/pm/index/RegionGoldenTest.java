package io.turbidite.pm.index;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.index.RegionSessions;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.SimClock;
import io.turbidite.pm.region.RegionMode;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.sim.SimMemory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** A region has the bytes that it always had, and the golden one is read. */
class RegionGoldenTest {
    private static final int BYTES_MAX = 1 << 20;
    private static final long SESSION = 0x7766554433221100L;
    private static final RegionSpec SPEC = spec(new RegionSessions(1, SESSION));
    private static final int RECORD_COUNT = 300;
    private static final int LONG_KEY_COUNT = 60;

    /** Of before buckets had several nodes. */
    private static final String BEFORE = "/golden/region-v1.gz";

    /** Of before the header kept the mode. */
    private static final String WITHOUT_MODE = "/golden/region-v1-long-keys.gz";

    /** Of before the header kept how far any absorption was to go. */
    private static final String WITHOUT_REACH = "/golden/region-v1-mode.gz";

    /** Of before the header kept whose session it is of. */
    private static final String WITHOUT_SESSION = "/golden/region-v1-reach.gz";

    private static final String TODAY = "/golden/region-v2.gz";

    private static RegionSpec spec(RegionSessions sessions) {
        return new RegionSpec(0x1122334455667788L, 42, 512, BYTES_MAX, sessions);
    }

    private static Slice key(String text) {
        return Slice.of(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** A node of the table of versions has room for one of them. */
    private static Slice longKey(int number) {
        return key("long ".repeat(140) + number);
    }

    /** Three layers: new records, updates of a third of them, one insertion. */
    static byte[] written() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        try (PmIndex index = PmIndex.create(memory, SPEC, epochs(), account())) {
            long time = 0;
            for (int layer = 1; layer <= 2; layer++) {
                int step = layer == 1 ? 1 : 3;
                index.begin(time, time + RECORD_COUNT);
                for (int i = 0; i < RECORD_COUNT; i += step) {
                    index.addVersion(key("record-" + i), time + 1 + i, true, 1);
                }
                for (int i = 0; i < LONG_KEY_COUNT; i += step) {
                    index.addVersion(longKey(i), time + 1 + i, true, 1);
                }
                for (int group = 0; group < 10; group++) {
                    for (int i = 0; i < RECORD_COUNT; i += step) {
                        if ((i + layer) % 10 == group) {
                            index.addEntry(key("group-" + group), key("record-" + i), time + 1 + i);
                        }
                    }
                }
                time += RECORD_COUNT;
                index.commit(time);
            }
            index.begin(time, time + 1);
            index.insert(key("a long key ".repeat(80)), key("record-1"), time + 1);
            index.commit(time + 1);
        }
        return memory.contents();
    }

    private static Epochs epochs() {
        return Epochs.create(1, new SimClock());
    }

    private static MemoryBudget.Account account() {
        return MemoryBudget.of(1 << 20).account("stale keys");
    }

    private static byte[] golden(String name) throws IOException {
        try (InputStream packed =
                        Objects.requireNonNull(RegionGoldenTest.class.getResourceAsStream(name));
                InputStream bytes = new GZIPInputStream(packed)) {
            return bytes.readAllBytes();
        }
    }

    @Test
    void aRegionHasTheBytesItAlwaysHad() throws IOException {
        if (Boolean.getBoolean("golden.print")) {
            try (OutputStream to = new GZIPOutputStream(
                    Files.newOutputStream(Path.of("target", "region-v2.gz")))) {
                to.write(written());
            }
            return;
        }
        assertArrayEquals(golden(TODAY), written());
    }

    @ParameterizedTest
    @ValueSource(strings = {BEFORE, WITHOUT_MODE, WITHOUT_REACH, WITHOUT_SESSION, TODAY})
    void theGoldenRegionIsRead(String name) throws IOException {
        long last = name.equals(TODAY) ? SESSION : 0;
        RegionSpec spec = spec(new RegionSessions(last, 5));
        SimMemory memory = SimMemory.of(RegionMode.DAX, golden(name), BYTES_MAX);
        long now = 2 * RECORD_COUNT + 1;
        try (PmIndex index = PmIndex.open(memory, spec, epochs(), account(), now)) {
            PmSearch search = index.search();
            List<String> found = new ArrayList<>();
            for (int group = 0; group < 10; group++) {
                search.open(key("group-" + group), now, now);
                while (search.next()) {
                    String record = search.primaryKey().toUtf8();
                    int number = Integer.parseInt(record.substring("record-".length()));
                    boolean isUpdated = number % 3 == 0;
                    assertEquals(group, (number + (isUpdated ? 2 : 1)) % 10);
                    assertEquals(number + 1 + (isUpdated ? RECORD_COUNT : 0), search.timestamp());
                    found.add(record);
                }
            }
            search.open(key("a long key ".repeat(80)), now, now);
            assertTrue(search.next());
            found.add(search.primaryKey().toUtf8());
            assertEquals(RECORD_COUNT, found.stream().distinct().count());
            assertEquals(RECORD_COUNT, found.size());
        }
    }
}
