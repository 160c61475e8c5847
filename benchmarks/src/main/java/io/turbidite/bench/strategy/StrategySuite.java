package io.turbidite.bench.strategy;

import io.turbidite.bench.engine.PricedDisk;
import io.turbidite.bench.peer.Engine.Answer;
import io.turbidite.bench.peer.RocksEngine;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.bench.strategy.TweetStore.Shape;
import io.turbidite.bench.strategy.TweetStore.Validation;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * The experiments on maintenance strategies, each in two regimes: everything in cache, where the
 * figure is CPU time of the process, and the papers', with a small cache and direct I/O, where it
 * is wall time. Background work is included: a measured load ends when everything is flushed.
 * Strategies take turns in a round, on the same tweets, and their answers are compared. The first
 * rounds warm up and are not counted.
 */
public final class StrategySuite {
    private static final double[] SELECTED_PERCENTS = {0.01, 0.1, 1, 10};

    /** A peer that writes blindly too; in cache only. */
    private static final String PEER = "RocksDB, blind";

    private static final String BY_KEY_TREES = "secondary repair";
    private static final String BY_RECORDS = "primary repair (DELI)";
    private static final String BY_MERGE = "deferred: merge of the primary";

    private final int tweets;
    private final int warmUpRounds;
    private final int rounds;
    private final StrategyTurns turns;
    private final List<String> names;

    /**
     * @param tweets a store
     * @param warmUpRounds before those that count
     * @param rounds counted rounds
     * @param directory for the stores; emptied
     */
    public StrategySuite(int tweets, int warmUpRounds, int rounds, Path directory) {
        this.tweets = tweets;
        this.warmUpRounds = warmUpRounds;
        this.rounds = rounds;
        this.turns = new StrategyTurns(tweets, warmUpRounds, rounds, directory);
        this.names = Recipe.all().stream().map(Recipe::name).toList();
    }

    private List<Regime> regimes() {
        return List.of(Regime.inCache(), Regime.small(tweets));
    }

    /** LUO19 Figure 11: what a primary key index saves inserts that must find their key free. */
    public List<Report> insert() {
        Map<String, Shape> shapes = Map.of(
                "with key tree",
                Shape.standard(),
                "without",
                new Shape(1, false, "correlated-tiering"));
        List<Report> reports = new ArrayList<>();
        for (Regime regime : regimes()) {
            List<String> names = List.of("with key tree", "without");
            Report report = report(
                    "insert",
                    "Inserts with unique keys (LUO19 Figure 11), " + regime.name(),
                    names,
                    "the primary key index keeps inserts fast once the data is larger than the cache");
            for (double duplicates : new double[] {0, 0.5}) {
                turns.take(report, regime, names, column -> {
                    TweetSource source = new TweetSource(7, column.size(), duplicates);
                    try (TweetStore store = turns.open(
                            Recipe.EAGER,
                            shapes.getOrDefault(column.name(), Shape.standard()),
                            regime)) {
                        double micros = column.load(source, store::insert, store::flush);
                        column.note(
                                "%.0f %% duplicates, us an insert".formatted(100 * duplicates),
                                micros);
                    }
                });
            }
            reports.add(report);
        }
        return reports;
    }

    /**
     * LUO19 Figures 12, 13a and 13b: upserts by update ratio, size of merges, number of indexes.
     */
    public List<Report> upsert() {
        List<Report> reports = new ArrayList<>();
        Aims aims = new Aims();
        for (Regime regime : regimes()) {
            Report byRatio = report(
                    "upsert",
                    "Upserts by update ratio (LUO19 Figure 12), " + regime.name(),
                    namesAndPeer(regime),
                    "eager is slowest for its point lookups, validation without repair fastest, repair costs little,"
                            + " mutable-bitmap is near validation");
            for (double ratio : new double[] {0, 0.1, 0.5}) {
                upserts(
                        byRatio,
                        "%.0f %% updates".formatted(100 * ratio),
                        ratio,
                        Shape.standard(),
                        regime);
            }
            reports.add(byRatio);
            if (regime.isByWall()) {
                String half = "50 % updates, us an upsert";
                atLeast(aims, byRatio, half, Recipe.EAGER.name(), Recipe.VALIDATION.name(), 4);
                atLeast(aims, byRatio, half, Recipe.EAGER.name(), Recipe.BITMAP.name(), 2);
                aims.atMost(
                        "merge repair's cost, " + half,
                        1.15,
                        byRatio.figure(half, Recipe.REPAIR.name())
                                / byRatio.figure(half, Recipe.VALIDATION.name()));
            } else {
                String tenth = "10 % updates, us an upsert";
                atLeast(aims, byRatio, tenth, Recipe.EAGER.name(), Recipe.VALIDATION.name(), 1.3);
                atLeast(aims, byRatio, tenth, PEER, Recipe.VALIDATION.name(), 1.5);
            }
        }
        reports.addFirst(aims.into(aimsReport("upsert")));
        Regime small = Regime.small(tweets);
        Report byMerges = report(
                "upsert",
                "Upserts by the size of merges, 10 % updates (LUO19 Figure 13a), " + small.name(),
                names,
                "more merges make all strategies slower, their order stays");
        for (String max : List.of("4MiB", "32MiB", "1GiB")) {
            Shape shape =
                    new Shape(1, true, "correlated-tiering(mergeableBytesMax=%s)".formatted(max));
            upserts(byMerges, "merges up to " + max, 0.1, shape, small);
        }
        reports.add(byMerges);
        Report byIndexes = report(
                "upsert",
                "Upserts by the number of secondary indexes, 10 % updates (LUO19 Figure 13b), "
                        + small.name(),
                names,
                "each index makes all slower, validation relatively more: its cost is flush and merge");
        for (int indexes : new int[] {1, 2, 4}) {
            Shape shape = new Shape(indexes, true, "correlated-tiering");
            upserts(byIndexes, indexes + " indexes", 0.1, shape, small);
        }
        reports.add(byIndexes);
        return reports;
    }

    private void upserts(Report report, String work, double ratio, Shape shape, Regime regime) {
        turns.take(report, regime, namesAndPeer(regime), column -> {
            TweetSource source = new TweetSource(11, column.size(), ratio);
            if (column.name().equals(PEER)) {
                try (RocksEngine peer = turns.openPeer(regime)) {
                    double micros = column.load(source, peer.newWriter()::upsert, peer::settle);
                    column.note(work + ", us an upsert", micros);
                    column.check(work + regime.name(), peer.scan());
                }
                return;
            }
            try (TweetStore store = turns.open(Recipe.named(column.name()), shape, regime)) {
                double micros = column.load(source, store::upsert, store::flush);
                column.note(work + ", us an upsert", micros);
                column.noteDisk(
                        work, ", us an upsert", store.papersDiskNanos(), 1e3 * column.size());
                column.note(work + ", pages read an upsert", store.pagesRead() / column.size());
                column.check(work + regime.name(), store.scan());
            }
        });
    }

    /** LUO19 Figures 14 and 15: queries by secondary index, to the records and index-only. */
    public List<Report> query() {
        List<Report> reports = new ArrayList<>();
        Aims aims = new Aims();
        for (Regime regime : regimes()) {
            for (double ratio : new double[] {0, 0.5}) {
                Report report = query(regime, ratio);
                reports.add(report);
                if (ratio > 0) {
                    aimOfQueries(aims, report, regime);
                }
            }
        }
        reports.addFirst(aims.into(aimsReport("query")));
        return reports;
    }

    private static void aimOfQueries(Aims aims, Report report, Regime regime) {
        String widest = "10.0 % of the records";
        for (Recipe recipe : List.of(Recipe.EAGER, Recipe.VALIDATION, Recipe.REPAIR)) {
            aims.atLeast(
                    "full scan / query of %s, %s, %s"
                            .formatted(widest, recipe.name(), regime.name()),
                    1,
                    report.figure("full scan, ms", recipe.name())
                            / report.figure(widest + ", direct, ms", recipe.name()));
        }
        if (!regime.isByWall()) {
            String indexOnly = widest + ", index-only, ms";
            double validation = report.figure(indexOnly, Recipe.VALIDATION.name());
            aims.atMost(
                    "validation / eager, " + indexOnly,
                    1.5,
                    validation / report.figure(indexOnly, Recipe.EAGER.name()));
            aims.atMost(
                    "validation / %s, %s".formatted(PEER, indexOnly),
                    0.06,
                    validation / report.figure(indexOnly, PEER));
        }
    }

    private Report query(Regime regime, double ratio) {
        Report report = report(
                "query",
                "Queries by secondary index, %.0f %% updates (LUO19 Figures 14 and 15), %s"
                        .formatted(100 * ratio, regime.name()),
                namesAndPeer(regime),
                "to the records validation costs little more than eager, least with repair; index-only 3 to 5 times");
        turns.take(report, regime, namesAndPeer(regime), column -> {
            TweetSource source = new TweetSource(13, column.size(), ratio);
            if (column.name().equals(PEER)) {
                try (RocksEngine peer = turns.openPeer(regime)) {
                    column.load(source, peer.newWriter()::upsert, peer::settle);
                    for (double percent : SELECTED_PERCENTS) {
                        int width = (int) (TweetSource.ATTRIBUTE_LIMIT * percent / 100);
                        column.ask(
                                "%s %% of the records, index-only, ms".formatted(percent),
                                5,
                                low -> new Answer(peer.countByAttribute(low, low + width - 1), 0));
                    }
                }
                return;
            }
            try (TweetStore store =
                    turns.open(Recipe.named(column.name()), Shape.standard(), regime)) {
                column.load(source, store::upsert, store::flush);
                for (double percent : SELECTED_PERCENTS) {
                    int width = (int) (TweetSource.ATTRIBUTE_LIMIT * percent / 100);
                    String what = "%s %% of the records".formatted(percent);
                    column.ask(
                            what + ", direct, ms",
                            5,
                            low -> store.byAttribute(low, low + width - 1, Validation.DIRECT));
                    column.ask(
                            what + ", by timestamp, ms",
                            5,
                            low -> store.byAttribute(low, low + width - 1, Validation.TIMESTAMP));
                    column.ask(
                            what + ", index-only, ms",
                            5,
                            low -> store.countByAttribute(low, low + width - 1));
                }
                column.ask("full scan, ms", 1, low -> store.scan());
            }
        });
        return report;
    }

    /** LUO19 Figure 16: scans with a filter on the time of creation, of old and of recent data. */
    public List<Report> filter() {
        List<Report> reports = new ArrayList<>();
        Aims aims = new Aims();
        for (Regime regime : regimes()) {
            for (double ratio : new double[] {0, 0.5}) {
                Report report = report(
                        "filter",
                        "Scans of a span of time, %.0f %% updates (LUO19 Figure 16), %s"
                                .formatted(100 * ratio, regime.name()),
                        names,
                        "filters work for recent data under all strategies; for old data with updates only under"
                                + " mutable-bitmap");
                turns.take(report, regime, names, column -> {
                    int size = column.size();
                    TweetSource source = new TweetSource(17, size, ratio);
                    Shape shape = new Shape(1, true, "correlated-tiering(mergeableBytesMax=16MiB)");
                    try (TweetStore store =
                            turns.open(Recipe.named(column.name()), shape, regime)) {
                        column.load(source, store::upsert, store::flush);
                        long span = size / 50;
                        column.ask(
                                "oldest 2 %, ms",
                                3,
                                low -> store.createdIn(
                                        TweetSource.CREATED_FIRST,
                                        TweetSource.CREATED_FIRST + span));
                        column.ask(
                                "newest 2 %, ms",
                                3,
                                low -> store.createdIn(
                                        TweetSource.CREATED_FIRST + size - span,
                                        TweetSource.CREATED_FIRST + size));
                    }
                });
                if (ratio > 0) {
                    String validation = Recipe.VALIDATION.name();
                    String bitmap = Recipe.BITMAP.name();
                    aims.atLeast(
                            "%s / %s, oldest 2 %%, ms, %s"
                                    .formatted(validation, bitmap, regime.name()),
                            10,
                            report.figure("oldest 2 %, ms", validation)
                                    / report.figure("oldest 2 %, ms", bitmap));
                }
                reports.add(report);
            }
        }
        reports.addFirst(aims.into(aimsReport("filter")));
        return reports;
    }

    /**
     * LUO19 Figures 17 and 18: what it takes to clean all secondaries: by the key trees; as DELI
     * does, by a scan of all records; or by merging the primary, which hands over what it discards.
     */
    public List<Report> repair() {
        List<String> columns = List.of(BY_KEY_TREES, BY_RECORDS, BY_MERGE);
        List<Report> reports = new ArrayList<>();
        Aims aims = new Aims();
        for (Regime regime : regimes()) {
            Report report = report(
                    "repair",
                    "Repair of all secondaries (LUO19 Figures 17 and 18), " + regime.name(),
                    columns,
                    "secondary repair reads key trees alone and beats primary repair, the more indexes the less");
            for (double ratio : new double[] {0.1, 0.5}) {
                for (int indexes : new int[] {1, 2, 5}) {
                    String work = "%d indexes, %.0f %% updates".formatted(indexes, 100 * ratio);
                    turns.take(
                            report,
                            regime,
                            columns,
                            column -> repair(column, work, indexes, ratio));
                }
            }
            reports.add(report);
            for (String unit : List.of(", ms", ", papers' disk, ms")) {
                if (regime.isByWall()) {
                    String work = "5 indexes, 50 % updates" + unit;
                    double times =
                            report.figure(work, BY_RECORDS) / report.figure(work, BY_KEY_TREES);
                    aims.atLeast(BY_RECORDS + " / " + BY_KEY_TREES + ", " + work, 5, times);
                }
            }
        }
        reports.addFirst(aims.into(aimsReport("repair")));
        return reports;
    }

    /** Without merges: what they drop the scan of records does not find, and they may repair. */
    private void repair(Column column, String work, int indexes, double ratio) {
        Shape shape = new Shape(indexes, true, "correlated-no-merge");
        TweetSource source = new TweetSource(23, column.size(), ratio);
        Recipe recipe = column.name().equals(BY_MERGE) ? Recipe.DEFERRED : Recipe.VALIDATION;
        try (TweetStore store = turns.open(recipe, shape, column.regime())) {
            column.load(source, store::upsert, store::flush);
            long diskNanos = store.papersDiskNanos();
            double micros = column.micros(
                    switch (column.name()) {
                        case BY_KEY_TREES -> store::repair;
                        case BY_RECORDS -> store::repairByRecords;
                        default -> store::mergeAll;
                    });
            column.note(work + ", ms", micros / 1e3);
            column.noteDisk(work, ", ms", store.papersDiskNanos() - diskNanos, 1e6);
            column.check(work, store.countByAttribute(0, TweetSource.ATTRIBUTE_LIMIT));
        }
    }

    /** DEFER18 Figure 7: small records, four indexes, half of the operations deletes. */
    public List<Report> deferred() {
        List<Report> reports = new ArrayList<>();
        Aims aims = new Aims();
        for (Regime regime : regimes()) {
            Report report = report(
                    "deferred",
                    "Half inserts, half deletes, 4 indexes (DEFER18 Figure 7), " + regime.name(),
                    names,
                    "deferring was 5.2 times as fast as the synchronous way, which read the old record from disk");
            turns.take(report, regime, names, column -> {
                int size = column.size();
                TweetSource source = new TweetSource(19, 2 * size, 0);
                SplittableRandom chooser = new SplittableRandom(19);
                Shape shape = new Shape(4, true, "correlated-tiering");
                try (TweetStore store = turns.open(Recipe.named(column.name()), shape, regime)) {
                    long[] live = new long[size];
                    for (int i = 0; i < size; i++) {
                        live[i] = put(store, source);
                    }
                    store.flush();
                    long diskNanos = store.papersDiskNanos();
                    double micros = column.micros(() -> {
                                for (int i = 0; i < size; i++) {
                                    int at = chooser.nextInt(size);
                                    store.delete(live[at]);
                                    live[at] = put(store, source);
                                }
                                store.flush();
                            })
                            / size;
                    column.note("an upsert and a delete, us", micros);
                    column.noteDisk(
                            "an upsert and a delete",
                            ", us",
                            store.papersDiskNanos() - diskNanos,
                            1e3 * size);
                    column.check("deferred" + regime.name(), store.scan());
                }
            });
            if (regime.isByWall()) {
                String work = "an upsert and a delete, us";
                atLeast(aims, report, work, Recipe.EAGER.name(), Recipe.DEFERRED.name(), 5);
            }
            reports.add(report);
        }
        reports.addFirst(aims.into(aimsReport("deferred")));
        return reports;
    }

    /** Puts the next tweet, with eight bytes of text; returns its id. */
    private static long put(TweetStore store, TweetSource source) {
        Tweet tweet = new Tweet();
        source.next(tweet);
        tweet.message.set(tweet.message.segment(), tweet.message.offset(), 8);
        store.upsert(tweet);
        return tweet.id;
    }

    /** The strategies, and in cache the peer. */
    private List<String> namesAndPeer(Regime regime) {
        List<String> all = new ArrayList<>(names);
        if (!regime.isByWall()) {
            all.add(PEER);
        }
        return all;
    }

    /** How many times what one takes another should take. */
    private static void atLeast(
            Aims aims, Report report, String work, String over, String under, double times) {
        aims.atLeast(
                "%s / %s, %s".formatted(over, under, work),
                times,
                report.figure(work, over) / report.figure(work, under));
    }

    private Report aimsReport(String suite) {
        return report(suite, "Aims and what was seen", Aims.COLUMNS, "in the tables below");
    }

    private Report report(String suite, String title, List<String> names, String finding) {
        return new Report(title, names)
                .setting("machine", Report.machine())
                .setting("tweets", "%,d of about 500 bytes".formatted(tweets))
                .setting("the paper's finding", finding)
                .setting(
                        "figure",
                        "median of %d rounds; %d smaller ones before those, not counted"
                                .formatted(rounds, warmUpRounds))
                .setting("the papers' disk", PricedDisk.PRICES)
                .setting(
                        "command",
                        "./turbidite bench %s --tweets %d --warm-up %d --rounds %d"
                                .formatted(suite, tweets, warmUpRounds, rounds));
    }
}
