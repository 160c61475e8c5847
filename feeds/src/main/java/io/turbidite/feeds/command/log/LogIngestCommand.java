package io.turbidite.feeds.command.log;

import io.turbidite.core.DamagedSourceException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.Progress;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.feeds.log.LogLoad;
import io.turbidite.feeds.log.LogPsfs;
import io.turbidite.feeds.log.OpenLog;
import io.turbidite.feeds.source.SteadyTime;
import io.turbidite.feeds.source.file.FileSource;
import io.turbidite.feeds.source.file.Packing;
import io.turbidite.feeds.source.file.SourceFile;
import io.turbidite.feeds.source.file.SourceStream;
import io.turbidite.hashlog.parse.ParserSpec;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/** Puts records into a log. */
@Command(
        name = "ingest",
        customSynopsis = "./turbidite log ingest LOGDIR FILE...|- [options]",
        description = {
            "Append newline-delimited records of files (also gzip) or of standard input to a log.",
            "Nothing of a gzip file that is damaged anywhere gets into the log.",
            "The log is made if there is none. Ctrl-C keeps what was accepted.",
            "Exit code 1 if there were records and every one was rejected.",
        },
        sortOptions = false,
        footer = {
            "",
            "Example: ./turbidite log ingest events-log events.json \\",
            "           --psf 'type=field(type)' --psf 'opened=where(payload.action == \"opened\")'"
        })
final class LogIngestCommand implements Callable<Integer> {
    /** Refused records that are told one by one; the rest is counted. */
    private static final int TOLD_MAX = 5;

    private static final double NANOS_PER_SECOND = 1e9;

    private final Console console;

    @Mixin
    private final LogArgument given = new LogArgument();

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "FILE",
            description = "Files or directories of files; - is standard input.")
    private List<String> files = new ArrayList<>();

    @Option(
            names = "--parser",
            paramLabel = "SPEC",
            description = "json (the default) or csv(\",\", name, stars:number, open:boolean).")
    private String parser = "";

    @Option(
            names = "--psf",
            paramLabel = "name=definition",
            hideParamSyntax = true,
            description = "Register this PSF first, unless it is registered.")
    private List<String> psfs = new ArrayList<>();

    @Option(
            names = "--threads",
            paramLabel = "n",
            description = "Ingesting threads, each with a session (default ${DEFAULT-VALUE}).")
    private int threads = 1;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    private final AtomicInteger told = new AtomicInteger();
    private final Queue<String> later = new ConcurrentLinkedQueue<>();
    private boolean isPipeBegun;
    private boolean isFileBegun;
    private long taken;
    private long rejected;
    private volatile boolean stopped;
    private volatile @Nullable OpenLog opened;

    LogIngestCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Map<String, String> definitions = new LinkedHashMap<>();
        for (String psf : psfs) {
            String[] pair = LogCommand.pair("--psf", "name=definition", psf);
            definitions.put(pair[0], pair[1]);
        }
        LogPsfs wanted = LogPsfs.parse(definitions);
        ParserSpec spec = parser.isEmpty() ? new ParserSpec.Json() : ParserSpec.parse(parser);
        if (spec instanceof ParserSpec.Binary) {
            throw new InvalidRequestException(
                    "binary records have no line ends: they are appended through the API only");
        }
        List<FileSource> sources = new ArrayList<>();
        for (String file : files) {
            if (!file.equals("-")) {
                sources.add(FileSource.open(PathArgument.path("FILE", file)));
            }
        }
        try (Interrupts.Watch watch = console.interrupts().watch(this::stop)) {
            boolean finished;
            try {
                finished = load(spec, wanted, sources);
            } catch (DamagedSourceException e) {
                console.out().flush();
                return Failures.report(e, console.err(), common.debug, adviceOnDamage());
            } catch (StorageException e) {
                if (!stopped && !watch.interrupted()) {
                    throw e;
                }
                console.err()
                        .println("stopped: " + Failures.oneLine(String.valueOf(e.getMessage())));
                finished = false;
            }
            console.out().flush();
            return finished && !watch.interrupted()
                    ? Failures.codeOfLoad(taken, rejected, console.err())
                    : ExitCode.INTERRUPTED;
        }
    }

    /** Nothing remembers how far a file was read, so that what is left to do must be said. */
    private String adviceOnDamage() {
        return isFileBegun
                ? "its records before that place are in the log: when nobody writes to the file any more, ingest what is behind"
                : "nothing of that file is in the log, all before it is: mend it, then ingest it and what follows it";
    }

    private void stop() {
        stopped = true;
        OpenLog now = opened;
        if (now != null) {
            now.log().endWaitsWithin(Interrupts.WAIT_MICROS_MAX);
        }
        try {
            console.in().close(); // whoever waits for more of it goes on
        } catch (IOException e) {
            stopped = true; // nobody waits for what can't be closed
        }
    }

    private boolean load(ParserSpec spec, LogPsfs wanted, List<FileSource> sources) {
        long startNanos = console.clock().monotonicNanos();
        try (OpenLog open = given.openOrCreate(OpenLog.defaults().withParser(spec))) {
            if (!parser.isEmpty() && !open.log().parser().equals(spec)) {
                throw new InvalidRequestException("records of %s are read as %s, not as %s"
                        .formatted(given.directory(), open.log().parser().text(), spec.text()));
            }
            opened = open;
            open.events().listen(this::tell);
            wanted.registerMissing(open.log());
            try (LogLoad load = LogLoad.start(open, threads, this::refused)) {
                boolean finished = false;
                try (Undo undo = Undo.of(load::halt)) {
                    try {
                        finished = readAll(open, load, sources);
                    } finally {
                        // also where a file broke off: what was read before is good
                        load.finish();
                        undo.keep();
                    }
                } finally {
                    tellLater();
                    if (load.headers() > 0) {
                        console.err()
                                .println("%s that names the columns, and is no record"
                                        .formatted(Words.count(load.headers(), "first row")));
                    }
                    double seconds =
                            (console.clock().monotonicNanos() - startNanos) / NANOS_PER_SECOND;
                    print(load.totals(), load.waiting(), seconds, finished);
                }
                return finished;
            }
        }
    }

    /** What the user can do something about, while it is so. */
    private void tell(StoreEvent event) {
        if (event instanceof StoreEvent.SpaceChanged(var _, boolean paused, String what)) {
            console.err()
                    .println(
                            paused
                                    ? "the disk is full, waiting for space for some seconds: "
                                            + what
                                    : "there is space again");
        }
    }

    private boolean readAll(OpenLog open, LogLoad load, List<FileSource> sources) {
        long bytesTotal = sources.stream()
                .flatMap(source -> source.files().stream())
                .mapToLong(SourceFile::byteCount)
                .sum();
        long bytesBefore = 0;
        SteadyTime time = SteadyTime.of(console.clock());
        int next = 0;
        try (Progress progress = Progress.of(console, "ingest")) {
            for (String file : files) {
                if (file.equals("-")) {
                    if (!load.read("standard input", this::readPiped, () -> stopped, () -> true)) {
                        return false;
                    }
                    continue;
                }
                FileSource source = sources.get(next++);
                for (SourceFile part : source.files()) {
                    long before = bytesBefore;
                    isFileBegun = false;
                    try (SourceStream stream = source.read(part)) {
                        BooleanSupplier stop = () -> {
                            progress.at(
                                    load.records(),
                                    load.rejected(),
                                    before + stream.fileBytesRead(),
                                    bytesTotal);
                            return stopped;
                        };
                        stream.stopWhen(stop);
                        stream.prove();
                        isFileBegun = true;
                        long waitingBefore = load.waiting();
                        String input =
                                stream.saysItsEnd() ? part.name() + " uncompressed" : part.name();
                        boolean ended = load.read(
                                input,
                                stream::read,
                                stop,
                                () -> stream.hasEnded(time, open.tasks(), stop));
                        if (load.waiting() > waitingBefore) {
                            console.err()
                                    .println(
                                            "left out: the last line of %s, which has no end yet: the file is being written"
                                                    .formatted(part.name()));
                        }
                        if (!ended) {
                            return false;
                        }
                    }
                    bytesBefore += part.byteCount();
                }
            }
        }
        return true;
    }

    private int readPiped(byte[] into, int offset, int byteCount) {
        try {
            int count = console.in().read(into, offset, byteCount);
            if (!isPipeBegun && count > 0) {
                isPipeBegun = true;
                int more = 0;
                while (more >= 0
                        && count < byteCount
                        && (count == 1 || Packing.isOpen(into, offset, count))) {
                    more = console.in().read(into, offset + count, byteCount - count);
                    count += Math.max(0, more);
                }
                requirePlain(into, offset, count);
            }
            return count;
        } catch (IOException e) {
            if (stopped) {
                return 0;
            }
            throw new StorageIoException(
                    StorageIoException.Kind.IO,
                    "read",
                    "standard input",
                    String.valueOf(e.getMessage()),
                    e);
        }
    }

    private static void requirePlain(byte[] bytes, int offset, int byteCount) {
        if (SourceStream.isGzip(bytes, offset, byteCount)) {
            throw new InvalidRequestException(
                    "standard input is gzip, which is read from files alone: give the file, or gunzip -c FILE | ./turbidite log ingest ... -");
        }
        Packing packing = Packing.of(bytes, offset, byteCount);
        if (packing != null) {
            throw new InvalidRequestException(
                    "standard input is compressed by %s: %s FILE | ./turbidite log ingest ... -"
                            .formatted(packing.label(), packing.command()));
        }
    }

    private void refused(String input, long offset, String why) {
        int number = told.incrementAndGet();
        if (number <= TOLD_MAX) {
            String text = "refused: %s, byte %d: %s".formatted(input, offset, why);
            if (console.terminal()) {
                later.add(text); // a bar is being drawn
            } else {
                console.err().println(text);
            }
        }
    }

    private void tellLater() {
        later.forEach(console.err()::println);
        if (told.get() > TOLD_MAX && console.terminal()) {
            console.err()
                    .println("refused: %s more"
                            .formatted(Words.count(told.get() - TOLD_MAX, "record")));
        }
    }

    private void print(LogLoad.Totals totals, long waiting, double seconds, boolean finished) {
        taken = totals.records();
        rejected = totals.rejected();
        if (common.json) {
            Json.Line line = Json.line()
                    .put("step", "summary")
                    .put("log", given.directory())
                    .put("records", totals.records())
                    .put("rejected", totals.rejected());
            if (waiting > 0) {
                line.put("waiting", waiting);
            }
            if (totals.atRisk() > 0) {
                line.put("atRisk", totals.atRisk());
            }
            line.put("bytes", totals.bytes())
                    .put("logBytes", totals.logBytes())
                    .put("seconds", Math.round(seconds * 1e3) / 1e3)
                    .printTo(console.out());
            return;
        }
        console.out()
                .println("%s (%s)%s in %s (%s a second), %s rejected%s; log %s"
                        .formatted(
                                Words.count(totals.records(), "record"),
                                Words.bytes(totals.bytes()),
                                finished ? "" : " before it was stopped",
                                Words.seconds(seconds),
                                Words.bytes(Math.round(totals.bytes() / Math.max(seconds, 1e-3))),
                                Words.number(totals.rejected()),
                                waiting == 0 ? "" : ", %s unfinished".formatted(waiting),
                                given.directory()));
        if (totals.atRisk() > 0) {
            console.err()
                    .println("the last %s of them were not durable yet, and may be lost"
                            .formatted(Words.number(totals.atRisk())));
        }
    }
}
