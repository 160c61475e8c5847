package io.turbidite.lsm.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.Disk;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Reduction;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Oracle.Change;
import io.turbidite.lsm.schedule.BackgroundOptions;
import io.turbidite.lsm.schedule.MergeScheduler;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A random history against the oracle: writes, flushes, merges, repairs, changes of schema,
 * snapshots, clean reopenings and power cuts. What happens is drawn beforehand and from the seed
 * alone, so that two stores of different making go through the same, and what fails can be reduced
 * to the few steps that it takes.
 */
public final class History {
    /** Runs that a reduction takes at most. */
    private static final int RERUN_COUNT_MAX = 500;

    /** And for each batch that is left. */
    private static final int BATCH_RERUN_COUNT_MAX = 30;

    private static final int HELD_COUNT_MAX = 4;

    private final long seed;
    private final Beginning beginning;
    private final End end;
    private final UnaryOperator<Disk> lens;
    private final Supplier<Regions> newRegions;

    private History(
            long seed,
            Beginning beginning,
            End end,
            UnaryOperator<Disk> lens,
            Supplier<Regions> newRegions) {
        this.seed = seed;
        this.beginning = beginning;
        this.end = end;
        this.lens = lens;
        this.newRegions = newRegions;
    }

    public static History of(long seed, Beginning beginning, End end) {
        return new History(seed, beginning, end, same -> same, Regions::heap);
    }

    /** The same with stores that see the disk through {@code other}: a planted bug, perhaps. */
    public History withLens(UnaryOperator<Disk> other) {
        return new History(seed, beginning, end, other, newRegions);
    }

    /** The same with indexes of a kind whose regions lie elsewhere than in plain maps. */
    public History withRegions(Supplier<Regions> others) {
        return new History(seed, beginning, end, lens, others);
    }

    /** Makes the datasets of a new store. */
    @FunctionalInterface
    public interface Beginning {
        void create(Workload workload, Store store);
    }

    /** Looks at the store when all is over; nothing is held any more. */
    @FunctionalInterface
    public interface End {
        public void check(Workload workload, Store store);
    }

    /**
     * Goes through so many writes and what happens between them.
     *
     * @param replay the line that replays it
     * @throws AssertionError if anything is not as it must be: with the shortest history found that
     *     fails alike
     */
    public void check(int writes, String replay) {
        List<Step> steps = draw(writes);
        Throwable failure = failure(steps);
        if (failure == null) {
            return;
        }
        Predicate<List<Step>> alike = left -> isLike(failure, failure(left));
        Reduction.Reduced<Step> reduced = Reduction.of(steps, alike, RERUN_COUNT_MAX);
        List<Step> left = withSmallerBatches(reduced.left(), alike);
        StringBuilder text = new StringBuilder(replay);
        text.append("%n%d steps fail, reduced in %d runs to %d:"
                .formatted(steps.size(), reduced.runCount(), left.size()));
        for (Step step : left) {
            text.append(System.lineSeparator()).append("  ").append(step);
        }
        text.append("%nthey end with: %s".formatted(failure(left)));
        throw new AssertionError(text.toString(), failure);
    }

    /** Leaves out what batches need not have for the steps to fail. */
    private static List<Step> withSmallerBatches(List<Step> failing, Predicate<List<Step>> fails) {
        List<Step> left = new ArrayList<>(failing);
        for (int i = 0; i < left.size(); i++) {
            if (left.get(i) instanceof Step.Write(Step.Way way, List<Change> all)
                    && way == Step.Way.BATCH) {
                int place = i;
                Predicate<List<Change>> some = changes -> {
                    List<Step> tried = new ArrayList<>(left);
                    tried.set(place, new Step.Write(way, changes));
                    return !changes.isEmpty() && fails.test(tried);
                };
                List<Change> fewer =
                        Reduction.of(all, some, BATCH_RERUN_COUNT_MAX).left();
                left.set(place, new Step.Write(way, fewer));
            }
        }
        return left;
    }

    private static boolean isLike(Throwable failure, @Nullable Throwable other) {
        return other != null && other.getClass().equals(failure.getClass());
    }

    public List<Step> draw(int writes) {
        StepDraw draw = new StepDraw(new SplittableRandom(Seeds.mix(seed, 2)), keyCount());
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < writes; i++) {
            steps.add(draw.write());
            addIfAny(steps, draw.disturbance());
            if (i % 64 == 0) {
                steps.add(draw.schemaChange());
            }
            addIfAny(steps, draw.incident());
        }
        return steps;
    }

    private static void addIfAny(List<Step> steps, @Nullable Step step) {
        if (step != null) {
            steps.add(step);
        }
    }

    private int keyCount() {
        return 20 + (int) (seed & 255);
    }

    private @Nullable Throwable failure(List<Step> steps) {
        Run run = new Run();
        try {
            run.all(steps);
            return null;
        } catch (Throwable failure) {
            run.abandon();
            return failure;
        }
    }

    /** One way through some steps. */
    private final class Run {
        private final Oracle oracle = new Oracle();
        private final Workload workload = new Workload(seed, oracle, keyCount());
        private final SchemaWorkload changes = new SchemaWorkload(Seeds.mix(seed, 1));
        private final Axes axes = Axes.of(seed);
        private final Durability durability =
                List.of(Durability.values()).get((int) (seed >>> 8 & 3));
        private final List<Workload.Held> held = new ArrayList<>();
        private SimDisk disk =
                new SimDisk(seed, List.of(Profile.values()).get((int) (seed >>> 16 & 3) % 3));
        private Regions regions = newRegions.get();
        private SimStore sim = SimStore.open(disk, seed, options(), lens);

        private StoreOptions options() {
            return SimStore.options(durability)
                    .withIndexKinds(regions.kind())
                    .withBackground(background(Seeds.mix(seed, 1), axes.scheduler()))
                    .withDirectIo(axes.directIo());
        }

        void all(List<Step> steps) {
            beginning.create(workload, sim.store);
            changes.begin(sim.store);
            steps.forEach(this::go);
            changes.settle();
            held.forEach(Workload.Held::check);
            closeAll();
            sim.verify();
            workload.checkAll(sim.store, seed & 15);
            end.check(workload, sim.store);
            assertThat(Inside.holdsNothing(sim.store)).isTrue();
            sim.close();
            assertThat(disk.openHandles()).isEmpty();
        }

        private void go(Step step) {
            switch (step) {
                case Step.Write write -> {
                    workload.write(sim.store, write);
                    if (durability == Durability.SYNC) {
                        oracle.acknowledge();
                    }
                }
                case Step.Flush _, Step.MergeAll _, Step.Repair _ ->
                    Workload.disturb(sim.store, step);
                case Step.ChangeSchema change -> changes.change(sim.store, change.seed());
                case Step.Check check -> workload.check(sim.store, check.id());
                case Step.Verify _ -> sim.verify();
                case Step.Hold hold -> {
                    if (held.size() < HELD_COUNT_MAX) {
                        held.add(workload.hold(sim.store, hold));
                    }
                }
                case Step.Wander(int pick) -> {
                    if (!held.isEmpty()) {
                        held.get(pick % held.size()).wander();
                    }
                }
                case Step.LetGo(int pick) -> {
                    if (!held.isEmpty()) {
                        Workload.Held old = held.get(pick % held.size());
                        old.check();
                        held.remove(old);
                        old.close();
                    }
                }
                case Step.Reopen reopen -> reopen(reopen.seed());
                case Step.CutPower cut -> cutPower(cut.seed());
            }
        }

        private void reopen(long openSeed) {
            closeAll();
            sim.close();
            oracle.acknowledge();
            assertThat(disk.openHandles()).isEmpty();
            open(openSeed);
            workload.check(sim.store, openSeed & 15);
        }

        private void cutPower(long cutSeed) {
            closeAll();
            SimDisk before = disk;
            disk = before.crashImage(cutSeed);
            regions = regions.cut(cutSeed);
            // what becomes of the old store is of no interest
            sim.close();
            open(cutSeed);
            int prefix = oracle.prefixWith(sim.contentHash());
            assertThat(prefix)
                    .as(
                            "prefix of %d commits, %d durable",
                            oracle.commitCount(), oracle.durableCount())
                    .isGreaterThanOrEqualTo(0);
            oracle.rewind(prefix);
            sim.verify();
        }

        private void open(long openSeed) {
            sim = SimStore.open(disk, openSeed, options(), lens);
            changes.checkRecovered(sim.store);
            changes.begin(sim.store);
        }

        private void closeAll() {
            held.forEach(Workload.Held::close);
            held.clear();
        }

        /** Gives back what can be given back: reductions fail many times over. */
        void abandon() {
            try {
                closeAll();
                sim.close();
            } catch (RuntimeException | AssertionError broken) {
                // that it does not even close may be a consequence; the first failure is told
            }
        }
    }

    private static BackgroundOptions background(long seed, MergeScheduler scheduler) {
        SplittableRandom random = new SplittableRandom(seed);
        return BackgroundOptions.defaults()
                .withMergeWorkers(1 + random.nextInt(3))
                .withMergeScheduler(scheduler)
                .withIoBytesPerSecond(random.nextInt(3) > 0 ? 0 : 1 << (17 + random.nextInt(6)))
                .withSyncBytes(random.nextBoolean() ? 0 : 1 << 20)
                .withBacklogComponentsMax(4 + random.nextInt(30));
    }
}
