package io.turbidite.feeds.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.meter.Description;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.sim.SimClock;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** Each rule tells what is above its bound, and nothing at it. */
final class RulesTest {
    private static final int STEPS = 6;

    /**
     * Metric; its course at the bound; its course above; the courses of others. A course is one
     * figure, or what it is each ten seconds of a minute, of which {@code a..b} is a straight line.
     * Of a latency it is what it comes to in all, {@code ~n} one that took so long. A dash: nothing
     * is above.
     */
    private static final String TABLE = """
            write.delay.time | 0..6000000000 | 0..6000000006 |
            write.stall.time | ~100000000 | ~102000000 |
            memory.unflushed.bytes | 900 | 910 | bound:writeMemoryBytes=1000
            memory.unflushed.bytes | 950 950 950 900 950 950 950 | 950 | bound:writeMemoryBytes=1000
            log.bytes | 950 | 960 | bound:logBytesMax=1000
            log.waits | 0..60 | 0..66 |
            log.waits | 0 0 0 0 0 0 900 | 0 1 2 3 4 5 900 |
            log.segments.made | 0..198 | 0..200 | flush.time:count=0..200
            log.segments.made | 0..7 | 0..8 | flush.time:count=0..8
            log.refuges | 0 | 1 |
            flush.time | ~100000000 | ~102000000 | write.bytes=0..6000; bound:writeMemoryBytes=20
            merge.backlog.bytes | 0..67108864 | 0..67108870 |
            merge.backlog.bytes | 0 9 9 9 9 9 99000000 | 0 9 19 29 39 49 99000000 |
            merge.backlog.components | 25 | 26 | bound:backlogComponentsMax=100
            merge.pace.bytes | 16777217 | 16777216 | merge.backlog.components=1..7
            merge.pace.bytes | 17777217 | 16777216 | merge.backlog.components=1..7
            cache.background.bytes | 9 9 9 0 9 9 9 | 1 |
            cache.large.bytes | 0 0 0 0 9 9 9 | 0 0 0 9 9 9 9 |
            components.quarantined | 0 | 1 |
            background.pauses | 0 | 1 |
            repair.moves | 7 7 7 7 7 8 10 | 7 7 7 7 7 8 11 |
            deferred.garbage.percent | 30 | 31 |
            bitmap.kills.bytes | 80 | 81 | bound:writeMemoryBytes=100
            bitmap.save.bytes | 0..16000000 | 0..18000000 | flush.bytes=0..20000000
            bitmap.save.bytes | 0..16777215 | - | flush.bytes=0..16777215
            sidefile.full | 0 | 1 |
            handover.locks.refused | 5 | 5 5 5 5 5 5 6 |
            trash.bytes | 0 | 1 |
            cursors.open | 0..60 | 0..66 |
            lookup.searches | 0..30000 | 0..31000 | lookup.keys=0..10000
            validation.searches | 0..30000 | 0..31000 | validation.candidates=0..10000
            memory.budget.bytes | 100 | 99 | memory.used.bytes=97
            memory.queries.bytes | 80 | 81 | bound:queryMemoryBytes=100
            cache.frames.pinned | 80 | 81 | cache.frames=100
            cache.frames.pinned | 63 | - | cache.frames=63
            cache.loads | 1000..6000 | 1000..7000 | cache.hits=20000..25000
            cache.load | ~5000000 | ~5100000 |
            disk.direct | 1 | 0 |
            feed.state{feed=a} | 6 | 5 |
            feed.state{feed=a} | 4 1 4 1 4 1 1 | 4 1 4 1 4 1 4 |
            feed.rejected{feed=a} | 9 | 9 9 9 9 9 9 10 |
            feed.missed{feed=a} | 0 | 1 |
            feed.spill.bytes{feed=a} | 1 2 3 4 4 5 6 | 1..7 |
            feed.spill.percent{feed=a} | 90 | 91 |
            feed.function.time{feed=a} | ~50000 | ~51000 |
            feed.lag.bytes{feed=a} | 0..1048576 | 0..1048582 |
            feed.lag.records{feed=a} | 0..10000 | 0..10006 |
            feed.lag.seconds{feed=a} | 0 1 2 3 4 5 10 | 0 1 2 3 4 5 11 |
            feed.producers{feed=a} | 90000 | 90001 |
            feed.queue.percent{feed=a} | 100 100 100 99 100 100 100 | 100 |
            feed.queue.percent{feed=a} | 99 | 100 | feed.lag.bytes{feed=a}=50
            feed.busy.nanos{feed=a stage=parse} | 0..114000000000 | 0..116000000000 | feed.workers{feed=a}=2
            feed.busy.nanos{feed=a stage=store} | 0..57000000000 | 0..58000000000 |
            feed.wait.nanos{feed=a cause=store} | 0..60000000000 | 0..61000000000 | feed.workers{feed=a}=2
            feed.batch.time{feed=a} | ~5000000000 | ~5100000000 |
            http.requests{code=503 route=a} | 0..50 | 0..60 | http.requests{code=200 route=a}=0..950
            http.requests{code=429 route=a} | 0..19 | 0..20 |
            http.connections | 90 | 91 | bound:http.connections=100
            http.connections.broken | 0 | 1 |
            http.requests.running | 99 | 100 | bound:http.requests=100
            http.streams | 90 | 91 | bound:http.streams=100
            http.events.lost | 0 | 1 |
            http.events.failures | 0 | 1 |
            tcp.connections | 90 | 91 | bound:tcp.connections=100
            tcp.bytes.held | 90 | 91 | bound:tcp.bytes.held=100
            tcp.refused | 0..60 | 0..66 |
            http.series.refused | 0 | 1 |
            """;

    /** A row of the table. */
    record Row(String metric, String edge, String fires, String others) {
        String name() {
            return metric.replaceAll("\\{.*", "");
        }
    }

    private final SimClock clock = new SimClock();
    private final Meters meters = new Meters(clock);
    private final Map<String, Long> figures = new HashMap<>();

    static Stream<Row> rows() {
        return TABLE.lines().map(line -> {
            List<String> cells =
                    Arrays.stream(line.split("\\|", -1)).map(String::strip).toList();
            return new Row(cells.get(0), cells.get(1), cells.get(2), cells.get(3));
        });
    }

    static Stream<Row> firing() {
        return rows().filter(row -> !row.fires().equals("-"));
    }

    @ParameterizedTest
    @MethodSource("rows")
    void a_rule_tells_nothing_at_its_bound(Row row) {
        assertThat(found(row, row.edge())).extracting(Finding::metric).doesNotContain(row.name());
    }

    @ParameterizedTest
    @MethodSource("firing")
    void a_rule_tells_what_is_above(Row row) {
        List<Finding> found = found(row, row.fires()).stream()
                .filter(one -> Objects.equals(one.metric(), row.name()))
                .toList();
        Finding one = assertThat(found).singleElement().actual();
        assertThat(one.figureText()).isNotEmpty();
        assertThat(one.what().startsWith("feed a: ")).isEqualTo(row.metric().contains("{feed"));
    }

    @Test
    void each_rule_is_in_the_table() {
        assertThat(rows().map(Row::name).distinct())
                .containsExactlyInAnyOrderElementsOf(Findings.metrics());
        assertThat(Findings.metrics())
                .allSatisfy(name -> assertThat(Description.of(name)).isNotNull());
    }

    private List<Finding> found(Row row, String course) {
        Map<String, List<String>> courses = new HashMap<>();
        courses.put(row.metric(), steps(course));
        if (!row.others().isEmpty()) {
            for (String other : row.others().split("; ", -1)) {
                int equals = other.lastIndexOf('=');
                courses.put(other.substring(0, equals), steps(other.substring(equals + 1)));
            }
        }
        for (int step = 0; step <= STEPS; step++) {
            int at = step;
            courses.forEach((name, values) -> set(name, values.get(at)));
            if (step < STEPS) {
                StoreWatch.of(meters).sample(clock.monotonicNanos());
                clock.advanceMicros(StoreWatch.SAMPLE_NANOS / 1_000);
            }
        }
        return Findings.ofFigures(meters, clock.monotonicNanos());
    }

    private static List<String> steps(String course) {
        if (course.contains("..")) {
            String[] ends = course.split("\\.\\.", -1);
            long first = Long.parseLong(ends[0]);
            long last = Long.parseLong(ends[1]);
            List<String> line = new ArrayList<>();
            for (int i = 0; i <= STEPS; i++) {
                line.add(Long.toString(first + (last - first) * i / STEPS));
            }
            return line;
        }
        List<String> each = List.of(course.split(" ", -1));
        return each.size() > 1 ? each : Collections.nCopies(STEPS + 1, course);
    }

    private void set(String figure, String value) {
        if (figure.startsWith(Moment.BOUND)) {
            meters.bound(figure.substring(Moment.BOUND.length()), Long.parseLong(value));
            return;
        }
        Meters of = meters;
        int brace = figure.indexOf('{');
        String name = figure.replaceAll("[{:].*", "");
        if (brace > 0) {
            for (String tag : figure.substring(brace + 1, figure.length() - 1).split(" ", -1)) {
                of = of.scope(
                        tag.substring(0, tag.indexOf('=')), tag.substring(tag.indexOf('=') + 1));
            }
        }
        if (!Objects.requireNonNull(Description.of(name)).kind().equals("latency")) {
            figures.put(figure, Long.parseLong(value));
            of.gauge(name, () -> figures.getOrDefault(figure, 0L));
            return;
        }
        Latency latency = of.latency(name);
        if (value.startsWith("~")) {
            latency.record(Long.parseLong(value.substring(1)));
        } else if (figure.endsWith(":count")) {
            while (latency.count() < Long.parseLong(value)) {
                latency.record(1);
            }
        } else {
            latency.record(Long.parseLong(value) - latency.nanosSum());
        }
    }
}
