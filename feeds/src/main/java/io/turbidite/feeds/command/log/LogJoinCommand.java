package io.turbidite.feeds.command.log;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.RowOutput;
import io.turbidite.feeds.log.FieldRows;
import io.turbidite.feeds.log.LogJoin;
import io.turbidite.feeds.log.OpenLog;
import io.turbidite.hashlog.LogQuery;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.expr.Predicate;
import io.turbidite.ops.expr.Projection;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Joins a log and a dataset. */
@Command(
        name = "join",
        customSynopsis = "./turbidite log join LOGDIR STORE DATASET --on FIELDS [options]",
        description = {
            "Print records of a log, each with the record of a dataset whose primary key is in it.",
            "The newest come first: {\"log\":{...},\"record\":{...}}. --limit counts these rows.",
        },
        sortOptions = false,
        footer = {
            "",
            "Example: ./turbidite log join events-log turbidite-store Users --on actor.id \\",
            "           --psf type=PushEvent --select repo.name --fields name,country --limit 5"
        })
final class LogJoinCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private final LogAndStore given = new LogAndStore();

    @Option(
            names = "--on",
            required = true,
            paramLabel = "f,g.h",
            hideParamSyntax = true,
            split = ",",
            description =
                    "The log's fields that hold the primary key of the dataset, in its order.")
    private List<String> on = new ArrayList<>();

    @Mixin
    private final LogQuestion question = new LogQuestion();

    @Option(
            names = "--eq",
            paramLabel = "f=value",
            hideParamSyntax = true,
            description = "Field f of the dataset equals value; null alone means null or missing.")
    private List<String> equal = new ArrayList<>();

    @Option(
            names = "--range",
            paramLabel = "f=low..high",
            hideParamSyntax = true,
            description =
                    "Field f of the dataset is from low to high, both included; either may be empty.")
    private List<String> ranges = new ArrayList<>();

    @Option(
            names = "--all",
            description = "Print records of the log that have no match too, with \"record\":null.")
    private boolean all;

    @Option(
            names = "--select",
            paramLabel = "f,g.h",
            hideParamSyntax = true,
            split = ",",
            description = "Print these fields of the log's records only.")
    private List<String> select = new ArrayList<>();

    @Option(
            names = "--fields",
            paramLabel = "f,g",
            hideParamSyntax = true,
            split = ",",
            description = "Print these fields of the dataset's records only.")
    private List<String> fields = new ArrayList<>();

    @Option(names = "--count", description = "Print the number of rows: {\"count\":n}.")
    private boolean count;

    @Mixin
    @SuppressWarnings("UnusedVariable") // the parser knows its options by it
    private final CommonOptions common = new CommonOptions();

    LogJoinCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        AtomicBoolean stopped = new AtomicBoolean();
        try (Interrupts.Watch watch = console.interrupts().watch(() -> stopped.set(true));
                OpenLog open = given.log().openForReading();
                Store store = given.store().openForReading()) {
            Dataset dataset = store.dataset(given.dataset());
            LogQuery query = question.query();
            long rows = query.limit();
            RunOptions options = RunOptions.defaults().withStop(stopped::get);
            Row row = new Row(open.log().parser(), dataset.type());
            try (LogJoin join = LogJoin.open(
                    open.log(), query.limit(Long.MAX_VALUE), match(dataset), options)) {
                long found = print(join, row, rows);
                console.out().flush();
                if (found == 0 && !stopped.get()) {
                    question.hintTo(console, open.log());
                }
            } catch (CancellationException e) {
                return ExitCode.INTERRUPTED;
            } catch (IOException e) {
                return ExitCode.FAILED; // nobody reads on
            }
            return watch.interrupted() ? ExitCode.INTERRUPTED : ExitCode.OK;
        }
    }

    private LogJoin.Match match(Dataset dataset) {
        List<Predicate> predicates = new ArrayList<>();
        equal.forEach(text -> predicates.add(Predicates.parseEq(text)));
        ranges.forEach(text -> predicates.add(Predicates.parseRange(text)));
        return new LogJoin.Match(dataset, on, predicates, all);
    }

    private long print(LogJoin join, Row row, long rowsMax) throws IOException {
        OutputStream rows = new RowOutput(console.out());
        ByteSink line = new ByteSink(1 << 12, Integer.MAX_VALUE - 16);
        Slice slice = new Slice();
        long found = 0;
        while (found < rowsMax && join.next()) {
            found++;
            if (!count) {
                row.append(join, line.clear());
                byte[] bytes = line.putByte('\n').asSlice(slice).toByteArray();
                rows.write(bytes, 0, bytes.length);
            }
        }
        if (count) {
            Json.line().put("count", found).printTo(console.out());
        }
        return found;
    }

    /** Writes rows as JSON. */
    private final class Row {
        private final @Nullable FieldRows selected;
        private final @Nullable Projection projection;
        private final RecordView record;
        private final RecordView projected;

        Row(ParserSpec parser, RecordType type) {
            if (select.isEmpty() && !count && !(parser instanceof ParserSpec.Json)) {
                throw new InvalidRequestException(
                        "records of the log are not JSON but %s: say with --select which fields to print"
                                .formatted(parser.text()));
            }
            List<Integer> indexes = fields.stream()
                    .map(field -> type.require(field, "--fields"))
                    .toList();
            this.selected = select.isEmpty() ? null : new FieldRows(parser, select);
            this.projection = fields.isEmpty() ? null : Projection.of(type, indexes);
            this.record = new RecordView(type);
            this.projected = new RecordView(Projection.rowType(type, indexes));
        }

        void append(LogJoin join, ByteSink line) {
            line.putUtf8("{\"log\":");
            Slice raw = join.logRecord();
            if (selected == null) {
                line.putBytes(raw);
            } else {
                selected.append(raw.segment(), raw.offset(), raw.length(), line);
            }
            line.putUtf8(",\"record\":");
            Slice bytes = join.record();
            if (bytes.length() == 0) {
                line.putUtf8("null");
            } else if (projection == null) {
                record.wrap(bytes).toJson(line);
            } else {
                Slice row = projection.row(record.wrap(bytes));
                projected.wrap(row).toJson(line);
            }
            line.putByte('}');
        }
    }
}
