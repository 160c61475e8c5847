package io.turbidite.bench.hashlog;

import io.turbidite.bench.report.Report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What the hash log should reach, and what a run has seen: the first table of its report. */
final class Aims {
    private record Aim(String what, boolean atLeast, double wanted, double seen) {
        boolean isMet() {
            return atLeast ? seen >= wanted : seen <= wanted;
        }

        String text() {
            return String.format(
                    Locale.ROOT,
                    "%s: %.3f, wanted %s %.2f",
                    what,
                    seen,
                    atLeast ? "at least" : "at most",
                    wanted);
        }
    }

    private final List<Aim> aims = new ArrayList<>();

    void atLeast(String what, double wanted, double seen) {
        aims.add(new Aim(what, true, wanted, seen));
    }

    void atMost(String what, double wanted, double seen) {
        aims.add(new Aim(what, false, wanted, seen));
    }

    /** One row an aim; {@code report} is empty, with the columns "seen", "at least", "at most". */
    Report into(Report report) {
        List<String> missed =
                aims.stream().filter(aim -> !aim.isMet()).map(Aim::text).toList();
        report.setting(
                "aims",
                "%d, of which %d are met".formatted(aims.size(), aims.size() - missed.size()));
        report.setting("missed", missed.isEmpty() ? "none" : String.join("; ", missed));
        for (Aim aim : aims) {
            report.add(aim.what, "seen", aim.seen);
            report.add(aim.what, aim.atLeast ? "at least" : "at most", aim.wanted);
        }
        return report;
    }

    boolean isEmpty() {
        return aims.isEmpty();
    }
}
