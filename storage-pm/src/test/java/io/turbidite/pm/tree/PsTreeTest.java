package io.turbidite.pm.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.Tier;
import io.turbidite.pm.postings.Judge;
import io.turbidite.pm.postings.PostingCursor;
import io.turbidite.pm.region.DirtyLines;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.region.RegionMode;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.sim.SimMemory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** The tree against a model: lists, ranges, splits, collection, restarts. */
class PsTreeTest {
    private static final int BYTES_MAX = 64 << 20;

    private final Epochs epochs = Epochs.create(4, new SimClock());

    private Region create(RegionMemory memory, RegionSpec spec) {
        Region region = Region.create(memory, spec, epochs);
        long root = PsTree.create(region);
        region.setRoots(root, root);
        region.commit(0);
        region.begin(Long.MAX_VALUE);
        return region;
    }

    private PsTree open(Region region, Judge judge) {
        PsTree tree = PsTree.open(region, judge);
        region.pages().freeTheRest();
        return tree;
    }

    /**
     * Key lengths, page size, how many secondary keys, how skewed, and how many entries a batch.
     */
    @ParameterizedTest
    @CsvSource({
        "8, 512, 300, false, 200",
        "8, 1024, 2000, false, 1500",
        "8, 256, 60, true, 300",
        "30, 1024, 400, true, 700",
        "1024, 1280, 40, false, 50",
        "8, 1024, 5, true, 2000",
        "8, 512, 500, false, 1"
    })
    void listsAreThoseOfTheModel(
            int keyBytes, int pageBytes, int keyCount, boolean isSkewed, int batch) {
        String name = "%d %d %d %s %d".formatted(keyBytes, pageBytes, keyCount, isSkewed, batch);
        SplittableRandom random = new SplittableRandom(Seeds.of("PsTreeTest#" + name));
        RegionSpec spec = new RegionSpec(1, 2, pageBytes, BYTES_MAX);
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory, spec);
        TreeModel model = new TreeModel();
        var _ = PsTree.open(Region.open(memory, spec, epochs, 0), model);
        Region region = Region.open(memory, spec, epochs, 0);
        PsTree tree = open(region, model);
        int rounds = batch == 1 ? 1_500 : Tier.count(4, 8, 24);
        int primaryBytes = Math.min(keyBytes, spec.primaryKeyBytesMax());
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < batch; i++) {
                int number = isSkewed
                        ? (int) (keyCount * Math.pow(random.nextDouble(), 3))
                        : random.nextInt(keyCount);
                model.put(
                        TreeModel.key(number, keyBytes),
                        TreeModel.key(random.nextInt(keyCount * 20), primaryBytes));
            }
            model.absorb(tree);
            memory.checkSettled();
            if (batch > 1 || round % 100 == 0) {
                model.check(tree);
            }
            if (round % 5 == 4) {
                for (int i = 0; i < keyCount / 10; i++) {
                    tree.collect(TreeModel.key(random.nextInt(keyCount), keyBytes));
                }
                memory.checkSettled();
            }
            if ((batch > 1 && round % 4 == 3) || round == rounds - 1) {
                model.check(tree);
                region.commit(model.time());
                region = Region.open(
                        SimMemory.of(RegionMode.DAX, memory.contents(), BYTES_MAX),
                        spec,
                        epochs,
                        model.time());
                model.check(open(region, model));
                region = Region.open(memory, spec, epochs, 0);
                tree = open(region, model);
                region.begin(Long.MAX_VALUE);
            }
        }
        checkRanges(tree, model, random, keyCount, keyBytes);
        assertTrue(model.collectedCount() > 0, "pages were split");
    }

    private static void checkRanges(
            PsTree tree, TreeModel model, SplittableRandom random, int keyCount, int keyBytes) {
        TreeCursor cursor = tree.keys();
        for (int i = 0; i < 30; i++) {
            Slice from = i % 7 == 0 ? null : TreeModel.key(random.nextInt(keyCount), keyBytes);
            Slice to = i % 5 == 0 ? null : TreeModel.key(random.nextInt(keyCount), keyBytes);
            boolean isDescending = i % 2 == 0;
            List<String> found = new ArrayList<>();
            cursor.open(from, to, isDescending);
            while (cursor.next()) {
                found.add(TreeModel.text(cursor.key()));
            }
            assertFalse(cursor.next());
            model.checkRange(from, to, isDescending, found);
        }
    }

    /** After "collect all" each list has its live entries alone, one group each if it is short. */
    @Test
    void whatIsCollectedIsGone() {
        SplittableRandom random = new SplittableRandom(Seeds.of("PsTreeTest#collected"));
        RegionSpec spec = new RegionSpec(1, 2, 1_024, BYTES_MAX);
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        Region region = create(memory, spec);
        TreeModel model = new TreeModel();
        PsTree tree = PsTree.open(Region.open(memory, spec, epochs, 0), model);
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 500; i++) {
                model.put(
                        TreeModel.key(random.nextInt(50), 8),
                        TreeModel.key(random.nextInt(500), 8));
            }
            model.absorb(tree);
        }
        for (int i = 0; i < 50; i++) {
            for (int j = 0; j < 3; j++) {
                tree.collect(TreeModel.key(i, 8));
            }
        }
        model.check(tree);
        PostingCursor list = tree.postings();
        for (int i = 0; i < 50; i++) {
            list.open(tree.find(TreeModel.key(i, 8)));
            while (list.next()) {
                assertTrue(
                        list.isMarked() || !model.isGarbage(list.primaryKey(), list.timestamp()));
            }
        }
        assertTrue(region.pages().inUseCount() > 0);
        assertTrue(model.collectedCount() + model.markedCount() > 4_000);
    }

    /** Research 2.3.6: half of one is none; a list of one live entry was copied at each call. */
    @Test
    void aListWithoutGarbageIsNotCopied() {
        RegionSpec spec = new RegionSpec(1, 2, 1_024, BYTES_MAX);
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        Region region = create(memory, spec);
        TreeModel model = new TreeModel();
        PsTree tree = PsTree.open(Region.open(memory, spec, epochs, 0), model);
        for (int i = 0; i < 5; i++) {
            model.put(TreeModel.key(i, 8), TreeModel.key(100 + i, 8));
        }
        model.absorb(tree);
        int pages = region.pages().inUseCount();
        for (int i = 0; i < 5; i++) {
            long before = tree.find(TreeModel.key(i, 8));
            tree.collect(TreeModel.key(i, 8));
            assertEquals(before, tree.find(TreeModel.key(i, 8)));
        }
        assertEquals(pages, region.pages().inUseCount());
        model.check(tree);
    }

    /** All keys behind the first of a full leaf have garbage alone: no leaf is made for them. */
    @ParameterizedTest
    @CsvSource({"1, 2, 3", "2, 1, 3", "3, 1, 2"})
    void aLeafThatIsPartedLeavesNoLeafWithoutKeys(int live, int other, int another) {
        RegionSpec spec = new RegionSpec(1, 2, 1_024, BYTES_MAX);
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory, spec);
        TreeModel model = new TreeModel();
        Region region = Region.open(memory, spec, epochs, 0);
        PsTree tree = open(region, model);
        for (int number = 1; number <= 3; number++) {
            model.put(TreeModel.key(10 * number, 300), TreeModel.key(number, 8));
        }
        model.absorb(tree);
        assertEquals(1, tree.leafCount(), "it has room for three keys");
        int beside = 10 * live + (live == 1 ? -5 : 5);
        model.put(TreeModel.key(beside, 300), TreeModel.key(other, 8));
        model.put(TreeModel.key(beside, 300), TreeModel.key(another, 8));
        model.absorb(tree);
        model.check(tree);
        region.commit(model.time());
        PsTree opened = open(Region.open(memory, spec, epochs, model.time()), model);
        model.check(opened);
        model.put(TreeModel.key(25, 300), TreeModel.key(7, 8));
        model.put(TreeModel.key(35, 300), TreeModel.key(8, 8));
        model.absorb(opened);
        model.check(opened);
    }

    @Test
    void anEmptyTreeHasNothing() {
        RegionSpec spec = new RegionSpec(1, 2, 1_024, BYTES_MAX);
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory, spec);
        PsTree tree = open(Region.open(memory, spec, epochs, 0), Judge.KEEPS_ALL);
        assertEquals(0, tree.find(TreeModel.key(1, 8)));
        TreeCursor keys = tree.keys();
        keys.open(null, null, true);
        assertFalse(keys.next());
        tree.flush();
        tree.collect(TreeModel.key(1, 8));
        memory.checkSettled();
    }

    @Test
    void keysOverTheLimitAreRefused() {
        RegionSpec spec = new RegionSpec(1, 2, 512, BYTES_MAX);
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory, spec);
        PsTree tree = open(Region.open(memory, spec, epochs, 0), Judge.KEEPS_ALL);
        Slice small = TreeModel.key(1, 8);
        assertThrows(
                InvalidRequestException.class,
                () -> tree.insert(TreeModel.key(1, 1_025), small, 1));
        assertThrows(
                InvalidRequestException.class, () -> tree.insert(small, TreeModel.key(1, 481), 1));
        tree.insert(TreeModel.key(1, 1_024), TreeModel.key(1, 480), 1);
        memory.checkSettled();
        assertTrue(tree.find(TreeModel.key(1, 1_024)) > 0);
    }

    /** What a cut absorption left is hidden, and nothing else. */
    @Test
    void entriesAboveATimestampAreHidden() {
        RegionSpec spec = new RegionSpec(1, 2, 1_024, BYTES_MAX);
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory, spec);
        PsTree tree = open(Region.open(memory, spec, epochs, 0), Judge.KEEPS_ALL);
        for (int i = 1; i <= 100; i++) {
            tree.insert(TreeModel.key(i % 7, 8), TreeModel.key(i, 8), i);
        }
        tree.markAbove(60);
        memory.checkSettled();
        int shown = 0;
        PostingCursor list = tree.postings();
        for (int i = 0; i < 7; i++) {
            list.open(tree.find(TreeModel.key(i, 8)));
            while (list.next()) {
                assertEquals(list.timestamp() > 60, list.isMarked());
                shown += list.isMarked() ? 0 : 1;
            }
        }
        assertEquals(60, shown);
    }

    /** The issue's aims: fences and blocks. */
    @Test
    void fencesAndBlocksAreWithinTheirAims() {
        SplittableRandom random = new SplittableRandom(Seeds.of("PsTreeTest#aims"));
        RegionSpec spec = new RegionSpec(1, 2, 1_024, BYTES_MAX);
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        var _ = create(memory, spec);
        Region region = Region.open(memory, spec, epochs, 0);
        TreeModel model = new TreeModel();
        PsTree tree = open(region, model);
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 5_000; i++) {
                model.put(
                        TreeModel.key(random.nextInt(1_000), 8),
                        TreeModel.key(random.nextInt(25_000), 8));
            }
            DirtyLines dirty = region.dirty();
            long fences = dirty.fences();
            model.absorb(tree);
            assertTrue((dirty.fences() - fences) / 5_000.0 < 0.1);
        }
        long fences = memory.fenceCount();
        int inserted = 500;
        for (int i = 0; i < inserted; i++) {
            model.put(TreeModel.key(random.nextInt(1_000), 8), TreeModel.key(30_000 + i, 8));
            model.absorb(tree);
        }
        assertEquals(2, (memory.fenceCount() - fences) / (double) inserted, 0.001);
    }
}
