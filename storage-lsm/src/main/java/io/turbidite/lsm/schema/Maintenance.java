package io.turbidite.lsm.schema;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.lsm.merge.MergePolicySpec;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** How auxiliary structures follow updates (LUO19 §3.1, §4, §5; DEFER18). */
public enum Maintenance {
    /** Reads the old record before each write; indexes and filters are always exact. */
    EAGER,
    /** Blind writes; obsolete entries are found by timestamp. */
    VALIDATION,
    /** Filters stay exact for new records; superseded records are invalidated in place. */
    MUTABLE_BITMAP,
    /** Each secondary component carries the keys deleted in it. */
    DELETED_KEY,
    /** The primary's merges tell the secondaries which versions were superseded. */
    DEFERRED,
    /**
     * As validation, but writes and queries decide when entries are repaired ({@link
     * RepairPlacement}).
     */
    AUTO;

    /** Whether writers don't look for the old record on disk; its entries then stay for a while. */
    public boolean isBlind() {
        return this == VALIDATION || this == DELETED_KEY || this == DEFERRED || this == AUTO;
    }

    /**
     * Whether a search of an index shows only valid entries: because the index has no others, or
     * because the search itself asks the deleted-key trees. Otherwise readers must validate what
     * they found.
     */
    public boolean isValidWhenFound() {
        return this == EAGER || this == DELETED_KEY;
    }

    /**
     * The strategy of the secondaries of a dataset with this strategy, unless they name their own.
     */
    public Maintenance ofItsIndexes() {
        return this == MUTABLE_BITMAP ? VALIDATION : this;
    }

    /**
     * Checks that a dataset can have this strategy.
     *
     * @throws InvalidRequestException saying what does not go together
     */
    public void checkOfDataset(String dataset, MergePolicySpec mergePolicy) {
        if (this == MUTABLE_BITMAP && !mergePolicy.isCorrelated()) {
            throw new InvalidRequestException(
                    "dataset %s: maintenance mutable-bitmap needs a correlated merge policy, such as correlated-%s, not %s"
                            .formatted(dataset, mergePolicy.kind(), mergePolicy.kind()));
        }
    }

    /**
     * Checks that an index can have this strategy.
     *
     * @throws InvalidRequestException saying what does not go together
     */
    public void checkOfIndex(String dataset, String index, boolean unique) {
        if (unique && this != EAGER) {
            throw new InvalidRequestException(
                    "dataset %s: index %s is unique and needs maintenance eager, not %s: a key can be refused only if its owner is known"
                            .formatted(dataset, index, label()));
        }
        if (this == MUTABLE_BITMAP) {
            throw new InvalidRequestException(
                    "dataset %s: maintenance mutable-bitmap is for a dataset, not for index %s; indexes have eager, validation, deleted-key, deferred or auto"
                            .formatted(dataset, index));
        }
    }

    /**
     * Checks that an index can have this strategy in a dataset with the given strategy and merge
     * policy.
     *
     * @throws InvalidRequestException saying what does not go together
     */
    public void checkWithin(
            Maintenance ofDataset, MergePolicySpec mergePolicy, String dataset, String index) {
        if (ofDataset == MUTABLE_BITMAP && (this == EAGER || this == DEFERRED)) {
            // an eager index needs old records to replay a write, a deferred one a merge that has
            // both
            throw new InvalidRequestException(
                    "dataset %s: index %s has maintenance %s, which does not go with mutable-bitmap: its merges pass over what is superseded; validation goes"
                            .formatted(dataset, index, label()));
        }
        if (this == DEFERRED && !mergePolicy.isCorrelated()) {
            throw new InvalidRequestException(
                    "dataset %s: index %s has maintenance deferred, which needs a correlated merge policy, such as correlated-%s, not %s: what the primary's merge discards goes into the same merge of the index"
                            .formatted(dataset, index, mergePolicy.kind(), mergePolicy.kind()));
        }
    }

    /**
     * Checks that a dataset's choice of repair suits this strategy.
     *
     * @param what has this strategy, for the message
     * @throws InvalidRequestException saying what does not go together
     */
    public void checkRepair(MergeRepair repair, String dataset, String what) {
        if (this == AUTO && repair == MergeRepair.OFF) {
            throw new InvalidRequestException(
                    "dataset %s: %s has maintenance auto, which does not go with repair off: when to repair is what auto decides; leave repair out, or take validation"
                            .formatted(dataset, what));
        }
    }

    /**
     * As {@link #ofLabel}, of an index. {@link #MUTABLE_BITMAP} is left to {@link #checkOfIndex}.
     *
     * @throws InvalidRequestException listing the strategies that indexes have
     */
    public static Maintenance ofIndexLabel(String label) {
        return of(label)
                .orElseThrow(() ->
                        new InvalidRequestException("unknown maintenance '%s'; indexes have %s"
                                .formatted(label, labels(one -> one != MUTABLE_BITMAP))));
    }

    /** The name in definitions: {@code mutable-bitmap}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * The strategy with this label.
     *
     * @throws InvalidRequestException listing the strategies
     */
    public static Maintenance ofLabel(String label) {
        return of(label)
                .orElseThrow(() ->
                        new InvalidRequestException("unknown maintenance '%s'; strategies are %s"
                                .formatted(label, labels(one -> true))));
    }

    private static Optional<Maintenance> of(String label) {
        return Arrays.stream(values()).filter(one -> one.label().equals(label)).findFirst();
    }

    private static String labels(Predicate<Maintenance> which) {
        return Arrays.stream(values())
                .filter(which)
                .map(Maintenance::label)
                .collect(Collectors.joining(", "));
    }
}
