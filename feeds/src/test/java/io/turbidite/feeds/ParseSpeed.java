package io.turbidite.feeds;

import io.turbidite.core.time.Clock;
import io.turbidite.feeds.FeedDefinition.FormatPart;
import io.turbidite.feeds.parse.CsvRecordParser;
import io.turbidite.feeds.parse.LineFramer;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.source.file.FileSource;
import io.turbidite.feeds.source.file.SourceStream;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Locale;

/**
 * How fast one thread uncompresses, cuts, parses, transforms and encodes the flights; run by hand,
 * in the project's root:
 *
 * <pre>java … io.turbidite.feeds.ParseSpeed feeds/samples/flights.yaml 10</pre>
 */
final class ParseSpeed {
    private ParseSpeed() {}

    public static void main(String[] args) {
        FeedDefinition definition = FeedDefinition.load(Path.of(args[0]));
        for (int round = 0; round < Integer.parseInt(args[1]); round++) {
            once(definition);
        }
    }

    private static void once(FeedDefinition definition) {
        if (!(definition.format() instanceof FormatPart.Csv(var format))) {
            throw new IllegalArgumentException("CSV only");
        }
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long allocatedBefore = threads.getCurrentThreadAllocatedBytes();
        long cpuBefore = threads.getCurrentThreadCpuTime();
        long startNanos = Clock.system().monotonicNanos();
        CsvRecordParser parser = new CsvRecordParser(
                definition.dataset().type(), format, true, definition.transforms());
        FileSource source = FileSource.open(definition.source().resolved());
        long count = 0;
        long bytes = 0;
        try (SourceStream stream = source.read(source.files().getFirst())) {
            RecordFramer framer =
                    new LineFramer(stream::read, parser.quotes(), format.separator(), 0, 1);
            if (framer.next()) {
                parser.header(framer.frame());
            }
            while (framer.next()) {
                bytes += parser.parse(framer.frame()).length();
                count++;
            }
        }
        double cpuSeconds = (threads.getCurrentThreadCpuTime() - cpuBefore) / 1e9;
        double seconds = (Clock.system().monotonicNanos() - startNanos) / 1e9;
        System.out.printf(
                Locale.ROOT,
                "%,d records, %,d bytes encoded: %.2f s, %.2f s CPU, %,.0f records per CPU second, %d bytes allocated a record%n",
                count,
                bytes,
                seconds,
                cpuSeconds,
                count / cpuSeconds,
                (threads.getCurrentThreadAllocatedBytes() - allocatedBefore) / count);
    }
}
