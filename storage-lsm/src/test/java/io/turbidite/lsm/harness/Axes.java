package io.turbidite.lsm.harness;

import io.turbidite.lsm.component.Compression;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schedule.MergeScheduler;
import io.turbidite.lsm.schema.Maintenance;

import java.util.List;

/**
 * What a store and its datasets are made like, as a seed says. <em>Immutable.</em>
 *
 * <p>Sixteen bits of the seed are the number of a cell. The first {@link #CELL_COUNT} cells hold
 * each policy with each page size, and any two values of any two axes together, as far as the two
 * are allowed.
 */
public record Axes(
        MergePolicySpec policy,
        int pageBytes,
        Compression compression,
        MergeScheduler scheduler,
        boolean directIo,
        Maintenance maintenance) {
    /** All seven policies, each alone and correlated. */
    public static final List<String> POLICIES = List.of(
            "tiering",
            "correlated-tiering",
            "no-merge",
            "correlated-no-merge",
            "constant(componentCountMax=2)",
            "correlated-constant(componentCountMax=3)",
            "prefix(mergeableBytesMax=1MiB,toleranceCount=2)",
            "correlated-prefix(mergeableBytesMax=1MiB,toleranceCount=2)",
            "leveling(sizeRatio=3)",
            "correlated-leveling(sizeRatio=3)",
            "lazy-leveling(sizeRatio=2)",
            "correlated-lazy-leveling(sizeRatio=2)",
            "concurrent(mergeCountMin=2,mergeCountMax=3)",
            "correlated-concurrent(mergeCountMin=2,mergeCountMax=3)");

    public static final List<Integer> PAGE_BYTES =
            List.of(4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10);

    static final int CELL_COUNT = 14 * 6;

    private static final int CELL_SHIFT = 40;
    private static final long CELL_MASK = 0xFFFF;

    private static final List<Maintenance> ALONE = List.of(
            Maintenance.EAGER, Maintenance.VALIDATION, Maintenance.DELETED_KEY, Maintenance.AUTO);

    /** The last two need correlated merges. */
    private static final List<Maintenance> CORRELATED = List.of(
            Maintenance.EAGER,
            Maintenance.VALIDATION,
            Maintenance.DELETED_KEY,
            Maintenance.AUTO,
            Maintenance.DEFERRED,
            Maintenance.MUTABLE_BITMAP);

    /** The same seed, but for its cell. */
    public static long withCell(long seed, int cell) {
        return (seed & ~(CELL_MASK << CELL_SHIFT)) | (cell & CELL_MASK) << CELL_SHIFT;
    }

    public static Axes of(long seed) {
        int cell = (int) (seed >>> CELL_SHIFT & CELL_MASK);
        int policy = cell % POLICIES.size();
        int page = cell / POLICIES.size() % PAGE_BYTES.size();
        MergePolicySpec spec = MergePolicySpec.parse(POLICIES.get(policy));
        List<Compression> compressions = List.of(Compression.values());
        List<MergeScheduler> schedulers = List.of(MergeScheduler.values());
        List<Maintenance> strategies = spec.isCorrelated() ? CORRELATED : ALONE;
        return new Axes(
                spec,
                PAGE_BYTES.get(page),
                compressions.get((policy + page) % compressions.size()),
                schedulers.get((policy + page / 3) % schedulers.size()),
                (policy / 2 + page / 3) % 2 == 0,
                strategies.get((policy / 2 + page) % strategies.size()));
    }
}
