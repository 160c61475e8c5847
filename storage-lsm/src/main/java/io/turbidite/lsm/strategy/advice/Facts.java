package io.turbidite.lsm.strategy.advice;

import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;

/**
 * What is known of a dataset and of what was done with it. <em>Immutable.</em>
 *
 * @param writes what was written
 * @param primary what the key trees and records are like
 * @param needsOldRecord whether writers must read the old record whatever its indexes are: for an
 *     exact filter
 * @param fetchShare the part of what indexes returned, 0 to 1, of which queries fetched the records
 * @param indexes its secondaries
 */
public record Facts(
        String dataset,
        Writes writes,
        Primary primary,
        boolean needsOldRecord,
        double fetchShare,
        List<IndexFacts> indexes) {
    public Facts {
        indexes = List.copyOf(indexes);
    }

    /** The same with merges that repair, or don't. */
    Facts withMergesRepair(boolean mergesRepair) {
        return new Facts(
                dataset,
                writes,
                new Primary(
                        primary.components,
                        primary.bloomRate,
                        primary.keyPages,
                        primary.keysPerPage,
                        mergesRepair),
                needsOldRecord,
                fetchShare,
                indexes);
    }

    /**
     * What was written.
     *
     * @param count upserts, inserts and deletes
     * @param deletes of these
     * @param updateShare the part of them, 0 to 1, that took the place of an older version
     * @param isCounted whether that share was counted by writers; otherwise it is what flushes and
     *     merges found, and about as much as components have keys in common
     * @param amplification how often an entry is written by flushes and merges, at least 1
     */
    public record Writes(
            long count, long deletes, double updateShare, boolean isCounted, double amplification) {
        long upserts() {
            return count - deletes;
        }
    }

    /**
     * The primary, averages for a partition.
     *
     * @param components on disk
     * @param bloomRate false positives of a Bloom filter, 0 to 1; 1 if there are none
     * @param keyPages leaf pages of all key trees
     * @param keysPerPage of a key tree
     * @param mergesRepair whether merges of indexes under validation look for obsolete entries
     *     there
     */
    public record Primary(
            double components,
            double bloomRate,
            double keyPages,
            double keysPerPage,
            boolean mergesRepair) {}

    /**
     * A secondary.
     *
     * @param maintenance how it is maintained now
     * @param refused the strategies that its definition would refuse, each with the reason
     * @param entriesPerPage on disk
     * @param entriesPerVersion entries that a version of a record has, as they were counted
     * @param searches one for each partition and query
     * @param returned entries that these gave, obsolete ones included
     * @param obsoleteShare the part of them that was obsolete, 0 to 1, as far as it was found out
     * @param repair where its repair is placed, of an index under auto; else null
     */
    public record IndexFacts(
            String name,
            Maintenance maintenance,
            Map<Maintenance, String> refused,
            double entriesPerPage,
            double entriesPerVersion,
            long searches,
            long returned,
            double obsoleteShare,
            @Nullable RepairDecision repair) {
        public IndexFacts {
            refused = Map.copyOf(refused);
        }
    }
}
