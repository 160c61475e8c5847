package io.turbidite.bench.engine;

import io.turbidite.bench.peer.Engine;
import io.turbidite.bench.peer.Engine.Answer;
import io.turbidite.bench.peer.RecordSize;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.bench.report.Report;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * One engine's turn in a round: what it does is done, its answers are compared with those of the
 * engines before it, and what it cost goes into the report if the round counts.
 */
final class Turn {
    private final Engine engine;
    private final boolean counts;
    private final Report report;
    private final RecordSize size;
    private final Map<String, Object> answers;
    private final String of;

    /** @param answers of the other engines in this round, by work */
    Turn(
            Engine engine,
            boolean counts,
            Report report,
            RecordSize size,
            Map<String, Object> answers) {
        this(engine, counts, report, size, answers, "");
    }

    /** @param of what the name of each work ends with, where a report has several turns of one */
    Turn(
            Engine engine,
            boolean counts,
            Report report,
            RecordSize size,
            Map<String, Object> answers,
            String of) {
        this.engine = engine;
        this.counts = counts;
        this.report = report;
        this.size = size;
        this.answers = answers;
        this.of = of;
    }

    /** The work whose figure is bytes written for each byte that was upserted. */
    static String written(RecordSize size) {
        return "upsert, bytes written / byte of " + size.plural();
    }

    boolean counts() {
        return counts;
    }

    /** Upserts so many, until no background work is left. */
    void ingest(TweetSource source, int upserts) {
        Tweet tweet = new Tweet();
        Engine.Writer writer = engine.newWriter();
        long allocated = Costs.allocatedBytes();
        long written = writtenButZeros();
        Spent spent = new Spent();
        for (int i = 0; i < upserts; i++) {
            source.next(tweet);
            writer.upsert(tweet);
        }
        engine.settle();
        spent.note("upsert, us", 1e3 * upserts);
        note("upsert, bytes allocated", (Costs.allocatedBytes() - allocated) / (double) upserts);
        double bytes = (double) upserts * size.meanBytes();
        note(written(size), (writtenButZeros() - written) / bytes);
        note(
                "log space written ahead, once / byte of " + size.plural(),
                engine.aheadBytes() / bytes);
    }

    /**
     * All bytes written so far but zeros that set space aside: those of the opening belong to no
     * count, and those that come meanwhile to neither figure of one.
     */
    private long writtenButZeros() {
        long zeros;
        long written;
        do {
            zeros = engine.aheadBytes();
            written = Costs.writtenBytes() + engine.storedBytes();
        } while (engine.aheadBytes() != zeros);
        return written - zeros;
    }

    /** Gets of keys that are there, then of keys that are not, so many of each. */
    void gets(TweetSource source, int count, long seed) {
        SplittableRandom present = new SplittableRandom(seed);
        timed("get present, us", count, () -> get(source, present));
        SplittableRandom absent = new SplittableRandom(seed + 1);
        timed("get absent, us", count, () -> engine.get(absent.nextLong()));
    }

    private long get(TweetSource source, SplittableRandom chooser) {
        int attribute = engine.get(source.pastId(chooser));
        if (attribute < 0) {
            throw new IllegalStateException(
                    "%s has lost one of its %s".formatted(engine.name(), size.plural()));
        }
        return attribute;
    }

    private void timed(String work, int count, LongSupplier operation) {
        long sum = 0;
        Spent spent = new Spent();
        for (int i = 0; i < count; i++) {
            sum += operation.getAsLong();
        }
        spent.note(work, 1e3 * count);
        check(work, sum);
    }

    /** Asks once, in milliseconds. */
    void askOnce(String work, Supplier<Answer> query) {
        Spent spent = new Spent();
        check(work, query.get());
        spent.note(work, 1e6);
    }

    /** Asks once to warm the cache, then so often; a time is in units of {@code nanos}. */
    Answer ask(String work, double nanos, int times, Supplier<Answer> query) {
        Answer first = query.get();
        check(work, first);
        Spent spent = new Spent();
        for (int i = 0; i < times; i++) {
            check(work, query.get());
        }
        spent.note(work, nanos * times);
        return first;
    }

    /** Notes a figure, if the round counts. */
    void note(String work, double figure) {
        if (counts) {
            report.add(work + of, engine.name(), figure);
        }
    }

    /** The same work must give the same answer, whoever does it. */
    private void check(String work, Object answer) {
        Object before = answers.putIfAbsent(work, answer);
        if (before != null && !before.equals(answer)) {
            throw new IllegalStateException("%s%s: one engine says %s, %s %s"
                    .formatted(work, of, before, engine.name(), answer));
        }
    }

    /** CPU time from its making on. */
    private final class Spent {
        private final long compiler = Costs.compilerNanos();
        private final long all = Costs.cpuNanos();

        /** Notes it for {@code work}, in units of {@code nanos}; also without the compiler. */
        void note(String work, double nanos) {
            long spent = Costs.cpuNanos() - all;
            long compiled = Costs.compilerNanos() - compiler;
            Turn.this.note(work, spent / nanos);
            Turn.this.note(work + ", less the compiler", (spent - compiled) / nanos);
        }
    }
}
