package io.turbidite.lsm.strategy.advice;

import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.strategy.advice.Facts.IndexFacts;

/**
 * What maintenance costs, as a function of what was measured. Stateless and pure.
 *
 * <p>With C components of the primary, Bloom filters wrong at rate f, a share u of writes that take
 * the place of something, amplification W, and e entries to a page (k keys to a page of a key
 * tree):
 *
 * <ul>
 *   <li><b>The old record</b> costs a writer 1 + f (C - 1)/2 pages if there is one (half of the
 *       components are newer), f C if not. Once for a write, however many indexes want it.
 *   <li><b>Entries</b> of an upsert: as many as a version of a record has in the index, as
 *       counted, and under eager as much anti-matter for u of all writes (as if keys always
 *       changed); deleted-key writes a key besides for each write. Each entry is written W times, e
 *       to a page.
 *   <li><b>Merging</b>: validation has each entry looked up in key order each time that it is
 *       merged, k to a page, unless merges don't repair; deleted-key searches the deleted-key trees
 *       for each, in no order; deferred writes what is superseded to a sort and reads it back.
 *   <li><b>Auto</b> costs what validation does with merges that repair, or with such that don't,
 *       whichever is less.
 *   <li><b>Obsolete entries</b>: merges find those that they meet, and of W times that an entry is
 *       written the first is the flush. So about u / W of the entries are obsolete and not found
 *       out (u if merges don't repair), unless that was measured.
 *   <li><b>Queries</b> that fetch: a page for each obsolete candidate, under validation and
 *       deferred. Queries that don't: b candidates of a search are looked up in the P pages of key
 *       trees in key order, which touches P (1 - exp(-b/P)) of them (LUO19 §4.3). Deleted-key: f of
 *       the newer half of the deleted-key trees for each candidate, and a page for each obsolete
 *       one.
 * </ul>
 *
 * What is the same under all strategies, such as fetching valid records, is left out.
 */
public final class CostModel {
    /** Beyond it the model says nothing sensible, and would divide by next to nothing. */
    private static final double OBSOLETE_SHARE_MAX = 0.95;

    private CostModel() {}

    /** Pages that writers read if they must know the old record. */
    public static double oldRecords(Facts facts) {
        double share = facts.writes().updateShare();
        return facts.writes().count()
                * (share * presentLookup(facts) + (1 - share) * absentLookup(facts));
    }

    /** Pages to find a record that is there. */
    static double presentLookup(Facts facts) {
        Facts.Primary primary = facts.primary();
        return 1 + primary.bloomRate() * Math.max(0, primary.components() - 1) / 2;
    }

    /** Pages to find that a record is not there. */
    static double absentLookup(Facts facts) {
        return facts.primary().bloomRate() * facts.primary().components();
    }

    /** What a strategy costs an index, without the reading of old records. */
    public static Cost of(Facts facts, IndexFacts index, Maintenance strategy) {
        if (strategy == Maintenance.AUTO) {
            Cost repaired = cost(facts.withMergesRepair(true), index, strategy);
            Cost left = cost(facts.withMergesRepair(false), index, strategy);
            return repaired.total() < left.total() ? repaired : left;
        }
        return cost(facts, index, strategy);
    }

    private static Cost cost(Facts facts, IndexFacts index, Maintenance strategy) {
        return new Cost(
                written(facts, index, strategy),
                merging(facts, index, strategy),
                querying(facts, index, strategy));
    }

    private static double written(Facts facts, IndexFacts index, Maintenance strategy) {
        Facts.Writes writes = facts.writes();
        double entries = writes.upserts();
        double pages = 0;
        if (strategy == Maintenance.EAGER) {
            entries += writes.updateShare() * writes.count();
        } else if (strategy == Maintenance.DELETED_KEY) {
            pages = writes.count() * writes.amplification() / facts.primary().keysPerPage();
        }
        return pages
                + entries
                        * index.entriesPerVersion()
                        * writes.amplification()
                        / index.entriesPerPage();
    }

    private static double merging(Facts facts, IndexFacts index, Maintenance strategy) {
        Facts.Writes writes = facts.writes();
        double merged = writes.upserts() * index.entriesPerVersion() * (writes.amplification() - 1);
        return switch (strategy) {
            case EAGER -> 0;
            case VALIDATION, AUTO, MUTABLE_BITMAP ->
                facts.primary().mergesRepair() ? merged / facts.primary().keysPerPage() : 0;
            case DELETED_KEY -> merged * (writes.updateShare() + absentLookup(facts) / 2);
            case DEFERRED ->
                2
                        * writes.updateShare()
                        * writes.count()
                        * index.entriesPerVersion()
                        / index.entriesPerPage();
        };
    }

    private static double querying(Facts facts, IndexFacts index, Maintenance strategy) {
        if (strategy == Maintenance.EAGER || index.returned() == 0) {
            return 0;
        }
        double valid = index.returned() * (1 - index.obsoleteShare());
        double share = obsoleteShare(facts, index, strategy);
        double obsolete = valid * share / (1 - share);
        double candidates = valid + obsolete;
        if (strategy == Maintenance.DELETED_KEY) {
            return candidates * absentLookup(facts) / 2 + obsolete;
        }
        double fetching = facts.fetchShare() * obsolete * presentLookup(facts);
        double searches = Math.max(1, index.searches());
        double perSearch = candidates / searches;
        double pages = Math.max(1, facts.primary().keyPages());
        double touched = pages * -Math.expm1(-perSearch / pages);
        return fetching + (1 - facts.fetchShare()) * searches * touched;
    }

    /** The part of an index's entries that is obsolete and not found out. */
    static double obsoleteShare(Facts facts, IndexFacts index, Maintenance strategy) {
        boolean isValidated = strategy == Maintenance.VALIDATION || strategy == Maintenance.AUTO;
        boolean found = !isValidated || facts.primary().mergesRepair();
        double guess = facts.writes().updateShare() / (found ? facts.writes().amplification() : 1);
        boolean measured = strategy == index.maintenance() && index.obsoleteShare() > 0;
        return Math.min(OBSOLETE_SHARE_MAX, measured ? index.obsoleteShare() : guess);
    }
}
