package io.turbidite.pm.tree;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.Tier;
import io.turbidite.pm.postings.PostingCursor;
import io.turbidite.pm.region.Plants;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.region.RegionMode;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.sim.FaultyMemory;
import io.turbidite.pm.sim.FaultyMemory.Bug;
import io.turbidite.pm.sim.SimMemory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.SplittableRandom;

/**
 * R5: the power goes before each fence and after each operation, anywhere in absorptions,
 * insertions, splits and collections; each image that is legal then is opened and compared.
 */
class PsTreeCrashTest {
    private static final int BYTES_MAX = 1 << 20;
    private static final RegionSpec SPEC = new RegionSpec(1, 2, 256, BYTES_MAX);

    private final Epochs epochs = Epochs.create(4, new SimClock());
    private final SplittableRandom random = new SplittableRandom(Seeds.of("PsTreeCrashTest"));

    /** What is planted, in the memory or above it. */
    enum Plant {
        NOTHING,
        MISSING_FENCE,
        HALF_WRITTEN_BACK,
        POINTER_BEFORE_DATA,
        PAGE_REUSED_TOO_EARLY
    }

    /** Runs a trace; returns how many images were opened. */
    private int run(Plant plant, int imagesEach, boolean isOneByOne) {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        Region made = Region.create(memory, SPEC, epochs);
        long root = PsTree.create(made);
        made.setRoots(root, root);
        made.commit(0);
        made.begin(1);
        Bug bug = switch (plant) {
            case MISSING_FENCE -> Bug.MISSING_FENCE;
            case HALF_WRITTEN_BACK -> Bug.HALF_WRITTEN_BACK;
            case POINTER_BEFORE_DATA -> Bug.POINTER_BEFORE_DATA;
            case NOTHING, PAGE_REUSED_TOO_EARLY -> Bug.NONE;
        };
        RegionMemory faulty = new FaultyMemory(memory, bug);
        Region region = Region.open(faulty, SPEC, epochs, 0);
        if (plant == Plant.PAGE_REUSED_TOO_EARLY) {
            Plants.reusePagesAtOnce(region);
        }
        TreeModel model = new TreeModel();
        PsTree tree = PsTree.open(region, model);
        region.pages().freeTheRest();
        int[] shown = new int[1];
        Runnable crash = () -> shown[0] +=
                memory.eachImage(imagesEach, random, image -> model.checkAfterCrash(reopen(image)));
        memory.beforeFence(crash);
        for (int round = 0; round < (isOneByOne ? 150 : 30); round++) {
            for (int i = 0; i < (isOneByOne ? 1 : 25); i++) {
                model.put(
                        TreeModel.key(random.nextInt(10 + round * 2), 8),
                        TreeModel.key(random.nextInt(150), 8));
            }
            model.absorb(tree);
            crash.run();
            if (round % 6 == 5) {
                for (int i = 0; i < 4; i++) {
                    tree.collect(TreeModel.key(random.nextInt(20), 8));
                }
            }
        }
        memory.beforeFence(null);
        if (plant == Plant.NOTHING) {
            memory.checkSettled();
            model.check(tree);
        }
        return shown[0];
    }

    private PsTree reopen(byte[] image) {
        Region region =
                Region.open(SimMemory.of(RegionMode.DAX, image, BYTES_MAX), SPEC, epochs, 0);
        PsTree tree = PsTree.open(region, new TreeModel());
        region.pages().freeTheRest();
        return tree;
    }

    @Test
    void anAbsorptionLosesNothingThatWasAcknowledged() {
        assertTrue(run(Plant.NOTHING, Tier.count(5, 15, 2_000), false) > 300);
    }

    @Test
    void anInsertionLosesNothingThatWasAcknowledged() {
        assertTrue(run(Plant.NOTHING, Tier.count(5, 20, 5_000), true) > 1_000);
    }

    @ParameterizedTest
    @EnumSource(
            names = {
                "MISSING_FENCE",
                "HALF_WRITTEN_BACK",
                "POINTER_BEFORE_DATA",
                "PAGE_REUSED_TOO_EARLY"
            })
    void plantedBugsAreFound(Plant plant) {
        for (boolean isOneByOne : new boolean[] {true, false}) {
            if (plant == Plant.PAGE_REUSED_TOO_EARLY && isOneByOne) {
                continue; // one insertion copies before it retires, and allocates nothing then
            }
            Throwable found = assertThrows(Throwable.class, () -> run(plant, 60, isOneByOne));
            assertTrue(
                    found instanceof AssertionError || found instanceof CorruptionException,
                    () -> "not by a check: " + found);
        }
    }

    /**
     * Research 2.2.1: a recovered region is written to, and cut again; what was acknowledged at any
     * time stays, so nothing goes over published groups.
     */
    @Test
    void aRecoveredTreeSurvivesTheNextCrash() {
        byte[] image;
        {
            SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
            Region made = Region.create(memory, SPEC, epochs);
            long root = PsTree.create(made);
            made.setRoots(root, root);
            made.commit(0);
            made.begin(1);
            image = memory.contents();
        }
        TreeModel model = new TreeModel();
        for (int life = 0; life < Tier.count(5, 12, 200); life++) {
            SimMemory memory = SimMemory.of(RegionMode.DAX, image, BYTES_MAX);
            Region region = Region.open(memory, SPEC, epochs, 0);
            PsTree tree = PsTree.open(region, model);
            region.pages().freeTheRest();
            model.check(tree);
            for (int round = 0; round < 4; round++) {
                for (int i = 0; i < 20; i++) {
                    model.put(
                            TreeModel.key(random.nextInt(40), 8),
                            TreeModel.key(random.nextInt(150), 8));
                }
                model.absorb(tree);
            }
            // an absorption that nobody heard the end of: it is taken back
            tree.add(TreeModel.key(99_999_999, 8), TreeModel.key(1, 8), model.time() + 1);
            tree.prepare();
            byte[][] left = {memory.contents()};
            var _ = memory.eachImage(3, random, one -> left[0] = one);
            image = left[0];
        }
    }

    /** R10: each flipped bit is found at the opening, or changes no answer. */
    @Test
    void damageIsFoundOrHarmless() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        Region made = Region.create(memory, SPEC, epochs);
        long root = PsTree.create(made);
        made.setRoots(root, root);
        made.commit(0);
        made.begin(1);
        Region region = Region.open(memory, SPEC, epochs, 0);
        TreeModel model = new TreeModel();
        PsTree tree = PsTree.open(region, model);
        region.pages().freeTheRest();
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 60; i++) {
                model.put(TreeModel.key(i % 20, 8), TreeModel.key(random.nextInt(40), 8));
            }
            model.absorb(tree);
            tree.collect(TreeModel.key(round, 8));
        }
        byte[] sound = memory.contents();
        int stride = Tier.count(41, 17, 1);
        int refused = 0;
        for (int at = 1 << 16; at < sound.length; at += stride) {
            if (sound[at] == 0 && sound[at & -8] == 0 && random.nextInt(8) > 0) {
                continue; // most of it was never used
            }
            byte[] image = sound.clone();
            image[at] ^= (byte) (1 << random.nextInt(8));
            try {
                model.check(reopen(image));
            } catch (CorruptionException e) {
                refused++;
            }
        }
        assertTrue(refused > 40, "refused: " + refused);
    }

    /** The reader's own check: what is damaged after the opening is not believed either. */
    @Test
    void aDamagedGroupIsNotRead() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        Region made = Region.create(memory, SPEC, epochs);
        long root = PsTree.create(made);
        made.setRoots(root, root);
        made.commit(0);
        made.begin(1);
        TreeModel model = new TreeModel();
        PsTree tree = PsTree.open(Region.open(memory, SPEC, epochs, 0), model);
        Slice key = TreeModel.key(1, 8);
        tree.insert(key, TreeModel.key(2, 8), 3);
        long pointer = tree.find(key);
        PostingCursor list = tree.postings();
        for (int bit = 0; bit < 32 * 8; bit++) {
            long at = pointer + bit / 64 * 8L;
            long word = memory.getLong(at);
            memory.putLong(at, word ^ (1L << bit));
            list.open(pointer);
            assertThrows(CorruptionException.class, list::next, "bit " + bit);
            memory.putLong(at, word);
        }
        list.open(pointer);
        assertTrue(list.next());
    }
}
