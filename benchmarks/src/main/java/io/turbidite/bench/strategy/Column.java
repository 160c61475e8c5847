package io.turbidite.bench.strategy;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.peer.Engine.Answer;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.bench.report.Report;
import io.turbidite.core.time.Clock;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** One strategy's turn in a round: what it takes goes into the strategy's column. */
final class Column {
    /** Of each of the ranges; the CPU time of a process is told in steps of 10 ms. */
    private static final double CPU_MILLIS_MIN = 40;

    private static final int TIMES_MAX = 2_000;

    /** A query of a range that begins at a number. */
    @FunctionalInterface
    interface Query {
        Answer at(int low);
    }

    private final Clock clock = Clock.system();
    private final Report report;
    private final Regime regime;
    private final String name;
    private final boolean counted;
    private final int size;
    private final Map<String, Answer> answers;

    /**
     * @param size tweets of a store in this round
     * @param counted whether this is no round to warm up
     * @param answers of the round so far, by work
     */
    Column(
            Report report,
            Regime regime,
            String name,
            int size,
            boolean counted,
            Map<String, Answer> answers) {
        this.report = report;
        this.regime = regime;
        this.name = name;
        this.size = size;
        this.counted = counted;
        this.answers = answers;
    }

    String name() {
        return name;
    }

    Regime regime() {
        return regime;
    }

    int size() {
        return size;
    }

    /** Microseconds for each tweet, background work and the last flush included. */
    double load(TweetSource source, Consumer<Tweet> write, Runnable settle) {
        Tweet tweet = new Tweet();
        double micros = micros(() -> {
            for (int i = 0; i < size(); i++) {
                source.next(tweet);
                write.accept(tweet);
            }
            settle.run();
        });
        return micros / size();
    }

    /** Milliseconds of a query: of ranges here and there, each asked until the clock can tell. */
    void ask(String work, int ranges, Query query) {
        SplittableRandom random = new SplittableRandom(work.hashCode());
        double millis = 0;
        for (int i = 0; i < ranges; i++) {
            int low = random.nextInt(TweetSource.ATTRIBUTE_LIMIT * 8 / 10);
            long times = 0;
            double spent = 0;
            do {
                List<Answer> got = new ArrayList<>();
                spent += micros(() -> got.add(query.at(low))) / 1e3;
                times++;
                check(work + regime.name() + low, got.getFirst());
            } while (!regime.isByWall() && spent < CPU_MILLIS_MIN && times < TIMES_MAX);
            millis += spent / times;
        }
        note(work, millis / ranges);
    }

    double micros(Runnable work) {
        long start = nanos();
        work.run();
        return (nanos() - start) / 1e3;
    }

    private long nanos() {
        return regime.isByWall() ? clock.monotonicNanos() : Costs.cpuNanos();
    }

    /** What the papers' disk would have taken, beside the wall time of this one. */
    void noteDisk(String work, String unit, long nanos, double nanosOfUnit) {
        if (regime.isByWall()) {
            note(work + ", papers' disk" + unit, nanos / nanosOfUnit);
        }
    }

    void note(String work, double figure) {
        if (counted) {
            report.add(work, name, figure);
        }
    }

    /** The same work must give the same answer under each strategy. */
    void check(String work, Answer answer) {
        Answer before = answers.putIfAbsent(work, answer);
        if (before != null && !before.equals(answer)) {
            throw new IllegalStateException("%s: one strategy says %s, another (%s) %s"
                    .formatted(work, before, name, answer));
        }
    }
}
