package io.turbidite.lsm.strategy.advice;

import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.strategy.advice.Facts.IndexFacts;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Says what was measured, and what follows from it, in sentences. Stateless. */
final class Reasons {
    private Reasons() {}

    /** Of a dataset. */
    static List<String> of(Facts facts) {
        Facts.Writes writes = facts.writes();
        Facts.Primary primary = facts.primary();
        List<String> lines = new ArrayList<>();
        lines.add(text(
                "%,d writes were flushed, %,d of them deletes", writes.count(), writes.deletes()));
        lines.add(text(
                writes.isCounted()
                        ? "%.1f %% took the place of an older version: writers looked for it, and counted"
                        : "about %.1f %% took the place of an older version: what flushes and merges met, and keys that components have in common",
                100 * writes.updateShare()));
        lines.add(text(
                "an entry is written %.1f times, by its flush and by merges",
                writes.amplification()));
        lines.add(text(
                "to look for an old record costs %.2f pages read if there is one, %.2f if there is none (%.1f components; Bloom filters err %.2f %% of the time)",
                CostModel.presentLookup(facts),
                CostModel.absentLookup(facts),
                primary.components(),
                100 * primary.bloomRate()));
        boolean eager = facts.indexes().stream()
                .anyMatch(index -> index.maintenance() == Maintenance.EAGER);
        double pages = CostModel.oldRecords(facts);
        if (facts.needsOldRecord()) {
            lines.add(text(
                    "the eager filter makes writers read old records whatever the indexes are: %,.0f pages so far",
                    pages));
        } else if (eager) {
            lines.add(text(
                    "eager indexes make writers read old records, once for all of them: %,.0f pages so far",
                    pages));
        } else {
            lines.add(text(
                    "no writer reads old records; one eager index would make all of them: %,.0f pages",
                    pages));
        }
        if (facts.indexes().stream().anyMatch(index -> index.returned() > 0)) {
            lines.add(text(
                    "queries fetched the records of %.0f %% of what indexes returned, and needed none for the rest",
                    100 * facts.fetchShare()));
        }
        return lines;
    }

    /** Of an index. */
    static List<String> of(
            Facts facts, IndexFacts index, Maintenance advised, Map<Maintenance, Cost> costs) {
        List<String> lines = new ArrayList<>();
        lines.add(
                index.searches() == 0
                        ? "it was not searched"
                        : text(
                                "%,d searches returned %,d entries, %.1f %% of them obsolete as far as is known",
                                index.searches(), index.returned(), 100 * index.obsoleteShare()));
        RepairDecision repair = index.repair();
        if (repair != null) {
            lines.add(text("repair is placed %s: %s", repair.placement().label(), repair.reason()));
        }
        Cost now = costs.get(index.maintenance());
        Cost then = costs.get(advised);
        if (advised == index.maintenance() || now == null || then == null) {
            lines.add("keep " + index.maintenance().label());
            return lines;
        }
        lines.add(text(
                "take %s: %s",
                advised.label(),
                change("pages written", now.written(), then.written())
                        + change(", pages for merges", now.merging(), then.merging())
                        + change(", pages for queries", now.querying(), then.querying())));
        if (index.maintenance() == Maintenance.EAGER && !facts.needsOldRecord()) {
            lines.add("old records are read until the last eager index has changed");
        }
        return lines;
    }

    private static String change(String what, double now, double then) {
        return text("%s %,.0f instead of %,.0f", what, then, now);
    }

    // the annotation that the check asks for is of a library that is not among ours
    @SuppressWarnings("AnnotateFormatMethod")
    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
