package io.turbidite.feeds.command.feed;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.feeds.command.plot.CellPicture;
import io.turbidite.feeds.command.query.Question;
import io.turbidite.lsm.Dataset;
import io.turbidite.ops.QueryResult;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A question of the quickstart to the flights. <em>Immutable.</em>
 *
 * @param name for machines
 * @param title for people
 * @param options those of {@code query} that ask it
 * @param rowsShown how many of the rows people see
 * @param isDrawn whether its rows are cells, which are drawn too
 */
record SampleQuery(String name, String title, String options, int rowsShown, boolean isDrawn) {
    private static final int ROWS_SHOWN = 2;

    /** Times are of the last of these: the first one pays for loading and compiling code. */
    private static final int ROUNDS = 3;

    private static final List<SampleQuery> ALL = List.of(
            new SampleQuery(
                    "point-get",
                    "One flight by its primary key",
                    "--eq id=100000 --select scheduled_departure,carrier,flight,origin,dest"),
            new SampleQuery(
                    "flights-of-tail-number",
                    "All flights of one aircraft",
                    "--eq tailnum=N14228 --select scheduled_departure,origin,dest"),
            new SampleQuery(
                    "departure-range",
                    "Departures in one hour of the 4th of July",
                    "--range scheduled_departure=2013-07-04T12:00:00Z..2013-07-04T13:00:00Z"
                            + " --select tailnum,origin,dest"),
            new SampleQuery(
                    "count-by-destination",
                    "How many flights went where",
                    "--group dest --order count:desc"),
            new SampleQuery(
                    "delayed-by-cell",
                    "Delayed flights by cell, last week of 2013",
                    "--range scheduled_departure=2013-12-25T00:00:00Z.. --above dep_delay_min=0"
                            + " --within place=-125,24,-66,50 --group-cell place=2,2 --order count:desc",
                    5,
                    true));

    private SampleQuery(String name, String title, String options) {
        this(name, title, options, ROWS_SHOWN, false);
    }

    /**
     * What came back.
     *
     * @param firstRows a few of the rows, as JSON
     */
    record Answer(long rows, double millis, String access, List<String> firstRows) {}

    static List<SampleQuery> all() {
        return ALL;
    }

    Answer ask(Dataset dataset, Clock clock) {
        Question question = Question.of(List.of(options.split(" ")));
        Answer answer = askOnce(question, dataset, clock);
        for (int i = 1; i < ROUNDS; i++) {
            answer = askOnce(question, dataset, clock);
        }
        return answer;
    }

    /** The same into a picture. */
    Answer draw(Dataset dataset, CellPicture picture, Clock clock) {
        Question question = Question.of(List.of(options.split(" ")));
        long startNanos = clock.monotonicNanos();
        long rows = 0;
        try (QueryResult result = question.on(dataset).run()) {
            while (result.next()) {
                picture.add(result);
                rows++;
            }
            picture.write(title, question.cellField(), dataset.type());
            double millis = Words.toMillis(clock.monotonicNanos() - startNanos);
            return new Answer(rows, millis, result.explain().access(), List.of());
        }
    }

    private Answer askOnce(Question question, Dataset dataset, Clock clock) {
        long startNanos = clock.monotonicNanos();
        long rows = 0;
        List<String> firstRows = new ArrayList<>();
        try (QueryResult result = question.on(dataset).run()) {
            while (result.next()) {
                if (rows < rowsShown) {
                    firstRows.add(json(result));
                }
                rows++;
            }
            double millis = Words.toMillis(clock.monotonicNanos() - startNanos);
            return new Answer(rows, millis, result.explain().access(), firstRows);
        }
    }

    private static String json(QueryResult result) {
        ByteSink json = new ByteSink(256, Integer.MAX_VALUE - 8);
        result.toJson(json);
        return new String(json.asSlice(new Slice()).toByteArray(), StandardCharsets.UTF_8);
    }
}
