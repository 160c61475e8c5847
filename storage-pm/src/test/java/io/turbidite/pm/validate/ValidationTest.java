package io.turbidite.pm.validate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.epoch.EpochSession;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.Tier;
import io.turbidite.pm.cells.Node;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.region.RegionMode;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.sim.FaultyMemory;
import io.turbidite.pm.sim.FaultyMemory.Bug;
import io.turbidite.pm.sim.SimMemory;
import io.turbidite.pm.validate.Validation.Answer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntFunction;

/** Which entries are stale: against a model, across restarts and crashes. */
class ValidationTest {
    private static final int BYTES_MAX = 64 << 20;
    private static final RegionSpec SPEC = new RegionSpec(1, 2, 1_024, BYTES_MAX);
    private static final long NOW = 1L << 40;

    private final Epochs epochs = Epochs.create(4, new SimClock());
    private final MemoryBudget.Account account = MemoryBudget.of(64 << 20).account("stale keys");

    /** The root of the tables stands for both here. */
    private Region create(RegionMemory memory) {
        Region region = Region.create(memory, SPEC, epochs);
        long root = Validation.create(region);
        region.setRoots(root, root);
        region.commit(0);
        region.begin(Long.MAX_VALUE);
        return region;
    }

    private Validation reopen(byte[] image) {
        SimMemory memory = SimMemory.of(RegionMode.DAX, image, BYTES_MAX);
        return Validation.open(Region.open(memory, SPEC, epochs, 0), account);
    }

    private static Slice key(int number) {
        // short ones, and long ones
        String text = number % 3 == 0 ? "k" + number : "key-of-%040d".formatted(number);
        return Slice.of(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Keys that differ in their last bytes alone. */
    private static Slice longKey(int number, int keyBytes) {
        String text = "p".repeat(keyBytes - 8) + "%08d".formatted(number);
        return Slice.of(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static final class Known {
        final List<Long> entries = new ArrayList<>();
        long newest;
        boolean hasEntry;

        Answer answer(long timestamp, long snapshot) {
            return newest == timestamp
                    ? Answer.VALID
                    : newest <= snapshot ? Answer.STALE : Answer.ASK_PRIMARY;
        }
    }

    @Test
    void answersAreThoseOfTheModelAcrossRestarts() {
        SplittableRandom random = new SplittableRandom(Seeds.of("ValidationTest"));
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        Region region = create(memory);
        Validation validation = Validation.open(Region.open(memory, SPEC, epochs, 0), account);
        validation.close();
        validation = openAgain(memory);
        Map<Integer, Known> model = new HashMap<>();
        long time = 1;
        for (int round = 0; round < 12; round++) {
            Map<Integer, Integer> layer = new HashMap<>();
            for (int i = 0; i < 700; i++) {
                layer.merge(random.nextInt(3_000), 1, Integer::sum);
            }
            for (Map.Entry<Integer, Integer> change : layer.entrySet()) {
                Known known = model.computeIfAbsent(change.getKey(), k -> new Known());
                known.hasEntry = random.nextInt(5) > 0;
                int entryCount = 0;
                for (int version = 1; version <= change.getValue(); version++) {
                    known.newest = ++time;
                    if (known.hasEntry || version < change.getValue()) {
                        known.entries.add(time);
                        entryCount++;
                    }
                }
                validation.absorb(key(change.getKey()), time, known.hasEntry, entryCount);
            }
            validation.flush();
            memory.checkSettled();
            compare(model, validation, time, random);
            collectSome(model, validation, time, random);
            memory.checkSettled();
            compare(model, validation, time, random);
            if (round % 4 == 3) {
                validation.close();
                validation = reopen(memory.contents());
                compare(model, validation, time, random);
                validation.close();
                validation = openAgain(memory);
            }
        }
        validation.close();
        assertEquals(0, account.bytesUsed());
        assertTrue(region.pages().inUseCount() > 0);
    }

    private Validation openAgain(SimMemory memory) {
        Region region = Region.open(memory, SPEC, epochs, 0);
        Validation validation = Validation.open(region, account);
        region.pages().freeTheRest();
        return validation;
    }

    private void compare(
            Map<Integer, Known> model, Validation validation, long time, SplittableRandom random) {
        assertTrue(validation.isComplete());
        for (Map.Entry<Integer, Known> entry : model.entrySet()) {
            Known known = entry.getValue();
            for (long timestamp : known.entries) {
                long snapshot = timestamp + random.nextLong(time - timestamp + 1);
                Slice key = key(entry.getKey());
                Answer expected = known.answer(timestamp, snapshot);
                assertEquals(expected, validation.check(key, timestamp, snapshot));
                assertEquals(expected, validation.checkInRegion(key, timestamp, snapshot));
            }
            assertTrue(validation.entryCount(key(entry.getKey())) >= known.entries.size()
                    || known.entries.isEmpty());
        }
    }

    private static void collectSome(
            Map<Integer, Known> model, Validation validation, long time, SplittableRandom random) {
        validation.setHorizon(time);
        for (Map.Entry<Integer, Known> entry : model.entrySet()) {
            Known known = entry.getValue();
            Slice key = key(entry.getKey());
            for (long timestamp : List.copyOf(known.entries)) {
                boolean isGarbage = known.newest > timestamp;
                assertEquals(isGarbage, validation.isGarbage(key, timestamp));
                if (isGarbage && random.nextBoolean()) {
                    known.entries.remove(timestamp);
                    if (random.nextBoolean()) {
                        validation.marked(key);
                        validation.collected(key, true);
                    } else {
                        validation.collected(key, false);
                    }
                }
            }
        }
        validation.release();
    }

    /** A node has room for one key of these: hashes that begin alike share a bucket. */
    @ParameterizedTest
    @ValueSource(ints = {300, 700, 1_000, Limits.KEY_BYTES_MAX})
    void longKeysTakeFewPagesAndFences(int keyBytes) {
        int keyCount = 1_000;
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory);
        Region region = Region.open(memory, SPEC, epochs, 0);
        try (Validation writer = Validation.open(region, account)) {
            region.pages().freeTheRest();
            for (int version = 1; version <= 2; version++) {
                long fences = region.dirty().fences();
                for (int i = 0; i < keyCount; i++) {
                    writer.absorb(longKey(i, keyBytes), version, true, 1);
                }
                writer.flush();
                memory.checkSettled();
                int sliceCount = keyCount * keyBytes / (200 << 10) + 2;
                assertTrue(region.dirty().fences() - fences <= 2L * sliceCount);
                checkLong(writer, keyCount, keyBytes, version);
            }
            assertEquals(keyCount, writer.keyCount());
            assertTrue(
                    region.pages().inUseCount() < keyCount * 1.5,
                    "pages: " + region.pages().inUseCount());
        }
        try (Validation found = reopen(memory.contents())) {
            assertEquals(keyCount, found.keyCount());
            checkLong(found, keyCount, keyBytes, 2);
        }
        assertEquals(0, account.bytesUsed());
    }

    /** Keys whose hashes agree in more bits than the directory may have share one bucket. */
    @ParameterizedTest
    @ValueSource(ints = {20, 700})
    void hashesThatBeginAlikeDoNotWidenTheDirectory(int keyBytes) {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory);
        List<Slice> keys = new ArrayList<>();
        for (int i = 0; keys.size() < 60; i++) {
            Slice key = longKey(i, keyBytes);
            if (Node.hash(key) >>> 52 == 0xABC) {
                keys.add(key);
            }
        }
        Region region = Region.open(memory, SPEC, epochs, 0);
        try (Validation writer = Validation.open(region, account)) {
            region.pages().freeTheRest();
            for (int i = 0; i < keys.size(); i++) {
                writer.absorb(keys.get(i), i + 1, true, 1);
                if (i % 7 == 0) {
                    writer.flush();
                }
            }
            writer.flush();
            assertTrue(region.pages().inUseCount() < keys.size() + 20);
        }
        try (Validation found = reopen(memory.contents())) {
            for (int i = 0; i < keys.size(); i++) {
                assertEquals(Answer.VALID, found.checkInRegion(keys.get(i), i + 1, NOW));
            }
            assertEquals(keys.size(), found.keyCount());
        }
    }

    private static void checkLong(Validation found, int keyCount, int keyBytes, int version) {
        for (int i = 0; i < keyCount; i++) {
            Slice key = longKey(i, keyBytes);
            assertEquals(Answer.VALID, found.checkInRegion(key, version, NOW));
            assertEquals(Answer.VALID, found.check(key, version, NOW));
            assertEquals(version, found.entryCount(key));
            if (version > 1) {
                assertEquals(Answer.STALE, found.check(key, 1, NOW));
            }
        }
        assertEquals(-1, found.entryCount(longKey(keyCount, keyBytes)));
    }

    /** Research 2.4.1: recovery with four stale entries of one key; all of them stay stale. */
    @Test
    void recoveryKnowsHowManyEntriesAreStale() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory);
        Validation writer = openAgain(memory);
        for (int version = 1; version <= 5; version++) {
            writer.absorb(key(1), version, true, 1);
            writer.flush();
        }
        writer.close();
        Validation validation = reopen(memory.contents());
        validation.setHorizon(NOW);
        for (int version = 1; version <= 4; version++) {
            assertEquals(Answer.STALE, validation.check(key(1), version, NOW));
            validation.marked(key(1));
            validation.release();
        }
        assertEquals(Answer.VALID, validation.check(key(1), 5, NOW));
        validation.close();
    }

    /** Research 2.4.2: a scan that is repeated counts nothing down. */
    @Test
    void readersCountNothingDown() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory);
        Validation validation = openAgain(memory);
        validation.absorb(key(1), 1, true, 1);
        validation.flush();
        validation.absorb(key(1), 2, true, 1);
        validation.flush();
        for (int scan = 0; scan < 300; scan++) {
            assertEquals(Answer.STALE, validation.check(key(1), 1, NOW));
        }
        validation.close();
    }

    /** Research 2.4.4: an older version that arrives late does not win, and is stale itself. */
    @Test
    void anOlderVersionNeverWins() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory);
        Validation validation = openAgain(memory);
        validation.absorb(key(1), 9, true, 1);
        validation.flush();
        validation.absorb(key(1), 5, true, 1);
        validation.flush();
        assertEquals(Answer.VALID, validation.check(key(1), 9, NOW));
        assertEquals(Answer.STALE, validation.check(key(1), 5, NOW));
        assertEquals(1, validation.staleKeyCount());
        validation.close();
    }

    /**
     * Keys are known by all of their bytes: none, few, or the words that tables of hashes take for
     * their own marks (research 2.4.5 to 2.4.7).
     */
    @Test
    void shortKeysAndThoseOfOneByteOverAndOverAreKnownExactly() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory);
        Validation writer = openAgain(memory);
        List<Slice> keys = new ArrayList<>();
        for (int bytes = 1; bytes <= 17; bytes++) {
            for (int value : new int[] {0, 1, 0xfe, 0xff}) {
                byte[] key = new byte[bytes];
                Arrays.fill(key, (byte) value);
                keys.add(Slice.of(key));
            }
        }
        for (byte last : new byte[] {-1, -2, -3}) {
            keys.add(Slice.of(new byte[] {-1, -1, -1, -1, -1, -1, -1, last, 0}));
        }
        for (int i = 0; i < keys.size(); i++) {
            writer.absorb(keys.get(i), 1 + i, true, 1);
        }
        for (int i = 0; i < keys.size(); i += 2) {
            writer.absorb(keys.get(i), 1_000 + i, true, 1);
        }
        writer.flush();
        writer.close();
        Validation validation = reopen(memory.contents());
        for (int i = 0; i < keys.size(); i++) {
            boolean isStale = i % 2 == 0;
            assertEquals(
                    isStale ? Answer.STALE : Answer.VALID,
                    validation.check(keys.get(i), 1 + i, NOW));
            assertEquals(isStale ? 2 : 1, validation.entryCount(keys.get(i)));
        }
        validation.close();
    }

    /** Entry read, collected, key gone, absent, "valid": not while the reader is there. */
    @Test
    void aKeyStaysWhileAReaderMayStandOnAStaleEntry() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory);
        Validation validation = openAgain(memory);
        validation.setHorizon(NOW);
        validation.absorb(key(1), 1, true, 1);
        validation.flush();
        validation.absorb(key(1), 2, true, 1);
        validation.flush();
        EpochSession reader = epochs.open("reader");
        reader.protect(); // and reads the entry of 1
        validation.collected(key(1), false);
        validation.release();
        assertEquals(Answer.STALE, validation.check(key(1), 1, NOW));
        reader.unprotect();
        validation.release();
        assertEquals(0, validation.staleKeyCount());
        reader.close();
        validation.close();
    }

    @Test
    void aDeleteHasNoEntry() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory);
        Validation validation = openAgain(memory);
        validation.absorb(key(1), 1, true, 1);
        validation.absorb(key(1), 2, false, 0);
        validation.flush();
        assertEquals(1, validation.entryCount(key(1)));
        assertEquals(Answer.STALE, validation.check(key(1), 1, NOW));
        validation.collected(key(1), false);
        validation.release();
        validation.release();
        assertEquals(0, validation.staleKeyCount(), "nothing is left of it");
        validation.close();
    }

    @Test
    void countsSaturate() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory);
        Validation validation = openAgain(memory);
        for (int i = 1; i <= 300; i++) {
            validation.absorb(key(1), i, true, 1);
        }
        validation.flush();
        for (int i = 0; i < 299; i++) {
            validation.collected(key(1), false);
        }
        validation.release();
        assertEquals(255, validation.entryCount(key(1)));
        assertEquals(Answer.STALE, validation.check(key(1), 299, NOW));
        validation.close();
    }

    @Test
    void withoutABudgetTheRegionDecides() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory);
        MemoryBudget.Account small = MemoryBudget.of(4_000).account("stale keys");
        Validation validation = Validation.open(Region.open(memory, SPEC, epochs, 0), small);
        for (int version = 1; version <= 2; version++) {
            for (int i = 0; i < 500; i++) {
                validation.absorb(key(i), version, true, 1);
            }
        }
        validation.flush();
        assertFalse(validation.isComplete());
        for (int i = 0; i < 500; i++) {
            assertEquals(Answer.STALE, validation.check(key(i), 1, NOW));
            assertEquals(Answer.VALID, validation.check(key(i), 2, NOW));
            assertEquals(Answer.ASK_PRIMARY, validation.check(key(i), 1, 1));
        }
        assertEquals(Answer.ASK_PRIMARY, validation.check(key(501), 1, NOW));
        validation.close();
        assertEquals(0, small.bytesUsed());
    }

    /**
     * R5: at each fence, what may be durable opens, and knows whatever was acknowledged, with
     * counts that are not too low.
     */
    private int crashes(Bug bug, IntFunction<Slice> keys) {
        SplittableRandom random = new SplittableRandom(Seeds.of("ValidationTest#crashes"));
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        RegionMemory faulty = new FaultyMemory(memory, bug);
        var _ = create(memory);
        Region region = Region.open(faulty, SPEC, epochs, 0);
        try (Validation validation = Validation.open(region, account)) {
            return crashes(bug, keys, memory, region, validation, random);
        }
    }

    private int crashes(
            Bug bug,
            IntFunction<Slice> keys,
            SimMemory memory,
            Region region,
            Validation validation,
            SplittableRandom random) {
        Map<Integer, Long> acknowledged = new HashMap<>();
        int[] shown = new int[1];
        memory.beforeFence(() -> shown[0] += memory.eachImage(25, random, image -> {
            try (Validation found = reopen(image)) {
                acknowledged.forEach((number, known) -> check(found, keys.apply(number), known));
            }
        }));
        long time = 0;
        for (int round = 0; round < 25; round++) {
            Map<Integer, Long> layer = new HashMap<>();
            for (int i = 0; i < 40; i++) {
                int number = random.nextInt(30 + round * 20);
                long before = acknowledged.getOrDefault(number, 0L);
                if (layer.putIfAbsent(number, ++time << 8 | (before & 0xFF) + 1) == null) {
                    validation.absorb(keys.apply(number), time, true, 1);
                }
            }
            validation.flush();
            acknowledged.putAll(layer);
        }
        memory.beforeFence(null);
        if (bug == Bug.NONE) {
            memory.checkSettled();
            assertTrue(region.dirty().fences() <= 50, "two fences a slice");
        }
        return shown[0];
    }

    private static void check(Validation found, Slice key, long known) {
        assertTrue(found.entryCount(key) >= (known & 0xFF), "too low");
        Answer answer = found.checkInRegion(key, known >>> 8, NOW);
        assertTrue(answer == Answer.VALID || answer == Answer.STALE, "" + answer);
    }

    @Test
    void aCrashLosesNothingThatWasAcknowledged() {
        assertTrue(crashes(Bug.NONE, ValidationTest::key) > 600);
    }

    /** Buckets of several nodes, which grow, halve, and are copied. */
    @Test
    void aCrashLosesNoLongKeyThatWasAcknowledged() {
        assertTrue(crashes(Bug.NONE, number -> longKey(number, 300 + number % 700)) > 600);
    }

    @ParameterizedTest
    @EnumSource(names = {"MISSING_FENCE", "HALF_WRITTEN_BACK", "POINTER_BEFORE_DATA"})
    void plantedBugsAreFound(Bug bug) {
        List<IntFunction<Slice>> kinds = List.of(ValidationTest::key, i -> longKey(i, 700));
        for (IntFunction<Slice> keys : kinds) {
            Throwable found = assertThrows(Throwable.class, () -> crashes(bug, keys));
            assertTrue(found instanceof AssertionError || found instanceof CorruptionException);
        }
    }

    /** R10: any flipped bit of any bucket is found when the table is opened. */
    @Test
    void damageIsFoundAtOpening() {
        // 20 cells of 24 bytes, 40 of 64
        checkDamage(60, ValidationTest::key, 3_000);
    }

    /** The same of buckets that have several nodes. */
    @Test
    void damageToLongKeysIsFoundAtOpening() {
        checkDamage(8, i -> longKey(i, 700), 8 * 700);
    }

    private void checkDamage(int keyCount, IntFunction<Slice> keys, int refusedMin) {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory);
        Validation writer = openAgain(memory);
        for (int i = 0; i < keyCount; i++) {
            writer.absorb(keys.apply(i), i + 1, true, 1);
        }
        writer.flush();
        writer.close();
        byte[] sound = memory.contents();
        int stride = Tier.count(7, 3, 1);
        int refused = 0;
        for (int at = 1 << 16; at < (1 << 16) + 10 * 1_280; at += stride) {
            byte[] image = sound.clone();
            image[at] ^= (byte) (1 << at % 8);
            try (Validation found = reopen(image)) {
                // a byte that nothing uses, or of a page that is free
                for (int i = 0; i < keyCount; i++) {
                    assertEquals(
                            Answer.VALID,
                            found.checkInRegion(keys.apply(i), i + 1, NOW),
                            "at " + at);
                    assertEquals(1, found.entryCount(keys.apply(i)));
                }
            } catch (CorruptionException e) {
                refused++;
            }
        }
        assertTrue(refused * stride > refusedMin, "refused: " + refused);
        assertEquals(0, account.bytesUsed());
    }
}
