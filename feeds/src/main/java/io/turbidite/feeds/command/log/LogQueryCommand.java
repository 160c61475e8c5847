package io.turbidite.feeds.command.log;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.RowOutput;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.feeds.log.FieldRows;
import io.turbidite.feeds.log.OpenLog;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.LogCursor;
import io.turbidite.hashlog.scan.ScanPart;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

/** Asks a log. */
@Command(
        name = "query",
        customSynopsis = "./turbidite log query LOGDIR [options]",
        description = {
            "Print the records of a log, newest first, each on a line as it came in.",
            "A property is found by its chain where its PSF was registered, else by looking at all.",
        },
        sortOptions = false,
        footer = {
            "",
            "Example: ./turbidite log query events-log --psf type=PushEvent \\",
            "           --where 'repo.id > 10' --select id,actor.login --limit 5"
        })
final class LogQueryCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private final LogArgument given = new LogArgument();

    @Mixin
    private final LogQuestion question = new LogQuestion();

    @Option(
            names = "--select",
            paramLabel = "f,g.h",
            hideParamSyntax = true,
            split = ",",
            description = "Print these fields only, as a JSON object.")
    private List<String> select = new ArrayList<>();

    @Option(names = "--count", description = "Print the number of records: {\"count\":n}.")
    private boolean count;

    @Option(
            names = "--explain",
            description = "Tell on standard error how the range was read and what was looked at.")
    private boolean explain;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    LogQueryCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        AtomicBoolean stopped = new AtomicBoolean();
        try (Interrupts.Watch watch = console.interrupts().watch(() -> stopped.set(true));
                OpenLog open = given.openForReading()) {
            HashLog log = open.log();
            FieldRows fields = select.isEmpty() ? null : new FieldRows(log.parser(), select);
            long startNanos = console.clock().monotonicNanos();
            try (LogCursor cursor = log.find(question.query())) {
                long rows = print(cursor, fields, stopped);
                console.out().flush();
                if (rows == 0 && !stopped.get()) {
                    question.hintTo(console, log);
                }
                tell(cursor, rows, console.clock().monotonicNanos() - startNanos);
            } catch (IOException e) {
                return ExitCode.FAILED; // nobody reads on
            }
            return watch.interrupted() ? ExitCode.INTERRUPTED : ExitCode.OK;
        }
    }

    private long print(LogCursor cursor, @Nullable FieldRows fields, AtomicBoolean stopped)
            throws IOException {
        OutputStream rows = new RowOutput(console.out());
        ByteSink line = new ByteSink(1 << 12, Integer.MAX_VALUE - 16);
        Slice slice = new Slice();
        long found = 0;
        while (!stopped.get() && cursor.next()) {
            found++;
            if (count) {
                continue;
            }
            line.clear();
            if (fields == null) {
                line.putBytes(cursor.segment(), cursor.offset(), cursor.length());
            } else {
                fields.append(cursor.segment(), cursor.offset(), cursor.length(), line);
            }
            byte[] bytes = line.putByte('\n').asSlice(slice).toByteArray();
            rows.write(bytes, 0, bytes.length);
        }
        if (count) {
            Json.line().put("count", found).printTo(console.out());
        }
        return found;
    }

    private void tell(LogCursor cursor, long rows, long nanos) {
        if (cursor.isTruncated()) {
            console.err().println("note: retention dropped older records of the range meanwhile");
        }
        double millis = Words.toMillis(nanos);
        if (explain && common.json) {
            console.err()
                    .println(Json.text(Json.line()
                            .put("rows", rows)
                            .put("millis", millis)
                            .put("parts", parts(cursor.parts()))
                            .put("scanned", cursor.scannedCount())
                            .put("hops", cursor.hopCount())
                            .toMap()));
        } else if (explain || (console.terminal() && !common.json)) {
            console.err()
                    .println("%s in %s: %s; looked at %s and %s"
                            .formatted(
                                    Words.count(rows, "row"),
                                    Words.millis(millis),
                                    cursor.parts().isEmpty()
                                            ? "nothing to read"
                                            : String.join(", ", parts(cursor.parts())),
                                    Words.count(cursor.scannedCount(), "record"),
                                    Words.count(cursor.hopCount(), "key pointer")));
        }
    }

    private static String way(ScanPart part) {
        if (!part.isIndexed()) {
            return "scan";
        }
        return (part.run() == null ? "chain of PSF " : "run of PSF ") + part.psfId();
    }

    private static List<String> parts(List<ScanPart> parts) {
        return parts.stream()
                .map(part ->
                        "%s of addresses %d to %d".formatted(way(part), part.from(), part.to()))
                .collect(Collectors.toList());
    }
}
