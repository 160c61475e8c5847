package io.turbidite.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What a suite should reach, and what a run has seen: the first table of its report. */
public final class Aims {
    /** The columns of the report that {@link #into} fills. */
    public static final List<String> COLUMNS = List.of("seen", "at least", "at most");

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

    public void atLeast(String what, double wanted, double seen) {
        aims.add(new Aim(what, true, wanted, seen));
    }

    public void atMost(String what, double wanted, double seen) {
        aims.add(new Aim(what, false, wanted, seen));
    }

    /**
     * One row an aim, and no picture: an aim's figure is no figure of a work.
     *
     * @param report an empty one with {@link #COLUMNS}
     */
    public Report into(Report report) {
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
        return report.withoutPicture();
    }

    public boolean isEmpty() {
        return aims.isEmpty();
    }
}
