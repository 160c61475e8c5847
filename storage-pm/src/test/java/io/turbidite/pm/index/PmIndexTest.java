package io.turbidite.pm.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.epoch.EpochSession;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.Tier;
import io.turbidite.pm.region.DirtyLines;
import io.turbidite.pm.region.RegionMode;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.region.SegmentMemory;
import io.turbidite.pm.sim.SimMemory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** Tree and tables together: every query has the model's answer, whatever was cut. */
class PmIndexTest {
    private static final int BYTES_MAX = 256 << 20;
    private static final RegionSpec SPEC = new RegionSpec(1, 2, 512, BYTES_MAX);

    private final Epochs epochs = Epochs.create(8, new SimClock());
    private final MemoryBudget.Account account = MemoryBudget.of(64 << 20).account("stale keys");

    private static Slice key(String text) {
        return Slice.of(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String text(Slice key) {
        return key.toUtf8();
    }

    /** A version of a record; no secondary key if it was deleted. */
    private record Version(long timestamp, String secondaryKey) {}

    /** All versions of each record, oldest first, and those that are in no region yet. */
    private static final class Model {
        final Map<String, List<Version>> records = new TreeMap<>();
        final Map<String, List<Version>> layer = new TreeMap<>();
        long time;

        void put(String primaryKey, String secondaryKey) {
            layer.computeIfAbsent(primaryKey, k -> new ArrayList<>())
                    .add(new Version(++time, secondaryKey));
        }

        /** Feeds the layer, without ending the absorption. */
        void feed(PmIndex index, long horizon) {
            index.begin(horizon, time);
            TreeMap<String, String> entries = new TreeMap<>();
            layer.forEach((primaryKey, versions) -> {
                Version newest = versions.getLast();
                int entryCount = 0;
                for (Version version : versions) {
                    if (!version.secondaryKey.isEmpty()) {
                        entries.put(
                                "%s %016d".formatted(version.secondaryKey, version.timestamp),
                                primaryKey);
                        entryCount++;
                    }
                }
                index.addVersion(
                        key(primaryKey),
                        newest.timestamp,
                        !newest.secondaryKey.isEmpty(),
                        entryCount);
            });
            entries.forEach((entry, primaryKey) -> index.addEntry(
                    key(entry.substring(0, entry.length() - 17)),
                    key(primaryKey),
                    Long.parseLong(entry.substring(entry.length() - 16))));
        }

        void absorbed() {
            layer.forEach((primaryKey, versions) ->
                    records.computeIfAbsent(primaryKey, k -> new ArrayList<>()).addAll(versions));
            layer.clear();
        }

        Version at(String primaryKey, long snapshot) {
            Version found = new Version(0, "");
            for (Version version : records.getOrDefault(primaryKey, List.of())) {
                if (version.timestamp <= snapshot) {
                    found = version;
                }
            }
            return found;
        }

        /**
         * Each secondary key's records at a snapshot, newest first, as the index says; what is in
         * the layer still is decided there.
         */
        void check(PmIndex index, long snapshot) {
            TreeMap<String, List<String>> expected = new TreeMap<>();
            records.keySet().forEach(primaryKey -> {
                Version version = at(primaryKey, snapshot);
                if (!version.secondaryKey.isEmpty() && !layer.containsKey(primaryKey)) {
                    expected.computeIfAbsent(version.secondaryKey, k -> new ArrayList<>())
                            .add("%016d %s".formatted(version.timestamp, primaryKey));
                }
            });
            PmSearch search = index.search();
            Set<String> keys = new TreeSet<>(expected.keySet());
            records.values().forEach(all -> all.forEach(v -> keys.add(v.secondaryKey)));
            for (String secondaryKey : keys) {
                List<String> found = new ArrayList<>();
                search.open(key(secondaryKey), snapshot, index.absorbedThrough());
                while (search.next()) {
                    String primaryKey = text(search.primaryKey());
                    boolean isValid = !search.needsPrimary()
                            || at(primaryKey, snapshot).timestamp == search.timestamp();
                    if (isValid && !layer.containsKey(primaryKey)) {
                        found.add("%016d %s".formatted(search.timestamp(), primaryKey));
                    }
                }
                List<String> wanted = expected.getOrDefault(secondaryKey, List.of());
                assertEquals(new ArrayList<>(wanted).stream().sorted().toList().reversed(), found);
            }
        }
    }

    private static void draw(Model model, SplittableRandom random, int count) {
        for (int i = 0; i < count; i++) {
            String secondaryKey = random.nextInt(10) == 0
                    ? ""
                    : "s" + (int) (30 * Math.pow(random.nextDouble(), 2));
            model.put("p" + random.nextInt(200), secondaryKey);
        }
    }

    private PmIndex open(byte[] image, long absorbedThrough) {
        return PmIndex.open(
                SimMemory.of(RegionMode.DAX, image, BYTES_MAX),
                SPEC,
                epochs,
                account,
                absorbedThrough);
    }

    @Test
    void answersAreThoseOfTheModel() {
        SplittableRandom random = new SplittableRandom(Seeds.of("PmIndexTest"));
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        PmIndex index = PmIndex.create(memory, SPEC, epochs, account);
        Model model = new Model();
        for (int round = 0; round < Tier.count(10, 30, 300); round++) {
            long before = model.time;
            draw(model, random, 150);
            model.feed(index, before);
            index.commit(model.time);
            model.absorbed();
            memory.checkSettled();
            model.check(index, model.time);
            assertTrue(index.hintCount() > 0 || round < 2);
            if (round % 2 == 0) {
                assertTrue(index.collectHints(1_000, model.time) >= 0);
                memory.checkSettled();
                model.check(index, model.time);
            } else if (round % 3 == 0) {
                // an older snapshot, above the horizon of the last absorption
                model.check(index, before + random.nextLong(model.time - before + 1));
            }
            if (round % 7 == 6) {
                index.close();
                index = open(memory.contents(), model.time);
                model.check(index, model.time);
                index.close();
                index = PmIndex.open(memory, SPEC, epochs, account, model.time);
            }
        }
        index.close();
        assertEquals(0, account.bytesUsed());
    }

    /**
     * The power goes anywhere in an absorption: after the opening, each query has the right answer
     * for all that is not in the layer, which its store replays.
     */
    @Test
    void aCutAbsorptionIsTakenBack() {
        SplittableRandom random = new SplittableRandom(Seeds.of("PmIndexTest#cut"));
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        PmIndex index = PmIndex.create(memory, SPEC, epochs, account);
        Model model = new Model();
        int[] shown = new int[1];
        for (int round = 0; round < Tier.count(6, 12, 60); round++) {
            draw(model, random, 120);
            long known = index.absorbedThrough();
            int images = Tier.count(4, 8, 500);
            memory.beforeFence(() -> shown[0] += memory.eachImage(images, random, image -> {
                try (PmIndex found = open(image, known)) {
                    assertEquals(known, found.absorbedThrough());
                    model.check(found, model.time);
                }
            }));
            model.feed(index, model.time);
            index.commit(model.time);
            memory.beforeFence(null);
            long committed = model.time;
            // a store that has not heard of it has the layer in memory still
            try (PmIndex again = open(memory.contents(), known)) {
                model.check(again, committed);
            }
            model.absorbed();
            try (PmIndex found = open(memory.contents(), committed)) {
                model.check(found, committed);
            }
        }
        index.close();
        assertTrue(shown[0] > Tier.count(100, 300, 300), "images: " + shown[0]);
    }

    /** Replay feeds a layer again whose absorption was cut: its entries are there once. */
    @Test
    void whatWasTakenBackIsFedAgain() {
        SplittableRandom random = new SplittableRandom(Seeds.of("PmIndexTest#again"));
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        PmIndex index = PmIndex.create(memory, SPEC, epochs, account);
        Model model = new Model();
        for (int round = 0; round < 12; round++) {
            draw(model, random, 100);
            long known = index.absorbedThrough();
            model.feed(index, model.time);
            // killed before its commit, or before its store heard of it
            if (round % 2 == 0) {
                index.tree().flush();
            } else {
                index.commit(model.time);
            }
            index.close();
            index = PmIndex.open(memory, SPEC, epochs, account, known);
            assertEquals(known, index.absorbedThrough());
            model.feed(index, model.time);
            index.commit(model.time);
            model.absorbed();
            model.check(index, model.time);
        }
        index.close();
    }

    @Test
    void aStaleRegionIsRefused() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        PmIndex.create(memory, SPEC, epochs, account).close();
        assertThrows(CorruptionException.class, () -> open(memory.contents(), 7));
        assertEquals(0, account.bytesUsed());
    }

    /** Mode file: what was absorbed survives the process; what was cut is refused. */
    @Test
    void aFileSurvivesItsProcess(@TempDir Path directory) {
        RealDisk disk = RealDisk.open(directory);
        assumeTrue(disk.mapsFiles(), "a file system that is not mapped");
        SplittableRandom random = new SplittableRandom(Seeds.of("PmIndexTest#file"));
        Model model = new Model();
        try (SegmentMemory memory = mapped(disk)) {
            PmIndex index = PmIndex.create(memory, SPEC, epochs, account);
            draw(model, random, 3_000);
            model.feed(index, model.time);
            index.commit(model.time);
            model.absorbed();
            index.validation().close(); // not closed: the process was killed
        }
        try (SegmentMemory memory = mapped(disk)) {
            PmIndex index = PmIndex.open(memory, SPEC, epochs, account, model.time);
            model.check(index, model.time);
            index.close();
            index = PmIndex.open(memory, SPEC, epochs, account, model.time);
            model.check(index, model.time);
            draw(model, random, 500);
            model.feed(index, model.time);
            index.validation().close();
        }
        try (SegmentMemory memory = mapped(disk)) {
            assertThrows(
                    CorruptionException.class,
                    () -> PmIndex.open(memory, SPEC, epochs, account, 1));
            model.absorbed();
            PmIndex again = PmIndex.create(memory, SPEC, epochs, account);
            assertEquals(0, again.absorbedThrough());
            again.close();
        }
        assertEquals(0, account.bytesUsed());
    }

    private static SegmentMemory mapped(RealDisk disk) {
        return Objects.requireNonNull(SegmentMemory.map(disk, "region", 1 << 20, RegionMode.FILE));
    }

    /** A region that can't grow says so; what it had is there when it is opened again. */
    @Test
    void aFullRegionKeepsWhatItHad() {
        SplittableRandom random = new SplittableRandom(Seeds.of("PmIndexTest#full"));
        RegionSpec small = new RegionSpec(1, 2, 512, 1 << 18);
        SimMemory memory = SimMemory.create(RegionMode.DAX, 1 << 18);
        PmIndex index = PmIndex.create(memory, small, epochs, account);
        Model model = new Model();
        draw(model, random, 500);
        model.feed(index, model.time);
        index.commit(model.time);
        model.absorbed();
        for (int i = 0; i < 20_000; i++) {
            model.put("q" + i, "t" + i);
        }
        StorageIoException full =
                assertThrows(StorageIoException.class, () -> model.feed(index, model.time));
        assertEquals(StorageIoException.Kind.NO_SPACE, full.kind());
        long known = index.absorbedThrough();
        index.close();
        try (PmIndex found = PmIndex.open(memory, small, epochs, account, known)) {
            model.check(found, model.time);
        }
    }

    /** Its store's files were put back, and an opening was killed before the store noticed. */
    @Test
    void howFarItHadComeIsFoundByEachOpening() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        Model model = new Model();
        try (PmIndex index = PmIndex.create(memory, SPEC, epochs, account)) {
            for (int layer = 0; layer < 2; layer++) {
                model.put("record", "key " + layer);
                model.feed(index, 0);
                index.commit(model.time);
                model.absorbed();
            }
        }
        for (int opening = 0; opening < 3; opening++) {
            try (PmIndex index = PmIndex.open(memory, SPEC, epochs, account, 1)) {
                assertEquals(2, index.foundThrough(), "opening " + opening);
                assertEquals(1, index.absorbedThrough());
            }
        }
    }

    /** It has versions that the store that was put back does not know. */
    @Test
    void howFarACutAbsorptionWasToGoIsFound() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        try (PmIndex index = PmIndex.create(memory, SPEC, epochs, account)) {
            index.begin(0, 1);
            index.addVersion(key("record"), 1, true, 1);
            index.addEntry(key("a"), key("record"), 1);
            index.commit(1);
            index.begin(1, 20);
            index.addVersion(key("record"), 18, true, 1);
            index.addEntry(key("b"), key("record"), 18);
        }
        for (int opening = 0; opening < 2; opening++) {
            try (PmIndex found = PmIndex.open(memory, SPEC, epochs, account, 1)) {
                assertEquals(20, found.foundThrough(), "opening " + opening);
            }
        }
    }

    @Test
    void versionsComeFirst() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        try (PmIndex index = PmIndex.create(memory, SPEC, epochs, account)) {
            index.begin(0, 1);
            index.addEntry(key("s"), key("p"), 1);
            assertThrows(
                    InvalidRequestException.class, () -> index.addVersion(key("p"), 1, true, 1));
        }
    }

    /** The issue's aims for fences and blocks, tables included; the figures are printed. */
    @ParameterizedTest
    @CsvSource({"Uniform, 4, 3.5", "Uniform, 8, 2", "Skewed-Sec, 4, 1.5", "Skewed-Sec, 8, 1.5"})
    void fencesAndBlocksAreWithinTheirAims(String name, int layers, double blocksMax) {
        SplittableRandom random = new SplittableRandom(Seeds.of("PmIndexTest#" + name));
        int recordCount = Tier.count(10_000, 40_000, 1_000_000);
        int layerCount = recordCount / layers;
        RegionSpec spec = new RegionSpec(1, 2, RegionSpec.PAGE_BYTES_DEFAULT, BYTES_MAX);
        try (SegmentMemory memory = SegmentMemory.inMemory(name, 1 << 20);
                PmIndex index = PmIndex.create(memory, spec, epochs, account)) {
            Numbers numbers = new Numbers(recordCount, recordCount / 25, name.equals("Skewed-Sec"));
            for (int i = 0; i < layers; i++) {
                numbers.feed(index, random, layerCount, true);
            }
            DirtyLines dirty = index.region().dirty();
            long fences = dirty.fences();
            long blocks = dirty.blocksWritten();
            long fed = 0;
            for (int i = 0; i < layers; i++) {
                fed += numbers.feed(index, random, layerCount, false);
            }
            double fencesEach = (dirty.fences() - fences) / (double) fed;
            double blocksEach = (dirty.blocksWritten() - blocks) / (double) fed;
            report(
                    "%s: %.4f fences, %.2f blocks written an entry absorbed; %d entries, %d keys, %d of them stale, %d bytes"
                            .formatted(
                                    name,
                                    fencesEach,
                                    blocksEach,
                                    index.tree().entryCount(),
                                    index.validation().keyCount(),
                                    index.validation().staleKeyCount(),
                                    index.region().pages().byteSize()));
            assertTrue(fencesEach <= 0.1, name + ": " + fencesEach);
            if (layers == 4) {
                readFigures(name, index, numbers, random);
            }
            insertFigures(name, index, numbers, random);
            assertTrue(blocksEach <= blocksMax, name + ": " + blocksEach);
        }
    }

    private static void readFigures(
            String name, PmIndex index, Numbers numbers, SplittableRandom random) {
        double before = blocksRead(index, numbers, random);
        index.begin(numbers.time, numbers.time);
        for (int i = 0; i < numbers.keyCount; i++) {
            index.tree().collect(Numbers.slice(i));
        }
        index.commit(numbers.time);
        double after = blocksRead(index, numbers, random);
        report("%s: %.2f blocks read a query of limit 10, %.2f after collection"
                .formatted(name, before, after));
        assertTrue(after <= Tier.count(5, 4, 4), name + ": " + after); // few keys, short lists
    }

    private static double blocksRead(PmIndex index, Numbers numbers, SplittableRandom random) {
        PmSearch search = index.search();
        int queries = 1_000;
        for (int i = 0; i < queries; i++) {
            search.open(numbers.secondaryKey(random), numbers.time, numbers.time);
            for (int found = 0; found < 10 && search.next(); found++) {
                assertTrue(search.timestamp() > 0);
            }
        }
        return search.blocksRead() / (double) queries;
    }

    private static void insertFigures(
            String name, PmIndex index, Numbers numbers, SplittableRandom random) {
        DirtyLines dirty = index.region().dirty();
        index.begin(numbers.time, numbers.time + 2_000);
        long fences = dirty.fences();
        long blocks = dirty.blocksWritten();
        for (int i = 0; i < 2_000; i++) {
            index.insert(numbers.secondaryKey(random), numbers.primaryKey(random), ++numbers.time);
        }
        double each = (dirty.fences() - fences) / 2_000.0;
        report("%s: %.2f fences, %.2f blocks written an insertion"
                .formatted(name, each, (dirty.blocksWritten() - blocks) / 2_000.0));
        index.commit(numbers.time);
        assertTrue(each <= 3, name + ": " + each);
    }

    private static void report(String line) {
        System.out.println(line);
    }

    /** Records with keys of 8 bytes. */
    private static final class Numbers {
        final int recordCount;
        final int keyCount;
        final boolean isSkewed;
        final List<long[]> layer = new ArrayList<>();
        long time;
        int loaded;

        Numbers(int recordCount, int keyCount, boolean isSkewed) {
            this.recordCount = recordCount;
            this.keyCount = keyCount;
            this.isSkewed = isSkewed;
        }

        private long second(SplittableRandom random) {
            // the exponent gives half of all to about one in a hundred
            double drawn = isSkewed ? Math.pow(random.nextDouble(), 7) : random.nextDouble();
            return (long) (drawn * keyCount);
        }

        private static Slice slice(long number) {
            byte[] big = new byte[8];
            for (int i = 0; i < 8; i++) {
                big[i] = (byte) (number >>> (56 - 8 * i));
            }
            return Slice.of(big);
        }

        Slice secondaryKey(SplittableRandom random) {
            return slice(second(random));
        }

        Slice primaryKey(SplittableRandom random) {
            return slice(random.nextInt(recordCount));
        }

        /** Absorbs a layer of new records, or of updates. */
        long feed(PmIndex index, SplittableRandom random, int count, boolean isNew) {
            TreeMap<Long, long[]> records = new TreeMap<>();
            for (int i = 0; i < count; i++) {
                long primary = isNew ? loaded++ : random.nextInt(recordCount);
                records.put(primary, new long[] {second(random), ++time, primary});
            }
            index.begin(time, time);
            records.forEach((primary, one) -> index.addVersion(slice(primary), one[1], true, 1));
            layer.clear();
            layer.addAll(records.values());
            layer.sort(
                    (a, b) -> a[0] != b[0] ? Long.compare(a[0], b[0]) : Long.compare(a[1], b[1]));
            for (long[] one : layer) {
                index.addEntry(slice(one[0]), slice(one[2]), one[1]);
            }
            index.commit(time);
            return layer.size();
        }
    }

    /**
     * Readers go on while layers are absorbed: they see what was whole when they began, or more.
     */
    @Test
    void readersGoOnWhileLayersAreAbsorbed() throws InterruptedException {
        SplittableRandom random = new SplittableRandom(Seeds.of("PmIndexTest#readers"));
        try (SegmentMemory memory = SegmentMemory.inMemory("readers", 1 << 16);
                PmIndex index = PmIndex.create(memory, SPEC, epochs, account)) {
            Numbers numbers = new Numbers(2_000, 40, false);
            var _ = numbers.feed(index, random, 2_000, true);
            AtomicReference<Throwable> failure = new AtomicReference<>();
            AtomicLong found = new AtomicLong();
            Thread reader = new Thread(() -> {
                try {
                    found.set(readAll(index));
                } catch (RuntimeException | AssertionError e) {
                    failure.set(e);
                }
            });
            reader.start();
            for (int i = 0; i < 60; i++) {
                var _ = numbers.feed(index, random, 300, false);
                assertTrue(index.collectHints(100, numbers.time) >= 0);
            }
            reader.join();
            assertEquals(null, failure.get());
            assertTrue(found.get() > 0);
        }
    }

    private long readAll(PmIndex index) {
        long found = 0;
        try (EpochSession session = epochs.open("reader")) {
            PmSearch search = index.search();
            for (int i = 0; i < 20_000; i++) {
                session.protect();
                long through = index.absorbedThrough();
                search.open(Numbers.slice(i % 40), through, through);
                long newer = Long.MAX_VALUE;
                while (search.next()) {
                    assertTrue(search.timestamp() <= through && search.timestamp() <= newer);
                    newer = search.timestamp();
                    found++;
                }
                session.unprotect();
            }
        }
        return found;
    }
}
