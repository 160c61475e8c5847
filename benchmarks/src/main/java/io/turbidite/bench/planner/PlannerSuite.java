package io.turbidite.bench.planner;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.planner.Questions.Question;
import io.turbidite.bench.planner.Questions.Way;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.ops.Explanation;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.Relation;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the planner takes against the cheapest of all ways, over random questions whose cheapest way
 * takes a millisecond or more: CPU time of the one thread that answers, medians. The ways of a
 * question about one dataset are a scan, each index, and each two of them; those of a join are all
 * orders in which its relations are connected. All ways must find as many rows.
 */
public final class PlannerSuite {
    private static final String SHARE = "within 2 times, %";
    private static final String MEDIAN = "median";
    private static final String P95 = "95th percentile";
    private static final String WORST = "worst";
    private static final String COUNT = "questions";
    private static final String TAKEN = "taken, us";
    private static final String CHEAPEST = "cheapest, us";
    private static final long NANOS_MIN = 1_000_000;

    /** What is so much dearer at first need not be measured often. */
    private static final double CLEARLY_DEARER = 10;

    private static final int TRIES_EACH = 50;

    private final int queries;
    private final int records;
    private final int rounds;
    private final long seed;
    private final Path directory;
    private final Aims aims = new Aims();

    /** A question's figures, in nanoseconds. */
    private record Answer(Question question, double taken, double cheapest, String why) {
        double ratio() {
            return taken / cheapest;
        }
    }

    /**
     * @param queries questions that count
     * @param records flights at most, and tweets
     * @param rounds counted rounds of each way
     * @param seed of the questions
     * @param directory for the store; emptied
     */
    public PlannerSuite(int queries, int records, int rounds, long seed, Path directory) {
        this.queries = queries;
        this.records = records;
        this.rounds = rounds;
        this.seed = seed;
        this.directory = directory;
    }

    public List<Report> run() {
        Path place = Scratch.empty(directory.resolve("planner"));
        List<Answer> answers = new ArrayList<>();
        try (PlannerStore store =
                new PlannerStore(place, Path.of("feeds", "samples", "flights.yaml"), records)) {
            Questions questions = new Questions(store, seed);
            for (int tries = 0; answers.size() < queries && tries < queries * TRIES_EACH; tries++) {
                Answer answer = answer(questions.next());
                if (answer != null) {
                    answers.add(answer);
                }
            }
        }
        Scratch.delete(place);
        return reports(answers);
    }

    /** Null if some way takes less than what counts. */
    private @Nullable Answer answer(Question question) {
        Map<String, Double> first = new TreeMap<>();
        long rows = -1;
        for (Map.Entry<String, Way> way : question.ways().entrySet()) {
            long before = ThreadCosts.nanos();
            try {
                long found = rows(way.getValue().relation());
                first.put(way.getKey(), (double) (ThreadCosts.nanos() - before));
                if (rows >= 0 && rows != found) {
                    throw new IllegalStateException("%s by %s: %d, another way %d"
                            .formatted(question.text(), way.getKey(), found, rows));
                }
                rows = found;
            } catch (InvalidRequestException e) {
                if (way.getKey().equals(Questions.PLANNED)) {
                    throw e;
                }
                // an index that has nothing to do with the question
            }
        }
        double least = first.values().stream().min(Double::compare).orElseThrow();
        if (least < NANOS_MIN / 2) {
            return null;
        }
        String cheapest = Questions.PLANNED;
        double cheapestNanos = Double.POSITIVE_INFINITY;
        double taken = 0;
        for (Map.Entry<String, Double> way : first.entrySet()) {
            boolean isPlanned = way.getKey().equals(Questions.PLANNED);
            if (!isPlanned && way.getValue() > CLEARLY_DEARER * least) {
                continue;
            }
            double nanos = median(question, way.getKey());
            taken = isPlanned ? nanos : taken;
            if (nanos < cheapestNanos) {
                cheapest = way.getKey();
                cheapestNanos = nanos;
            }
        }
        return cheapestNanos < NANOS_MIN
                ? null
                : new Answer(question, taken, cheapestNanos, why(question, cheapest));
    }

    private double median(Question question, String way) {
        double[] nanos = new double[rounds];
        for (int round = -1; round < rounds; round++) {
            long before = ThreadCosts.nanos();
            var _ = rows(question.relation(way));
            if (round >= 0) {
                nanos[round] = (double) (ThreadCosts.nanos() - before);
            }
        }
        Arrays.sort(nanos);
        return nanos[rounds / 2];
    }

    private static long rows(Relation relation) {
        long count = 0;
        try (QueryResult result = relation.run()) {
            if (result.rowType().declared().size() == 1 && result.rowType().indexOf("count") == 0) {
                return result.count();
            }
            while (result.next()) {
                count++;
            }
        }
        return count;
    }

    /** The way that was taken, and where its estimate is furthest from the truth. */
    private static String why(Question question, String cheapest) {
        Explanation explanation;
        try (QueryResult result = question.relation(Questions.PLANNED).run()) {
            while (result.next()) {
                // its steps are counted
            }
            explanation = result.explain();
        }
        String furthest = "";
        double most = 1;
        for (Explanation.Operator step : explanation.operators()) {
            if (step.estimatedRows().isEmpty() || step.actualRows().isEmpty()) {
                continue;
            }
            long expected = step.estimatedRows().getAsLong();
            long there = step.actualRows().getAsLong();
            double off = (Math.max(expected, there) + 1.0) / (Math.min(expected, there) + 1.0);
            if (off > most) {
                most = off;
                furthest = String.format(
                        Locale.ROOT,
                        "; %s expected %,d rows and gave %,d",
                        step.name(),
                        expected,
                        there);
            }
        }
        return "%s, not %s%s".formatted(explanation.access(), cheapest, furthest);
    }

    private List<Report> reports(List<Answer> answers) {
        Report kinds =
                report("Taken against the cheapest way", List.of(COUNT, SHARE, MEDIAN, P95, WORST));
        Map<String, List<Answer>> byKind = new TreeMap<>();
        for (Answer answer : answers) {
            byKind.computeIfAbsent(answer.question().kind(), _ -> new ArrayList<>())
                    .add(answer);
        }
        byKind.forEach((kind, of) -> add(kinds, kind, of));
        add(kinds, "all", answers);
        aims.atLeast("share within 2 times of the cheapest", 0.95, within(answers));
        Report far = report("Above 2 times", List.of(TAKEN, CHEAPEST));
        for (Answer answer : answers) {
            if (answer.ratio() > 2) {
                String what = "%s: %s".formatted(answer.question().text(), answer.why());
                far.add(what, TAKEN, answer.taken() / 1e3);
                far.add(what, CHEAPEST, answer.cheapest() / 1e3);
            }
        }
        List<Report> all =
                new ArrayList<>(List.of(aims.into(report("What was wanted", Aims.COLUMNS)), kinds));
        if (!far.works().isEmpty()) {
            all.add(far);
        }
        return all;
    }

    private Report report(String title, List<String> columns) {
        return new Report(title, columns)
                .setting("machine", Report.machine())
                .setting(
                        "data",
                        "at most %,d flights with planes, carriers and airports, and as many tweets with users and places; in the cache, one thread"
                                .formatted(records))
                .setting(
                        "figure",
                        "medians of %d rounds; the cheapest way takes 1 ms or more"
                                .formatted(rounds))
                .setting(
                        "command",
                        "./turbidite bench planner --queries %d --records %d --rounds %d --seed %d"
                                .formatted(queries, records, rounds, seed));
    }

    private static double within(List<Answer> answers) {
        long near = answers.stream().filter(answer -> answer.ratio() <= 2).count();
        return (double) near / Math.max(1, answers.size());
    }

    private static void add(Report report, String kind, List<Answer> of) {
        double[] ratios = of.stream().mapToDouble(Answer::ratio).sorted().toArray();
        if (ratios.length == 0) {
            throw new IllegalStateException("no question counts: raise --records");
        }
        report.add(kind, COUNT, ratios.length);
        report.add(kind, SHARE, 100 * within(of));
        report.add(kind, MEDIAN, ratios[ratios.length / 2]);
        report.add(kind, P95, ratios[(int) (ratios.length * 0.95)]);
        report.add(kind, WORST, ratios[ratios.length - 1]);
    }
}
