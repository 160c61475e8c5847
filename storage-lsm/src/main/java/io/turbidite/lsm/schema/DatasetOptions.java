package io.turbidite.lsm.schema;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.merge.MergePolicySpec;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * How a store keeps a dataset: what is chosen once for all of it. Specifications, schemas, feed
 * definitions, descriptions and the manifest hold these as they are. So an option more is written
 * down here; {@link Choice} says what the others need to know of it. <em>Immutable.</em>
 *
 * @param maintenance how filters follow updates, and indexes too unless they say otherwise. Change
 *     it when reading the old record before each write costs too much: docs/choosing.md asks the
 *     questions
 * @param mergePolicy which components become one. Change it when the default writes too much, or
 *     leaves too many components: docs/choosing.md asks the questions
 * @param components page size, compression and Bloom filter of the primary's disk components
 * @param retention how long records are kept by the first filter field; null: for ever. Needs a
 *     correlated, bounded merge policy. Set it when old records may go by themselves
 * @param repair whether merges repair indexes that are maintained by validation ({@code merge}) or
 *     not ({@code off}). Set it to {@code off} where writes must cost the least and somebody calls
 *     repair
 * @param bitmapHandover how invalidations reach components that are being built, under
 *     mutable-bitmap: by a {@code side-file} or under a {@code lock}. Change it to {@code lock}
 *     when {@code sidefile.full} counts up
 */
public record DatasetOptions(
        Maintenance maintenance,
        MergePolicySpec mergePolicy,
        ComponentOptions components,
        @Nullable Retention retention,
        MergeRepair repair,
        BitmapHandover bitmapHandover) {
    private static final DatasetOptions DEFAULTS = new DatasetOptions(
            Maintenance.EAGER,
            MergePolicySpec.standard(),
            ComponentOptions.primary(),
            null,
            MergeRepair.MERGE,
            BitmapHandover.SIDE_FILE);

    /**
     * The options that are one of a few words each. Their order is that of the manifest: a new one
     * comes last.
     */
    public enum Choice {
        /** How filters and indexes follow updates. */
        MAINTENANCE(
                "maintenance",
                labels(Maintenance.values(), Maintenance::label),
                options -> options.maintenance.label(),
                (options, label) -> options.maintenance(Maintenance.ofLabel(label))) {
            @Override
            public void check(DatasetOptions options, String dataset) {
                options.maintenance.checkOfDataset(dataset, options.mergePolicy);
            }
        },
        /** Whether merges repair. */
        REPAIR(
                "repair",
                labels(MergeRepair.values(), MergeRepair::label),
                options -> options.repair.label(),
                (options, label) -> options.repair(MergeRepair.ofLabel(label))) {
            @Override
            public void check(DatasetOptions options, String dataset) {
                options.maintenance.checkRepair(options.repair, dataset, "it");
            }
        },
        /** How invalidations reach what is being built. */
        BITMAP_HANDOVER(
                "bitmapHandover",
                labels(BitmapHandover.values(), BitmapHandover::label),
                options -> options.bitmapHandover.label(),
                (options, label) -> options.bitmapHandover(BitmapHandover.ofLabel(label))) {
            @Override
            public void check(DatasetOptions options, String dataset) {
                options.bitmapHandover.checkWith(options.maintenance, dataset);
            }
        };

        private final String key;

        @SuppressWarnings("ImmutableEnumChecker") // made by Stream.toList
        private final List<String> words;

        @SuppressWarnings("ImmutableEnumChecker") // a function that keeps nothing
        private final Function<DatasetOptions, String> label;

        @SuppressWarnings("ImmutableEnumChecker") // a function that keeps nothing
        private final BiFunction<Builder, String, Builder> choose;

        Choice(
                String key,
                List<String> words,
                Function<DatasetOptions, String> label,
                BiFunction<Builder, String, Builder> choose) {
            this.key = key;
            this.words = words;
            this.label = label;
            this.choose = choose;
        }

        private static <T> List<String> labels(T[] values, Function<T, String> label) {
            return Arrays.stream(values).map(label).toList();
        }

        /** Its key in definitions and descriptions. */
        public String key() {
            return key;
        }

        /** All that it can be. */
        public List<String> words() {
            return words;
        }

        /** What is chosen. */
        public String label(DatasetOptions options) {
            return label.apply(options);
        }

        /**
         * Chooses.
         *
         * @throws InvalidRequestException if it is none of the {@link #words}
         */
        public void choose(Builder options, String word) {
            var _ = choose.apply(options, word);
        }

        /**
         * Checks that what is chosen goes with the other options.
         *
         * @throws InvalidRequestException naming both
         */
        public abstract void check(DatasetOptions options, String dataset);
    }

    /** Eager maintenance, tiering merges, 16 KiB pages, no compression, kept for ever. */
    public static DatasetOptions defaults() {
        return DEFAULTS;
    }

    /** Begins with the {@link #defaults defaults}. */
    public static Builder builder() {
        return DEFAULTS.toBuilder();
    }

    /** Begins with these options. */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /**
     * Checks that each choice goes with the other options.
     *
     * @throws InvalidRequestException naming those that do not go together
     */
    void check(String dataset) {
        for (Choice choice : Choice.values()) {
            choice.check(this, dataset);
        }
    }

    /** What people and tools read of them, by the keys of definitions; null for none. */
    public Map<String, @Nullable String> labels() {
        Map<String, @Nullable String> labels = new LinkedHashMap<>();
        for (Choice choice : Choice.values()) {
            labels.put(choice.key(), choice.label(this));
            if (choice == Choice.MAINTENANCE) {
                labels.put("mergePolicy", mergePolicy.toString());
                labels.put("retain", retention == null ? null : retention.toString());
            }
        }
        return labels;
    }

    /**
     * Options under change; whether they go together is checked with the dataset. <em>Confined to
     * one thread.</em>
     */
    public static final class Builder {
        private Maintenance maintenance;
        private MergePolicySpec mergePolicy;
        private ComponentOptions components;
        private @Nullable Retention retention;
        private MergeRepair repair;
        private BitmapHandover bitmapHandover;

        private Builder(DatasetOptions from) {
            this.maintenance = from.maintenance;
            this.mergePolicy = from.mergePolicy;
            this.components = from.components;
            this.retention = from.retention;
            this.repair = from.repair;
            this.bitmapHandover = from.bitmapHandover;
        }

        /** Sets the option {@link DatasetOptions#maintenance}. */
        public Builder maintenance(Maintenance value) {
            maintenance = value;
            return this;
        }

        /** Sets the option {@link DatasetOptions#mergePolicy}. */
        public Builder mergePolicy(MergePolicySpec value) {
            mergePolicy = value;
            return this;
        }

        /** Sets the option {@link DatasetOptions#components}. */
        public Builder components(ComponentOptions value) {
            components = value;
            return this;
        }

        /** Sets the option {@link DatasetOptions#retention}. */
        public Builder retention(@Nullable Retention value) {
            retention = value;
            return this;
        }

        /** Sets the option {@link DatasetOptions#repair}. */
        public Builder repair(MergeRepair value) {
            repair = value;
            return this;
        }

        /** Sets the option {@link DatasetOptions#bitmapHandover}. */
        public Builder bitmapHandover(BitmapHandover value) {
            bitmapHandover = value;
            return this;
        }

        /** The options so far. Whether they go together is checked with the dataset. */
        public DatasetOptions build() {
            return new DatasetOptions(
                    maintenance, mergePolicy, components, retention, repair, bitmapHandover);
        }
    }
}
