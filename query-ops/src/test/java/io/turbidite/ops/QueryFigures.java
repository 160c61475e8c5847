package io.turbidite.ops;

import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;

import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.ToLongFunction;

/**
 * Prints what operators cost: CPU time and allocated bytes for each record of a source, over
 * flight-like records in memory. Not a benchmark of the store, which has its own.
 */
public final class QueryFigures {
    private static final int RECORD_COUNT = 500_000;
    private static final int ROUNDS = 7;

    private QueryFigures() {}

    public static void main(String[] args) {
        FlatSource source = flights();
        System.out.printf(
                "%,d records of %d bytes%n", RECORD_COUNT, source.recordBytes() / RECORD_COUNT);
        measure("scan, count", source, q -> q.usingScan().count().run().count());
        measure(
                "scan, select string =, count",
                source,
                q -> q.where(Predicates.eq("tailnum", "N00123"))
                        .usingScan()
                        .count()
                        .run()
                        .count());
        measure(
                "scan, select range, count",
                source,
                q -> q.where(Predicates.range("distance", 500, 1500))
                        .count()
                        .run()
                        .count());
        measure(
                "scan, select range, group by string, count",
                source,
                q -> q.where(Predicates.range("distance", 500, 1500))
                        .groupBy("dest")
                        .run()
                        .count());
        measure(
                "scan, group by string, count",
                source,
                q -> q.groupBy("dest_name").run().count());
        measure(
                "scan, within, group by cell, count",
                source,
                q -> q.where(Predicates.within("place", 10, 10, 90, 90))
                        .groupByCell("place", 10, 10)
                        .run()
                        .count());
        measure(
                "scan, contains, count",
                source,
                q -> q.where(Predicates.contains("dest_name", "airport 17"))
                        .count()
                        .run()
                        .count());
        measure(
                "scan, top 10 by double",
                source,
                q -> q.orderBy("delay:desc").limit(10).run().count());
        measure(
                "scan, order all by string, project two",
                source,
                q -> q.select("id", "dest").orderBy("dest_name").run().count());
        measure("scan, rows whole", source, q -> q.run().count());
        measure(
                "scan, project three",
                source,
                q -> q.select("id", "dest", "delay").run().count());
        measure(
                "scan, project three, JSON",
                source,
                q -> q.select("id", "dest", "delay")
                        .run()
                        .forEachJson(OutputStream.nullOutputStream()));
        measure(
                "index 10 %, fetch, re-check, count distance",
                source,
                q -> q.where(Predicates.range("tailnum", "N00000", "N00399"))
                        .where(Predicates.range("distance", 0, null))
                        .usingIndex("by_tailnum")
                        .count()
                        .run()
                        .count());
        measure(
                "index only 10 %, count",
                source,
                q -> q.where(Predicates.range("tailnum", "N00000", "N00399"))
                        .count()
                        .run()
                        .count());
        measure(
                "index only, group by tailnum",
                source,
                q -> q.groupBy("tailnum").run().count());
        System.out.printf("one get: ");
        measureGets(source);
    }

    private static void measure(String what, FlatSource source, ToLongFunction<Query> run) {
        double[] nanos = new double[ROUNDS];
        double bytes = 0;
        long rows = 0;
        for (int i = 0; i < ROUNDS; i++) {
            long cpu = cpuNanos();
            long allocated = allocatedBytes();
            rows = run.applyAsLong(Query.on((Source) source));
            nanos[i] = (double) (cpuNanos() - cpu) / RECORD_COUNT;
            bytes = (double) (allocatedBytes() - allocated) / RECORD_COUNT;
        }
        Arrays.sort(nanos);
        System.out.printf(
                "%-45s %7.1f ns/record (best %.1f)  %6.2f B/record  answer %,d%n",
                what, nanos[ROUNDS / 2], nanos[0], bytes, rows);
    }

    private static void measureGets(FlatSource source) {
        SplittableRandom random = new SplittableRandom(2);
        double best = Double.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            long cpu = cpuNanos();
            for (int i = 0; i < 20_000; i++) {
                long id = random.nextInt(RECORD_COUNT);
                if (Query.on((Source) source)
                                .where(Predicates.eq("id", id))
                                .run()
                                .count()
                        != 1) {
                    throw new AssertionError("no record " + id);
                }
            }
            best = Math.min(best, (cpuNanos() - cpu) / 20_000.0);
        }
        System.out.printf("%.0f ns%n", best);
    }

    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static long allocatedBytes() {
        return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
                .getCurrentThreadAllocatedBytes();
    }

    private static FlatSource flights() {
        RecordType type = RecordType.builder()
                .field("id", "int64")
                .field("scheduled_departure", "datetime")
                .field("carrier", "string")
                .field("flight", "int32")
                .field("tailnum", "string?")
                .field("origin", "string")
                .field("dest", "string")
                .field("dest_name", "string")
                .field("distance", "int32")
                .field("delay", "double?")
                .field("place", "point")
                .build();
        FlatSource source = new FlatSource(type, "id", "tailnum", RECORD_COUNT);
        RecordWriter writer = new RecordWriter(type);
        RecordView view = new RecordView(type);
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < RECORD_COUNT; i++) {
            writer.begin();
            writer.setLong(0, i);
            writer.setLong(1, 1_357_000_000_000_000L + i * 1_000_000L);
            writer.setString(2, "C" + random.nextInt(16));
            writer.setLong(3, random.nextInt(9_000));
            writer.setString(4, "N%05d".formatted(random.nextInt(4_000)));
            writer.setString(5, "JFK");
            int dest = random.nextInt(105);
            writer.setString(6, "D%02d".formatted(dest));
            writer.setString(7, "International Airport %d of Somewhere".formatted(dest));
            writer.setLong(8, random.nextInt(80, 5_000));
            writer.setDouble(9, random.nextInt(-60, 600));
            writer.setPoint(10, random.nextDouble() * 100, random.nextDouble() * 100);
            writer.openString("remark", "as it came from the column of the file");
            source.add(writer.finish(), view);
        }
        source.finish();
        return source;
    }
}
