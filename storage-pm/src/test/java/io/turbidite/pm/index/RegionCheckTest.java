package io.turbidite.pm.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.IndexRegion;
import io.turbidite.core.index.RegionEntries;
import io.turbidite.core.index.RegionPlace;
import io.turbidite.core.index.RegionSessions;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.region.SegmentMemory;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A check of an open region finds what was damaged in it, and nothing where nothing was. */
class RegionCheckTest {
    private static final RegionSpec SPEC = new RegionSpec(1, 2, 1024, 64 << 20);
    private static final int RECORDS = 600;
    private static final int USERS = 12;

    private final MemoryBudget.Account account = MemoryBudget.of(64 << 20).account("stale keys");
    private final SegmentMemory memory = SegmentMemory.inMemory("region", 1 << 20);
    private final RegionPlace place = new RegionPlace(
            new SimDisk(1, Profile.STRICT),
            "regions",
            1,
            2,
            RegionSessions.NONE,
            "region",
            Map.of(),
            new SimClock(),
            account);
    private final PmRegion region = PmRegion.create(memory, place, SPEC);
    private long time;

    @AfterEach
    void close() {
        region.close();
        assertEquals(0, account.bytesUsed());
    }

    private static Slice key(String text) {
        return Slice.of(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Each record moves to the next user in each layer. */
    private void absorb(int layer, long horizon) {
        absorb(region, layer, horizon);
    }

    private void absorb(PmRegion into, int layer, long horizon) {
        IndexRegion.Absorption absorption = into.absorb(horizon, time + RECORDS);
        TreeMap<String, Long> entries = new TreeMap<>();
        for (int i = 0; i < RECORDS; i++) {
            time++;
            String record = "record %05d".formatted(i);
            entries.put("user %03d %s".formatted((i + layer) % USERS, record), time);
            absorption.version(key(record), time, true, 1);
        }
        entries.forEach((entry, timestamp) ->
                absorption.entry(key(entry.substring(0, 8)), key(entry.substring(9)), timestamp));
        absorption.commit(time);
    }

    private List<String> findings() {
        return findings(region);
    }

    private static List<String> findings(PmRegion of) {
        List<String> findings = new ArrayList<>();
        of.verify(findings::add);
        return findings;
    }

    private long stale() {
        RegionEntries into = new RegionEntries();
        IndexRegion.Moment now = new IndexRegion.Moment(time, time);
        try (IndexRegion.Reader reader = region.reader()) {
            long before = reader.work().staleCount();
            for (int user = 0; user < USERS; user++) {
                assertFalse(reader.newest(
                        key("user %03d".formatted(user)), now, time + 1, RECORDS, into));
                assertEquals(RECORDS / USERS, into.count());
            }
            return reader.work().staleCount() - before;
        }
    }

    @Test
    void nothing_is_found_in_what_absorptions_collections_and_readers_leave() {
        assertEquals(List.of(), findings());
        for (int layer = 0; layer < 6; layer++) {
            absorb(layer, layer < 3 ? 0 : time);
            var _ = stale();
            assertEquals(List.of(), findings());
        }
    }

    /** What was taken back is marked, and lies behind what comes again. */
    @Test
    void nothing_is_found_in_a_region_that_took_an_absorption_back() {
        for (int count = 1; count < 40; count++) {
            SegmentMemory cut = SegmentMemory.inMemory("cut", 1 << 20);
            PmRegion before = PmRegion.create(cut, place, SPEC);
            absorbOne(before, 0, 3 * count);
            absorbOne(before, 3 * count, count);
            before.index().close();
            try (PmRegion after = PmRegion.open(cut, place, SPEC, 3L * count)) {
                assertEquals(List.of(), findings(after));
                absorbOne(after, 3 * count, 2 * count);
                assertEquals(List.of(), findings(after));
                absorbOne(after, 0, count);
                assertEquals(List.of(), findings(after));
            }
        }
    }

    /** New records of one user. */
    private static void absorbOne(PmRegion into, int from, int count) {
        long before = Math.max(from, into.absorbedThrough());
        IndexRegion.Absorption absorption = into.absorb(0, before + count);
        for (int i = 1; i <= count; i++) {
            absorption.version(key("record %05d".formatted(from + i)), before + i, true, 1);
        }
        for (int i = 1; i <= count; i++) {
            absorption.entry(key("user"), key("record %05d".formatted(from + i)), before + i);
        }
        absorption.commit(before + count);
    }

    @Test
    void keys_that_readers_met_stale_entries_of_are_looked_after_when_nobody_writes() {
        absorb(0, 0);
        absorb(1, 0);
        assertFalse(region.tidy(time), "nobody has met a stale entry");
        assertTrue(stale() > 0);
        assertTrue(region.tidy(time));
        while (region.tidy(time)) {
            assertEquals(List.of(), findings());
        }
        assertEquals(List.of(), findings());
        assertTrue(stale() >= 0);
        assertFalse(region.tidy(time), "what is marked is nobody's concern any more");
    }

    @Test
    void nothing_is_tidied_while_a_layer_is_absorbed() {
        absorb(0, 0);
        absorb(1, 0);
        assertTrue(stale() > 0);
        IndexRegion.Absorption absorption = region.absorb(0, time);
        assertFalse(region.tidy(time));
        absorption.commit(time);
    }

    /** Whoever began has left by an error that nobody expected: the next one does not wait. */
    @Test
    @Timeout(30)
    void a_layer_that_was_given_up_in_the_middle_shuts_the_region() {
        absorb(0, 0);
        IndexRegion.Absorption givenUp = region.absorb(0, time + 1);
        givenUp.version(key("record 00000"), ++time, true, 1);
        CorruptionException refused =
                assertThrows(CorruptionException.class, () -> region.absorb(0, time));
        assertTrue(String.valueOf(refused.getMessage()).contains("in the middle of a change"));
    }

    @Test
    void a_damaged_group_is_found() {
        absorb(0, 0);
        long group = region.index().tree().find(key("user 003"));
        memory.putLong(group + 24, memory.getLong(group + 24) ^ 1L << 50);
        List<String> found = findings();
        assertEquals(1, found.size());
        assertTrue(found.getFirst().contains("checksum of a group"), found.getFirst());
    }

    @Test
    void a_table_that_counts_fewer_entries_than_there_are_is_found() {
        absorb(0, 0);
        absorb(1, 0);
        // as if an entry had been collected that is there
        region.index().validation().collected(key("record 00007"), false);
        region.index().validation().release();
        List<String> found = findings();
        assertTrue(
                found.stream()
                        .anyMatch(one -> one.contains(
                                "table of versions counts 1 entries of a key that has 2")),
                found.toString());
        assertTrue(
                found.stream()
                        .anyMatch(one -> one.contains(
                                "table of stale keys counts 0 stale entries of a key that has 1")),
                found.toString());
    }

    @Test
    void a_page_that_is_free_and_used_is_found() {
        absorb(0, 0);
        long group = region.index().tree().find(key("user 003"));
        region.index().region().pages().retire(group - group % SPEC.pageBytes());
        List<String> found = findings();
        assertTrue(
                found.stream().anyMatch(one -> one.contains("is free and used")), found.toString());
        assertTrue(
                found.stream().anyMatch(one -> one.contains("counts as free")), found.toString());
    }

    @Test
    void a_page_that_nothing_leads_to_is_found() {
        absorb(0, 0);
        long lost = region.index().region().pages().allocate(SPEC.pageBytes());
        List<String> found = findings();
        assertEquals(1, found.size(), found.toString());
        assertTrue(found.getFirst().contains("the page at %d counts as used".formatted(lost)));
    }

    @Test
    void an_entry_above_the_version_of_its_key_is_found() {
        absorb(0, 0);
        region.index().begin(0, time + 5);
        region.index().tree().add(key("user 003"), key("record 00003"), time + 5);
        region.index().tree().flush();
        region.index().commit(time + 5);
        List<String> found = findings();
        assertTrue(
                found.stream().anyMatch(one -> one.contains("for a key that has an entry of")),
                found.toString());
    }
}
