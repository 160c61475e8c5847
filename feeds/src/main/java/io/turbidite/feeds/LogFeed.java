package io.turbidite.feeds;

import io.turbidite.core.StorageException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.LogFeedDefinition.LogPart;
import io.turbidite.feeds.log.LogPsfs;
import io.turbidite.feeds.log.OpenLog;
import io.turbidite.feeds.parse.RawRecordParser;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.store.FeedDelivery;
import io.turbidite.hashlog.HashLogOptions;
import io.turbidite.hashlog.parse.ColumnType;
import io.turbidite.hashlog.parse.CsvColumn;
import io.turbidite.hashlog.parse.CsvRows;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.registry.RegisteredPsf;
import io.turbidite.lsm.schema.Retention;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;

/**
 * A feed into a hash log, ready to run: carries the lines of its source into the log, each exactly
 * once, however often it is run, stopped or killed. A line that the log's parser refuses becomes a
 * dead letter.
 *
 * <em>Confined to one thread.</em> It holds the log meanwhile.
 */
public final class LogFeed implements AutoCloseable {
    /** Beside the datasets of a store. */
    private static final String LOGS = "logs";

    private static final Pattern NUMBER = Pattern.compile("-?\\d+(\\.\\d+)?([eE][+-]?\\d+)?");
    private static final double NANOS_PER_SECOND = 1e9;
    private static final long MICROS_PER_SECOND = 1_000_000;

    private final LogFeedDefinition definition;
    private final FeedSource source;
    private final OpenLog open;
    private final FeedDelivery delivery;

    private LogFeed(
            LogFeedDefinition definition, FeedSource source, OpenLog open, FeedDelivery delivery) {
        this.definition = definition;
        this.source = source;
        this.open = open;
        this.delivery = delivery;
    }

    /** The directory of the log with this name in a store's directory. */
    public static Path directory(Path store, String log) {
        return store.resolve(LOGS).resolve(log);
    }

    /**
     * Prepares a feed, and creates its log if the store has none of that name.
     *
     * @throws DefinitionException if the source doesn't exist, if the log reads its records in
     *     another way, or if it has another PSF under the same name
     */
    public static LogFeed open(LogFeedDefinition definition, Path store) {
        if (!definition.source().kind().equals(SourceKinds.FILE)) {
            throw new DefinitionException(List.of(definition
                    .origin()
                    .problem(
                            "source.kind",
                            "is %s, but a feed into a log reads sources of kind %s alone"
                                    .formatted(definition.source().kind(), SourceKinds.FILE))));
        }
        FeedSource source;
        try {
            source = definition.source().open();
        } catch (StorageException e) {
            throw new DefinitionException(List.of(definition
                    .origin()
                    .problem(definition.source().key(), "is wrong: " + e.getMessage())));
        }
        try (Undo undo = Undo.of(source::close)) {
            return undo.keep(open(definition, store, source));
        }
    }

    private static LogFeed open(LogFeedDefinition definition, Path store, FeedSource source) {
        LogPart log = definition.log();
        OpenLog open = OpenLog.openOrCreate(directory(store, log.name()), options(log));
        try (Undo undo = Undo.of(open::close)) {
            checkSame(definition, open);
            log.psfs().registerMissing(open.log());
            FeedDelivery delivery = FeedDelivery.into(
                    open.log(), RealDisk.open(open.directory()), Clock.system(), definition.feed());
            return undo.keep(new LogFeed(definition, source, open, delivery));
        }
    }

    /** Reports everything that contradicts the existing log, each with a way out. */
    private static void checkSame(LogFeedDefinition definition, OpenLog open) {
        LogPart log = definition.log();
        List<DefinitionException.Problem> problems = new ArrayList<>();
        ParserSpec parser = open.log().parser();
        if (!parser.equals(log.parser())) {
            problems.add(definition
                    .origin()
                    .problem(
                            "log.parser",
                            "is %s, but the log in %s has %s for good: write that, or take a new log (new names at log.name and feed)"
                                    .formatted(
                                            log.parser().text(), open.directory(), parser.text())));
        }
        log.psfs().byName().forEach((name, psf) -> {
            RegisteredPsf there = LogPsfs.active(open.log(), name);
            if (there != null && !there.definition().equals(psf)) {
                problems.add(definition
                        .origin()
                        .problem(
                                "log.psfs." + name,
                                "is %s, but in the log in %s it is %s: write that, take another name, or ./turbidite log psf remove %s %s"
                                        .formatted(
                                                psf.text(),
                                                open.directory(),
                                                there.definition().text(),
                                                ShellWord.of(open.directory().toString()),
                                                ShellWord.of(name))));
            }
        });
        if (!problems.isEmpty()) {
            throw new DefinitionException(problems);
        }
    }

    private static HashLogOptions options(LogPart log) {
        HashLogOptions options = OpenLog.defaults();
        Retention age = log.retainAge();
        return options.withParser(log.parser())
                .withLog(options.log()
                        .withRetention(
                                log.retainBytes(),
                                age == null ? Long.MAX_VALUE : age.seconds() * MICROS_PER_SECOND)
                        .withDirectIo(log.directIo()));
    }

    /**
     * Runs until the source ends or {@code stopped}. All accepted records are durable when it
     * returns.
     *
     * @throws StorageException if the source can't be read further or the log takes no more; the
     *     next run goes on from there
     */
    public FeedReport run(FeedProgress progress, BooleanSupplier stopped) {
        Clock clock = Clock.system();
        long startNanos = clock.monotonicNanos();
        FeedRun.Parts parts = new FeedRun.Parts(
                definition.feed(),
                source,
                parser(definition.log().parser()),
                definition.log().parser() instanceof ParserSpec.Csv csv ? csv.separator() : ',',
                delivery,
                open.tasks(),
                clock,
                open.events());
        FeedRun run = new FeedRun(parts, progress, stopped);
        boolean finished;
        try {
            finished = run.run();
        } finally {
            delivery.commit();
        }
        return new FeedReport(
                definition.feed(),
                definition.log().name(),
                delivery.accepted(),
                delivery.rejected(),
                run.dropped(),
                run.spilled(),
                run.waiting(),
                run.continued(),
                (clock.monotonicNanos() - startNanos) / NANOS_PER_SECOND,
                finished,
                run.resumed(),
                delivery.deadLetters());
    }

    private static RawRecordParser parser(ParserSpec spec) {
        return spec instanceof ParserSpec.Csv rows
                ? new RawRecordParser(
                        false,
                        RecordFramer.Quotes.RFC_4180,
                        first -> CsvRows.isHeader(
                                first.bytes(), first.start(), first.length(), rows),
                        line -> isRow(line, rows))
                : new RawRecordParser(spec instanceof ParserSpec.Json);
    }

    /**
     * Whether the line has all columns, at least two, and numbers in the columns declared as
     * numbers.
     */
    private static boolean isRow(RecordFrame line, ParserSpec.Csv spec) {
        List<CsvColumn> columns = spec.columns();
        String[] values =
                line.text(line.length()).split(Pattern.quote(String.valueOf(spec.separator())), -1);
        boolean isRow = columns.size() > 1 && values.length >= columns.size();
        for (int i = 0; isRow && i < columns.size(); i++) {
            isRow = columns.get(i).type() != ColumnType.NUMBER
                    || NUMBER.matcher(values[i]).matches();
        }
        return isRow;
    }

    /**
     * From then on nothing waits for the log's device longer than {@code micros}; for a run that
     * must stop. The next run carries again what was not committed by then. Any thread may call it.
     */
    public void endWaitsWithin(long micros) {
        open.log().endWaitsWithin(micros);
    }

    /** Closes the log. */
    @Override
    public void close() {
        try (source;
                open) {
            delivery.close();
        }
    }
}
