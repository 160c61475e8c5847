package io.turbidite.lsm.strategy.advice;

import io.turbidite.lsm.schema.RepairPlacement;

import java.util.Locale;

/**
 * Says where the repair of an index under auto belongs (what LUO19 §7 leaves to do: queries drive
 * maintenance).
 *
 * <ol>
 *   <li><b>Never</b>, while there is nothing to find: hardly an entry is obsolete, and hardly a
 *       write takes the place of something.
 *   <li><b>Now</b>, when queries have paid as much for obsolete entries since the last repair as a
 *       repair costs. Whoever rents until he has paid the price, and buys then, never pays more
 *       than twice what he would have paid had he known what was coming. Or when a single query
 *       passed over more than a query should.
 *   <li><b>At merge</b>, while queries pay as much for obsolete entries as merges would to find
 *       them: these have the entries in hand, and pay for the keys alone.
 *   <li><b>When idle</b> otherwise: nobody pays, so nobody is made to wait.
 * </ol>
 *
 * A place is left later than it is entered, so that a workload on the border does not move it to
 * and fro. Where nothing is written or asked it stays: that is no evidence.
 *
 * <p>Prices are pages: an obsolete entry that a query returns costs one, of the record that is not
 * the one, or of a key tree. Stateless and pure.
 */
public final class RepairPlanner {
    /**
     * Obsolete entries, or writes that take the place of something, from which on there is
     * something to find.
     */
    static final double GARBAGE_ENTER = 0.05;

    /**
     * Below this there is nothing to find any more; and no repair by itself is worth its beginning.
     */
    static final double GARBAGE_LEAVE = 0.01;

    /** What queries pay for each page that merges would: from here on merges do it. */
    static final double PAY_ENTER = 1;

    /** Below this they don't any more. */
    static final double PAY_LEAVE = 0.25;

    /**
     * Obsolete entries that one query may pass over before something is done about them (DEFER18).
     */
    static final long PASSED_OVER_MAX = 10_000;

    /**
     * And only if they are more than this part of what the index gave it: to find many in a large
     * answer is no waste.
     */
    static final double PASSED_OVER_SHARE = 0.2;

    private RepairPlanner() {}

    /** Whether one query passed over more obsolete entries than a query should. */
    public static boolean isTooMuch(long passedOver, long candidates) {
        return passedOver > PASSED_OVER_MAX && passedOver > PASSED_OVER_SHARE * candidates;
    }

    /** Where the repair belongs, and whether one should begin. */
    public static RepairDecision decide(RepairEvidence evidence) {
        RepairEvidence.Debt debt = evidence.debt();
        double share = evidence.garbage().share();
        boolean worthIt = share >= GARBAGE_LEAVE && debt.repairPages() > 0;
        if (isClean(evidence)) {
            return new RepairDecision(
                    RepairPlacement.NEVER,
                    false,
                    text(
                            "%.1f %% of the entries are obsolete, and %.1f %% of the writes took the place of something: there is little to find",
                            100 * share, 100 * evidence.recent().updateShare()));
        }
        if (worthIt && debt.passedOverMax() > 0) {
            return new RepairDecision(
                    RepairPlacement.NOW,
                    true,
                    text(
                            "a query passed over %,d obsolete entries, more than one should",
                            debt.passedOverMax()));
        }
        if (worthIt && debt.paidPages() >= debt.repairPages()) {
            return new RepairDecision(
                    RepairPlacement.NOW,
                    true,
                    text(
                            "since the last repair queries read %,.0f pages for obsolete entries, a repair reads %,.0f",
                            debt.paidPages(), debt.repairPages()));
        }
        boolean isDue = worthIt && evidence.isQuiet();
        RepairEvidence.Recent recent = evidence.recent();
        double limit = evidence.now().atMerge() ? PAY_LEAVE : PAY_ENTER;
        boolean atMerge =
                recent.paidPages() > 0 && recent.paidPages() >= limit * recent.mergePages();
        return new RepairDecision(
                atMerge ? RepairPlacement.AT_MERGE : RepairPlacement.WHEN_IDLE,
                isDue,
                text(
                        atMerge
                                ? "%.1f %% of the entries are obsolete; lately queries read %,.0f pages for such, and merges find them for %,.0f"
                                : "%.1f %% of the entries are obsolete, but lately queries read %,.0f pages for such, and merges would read %,.0f to find them",
                        100 * share,
                        recent.paidPages(),
                        recent.mergePages()));
    }

    private static boolean isClean(RepairEvidence evidence) {
        boolean isNever = evidence.now() == RepairPlacement.NEVER;
        double limit = isNever ? GARBAGE_ENTER : GARBAGE_LEAVE;
        boolean isKnown = isNever || evidence.recent().writes() >= 1;
        return isKnown
                && evidence.garbage().share() < limit
                && evidence.recent().updateShare() < limit;
    }

    // the annotation that the check asks for is of a library that is not among ours
    @SuppressWarnings("AnnotateFormatMethod")
    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
