package io.turbidite.feeds.health;

import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.Words;

import org.jspecify.annotations.Nullable;

import java.util.Locale;
import java.util.Map;

/**
 * Something to worry about. <em>Immutable.</em>
 *
 * @param level {@code "bad"} or {@code "warn"}
 * @param what in words
 * @param metric whose figure it is, as {@code docs/metrics.md} has it; null: of no figure
 * @param unit of the figure
 * @param figure above what its rule tolerates
 * @param advice what to do
 */
public record Finding(
        String level, String what, @Nullable String metric, Unit unit, long figure, String advice) {
    /** What a figure counts. */
    public enum Unit {
        COUNT,
        BYTES,
        PERCENT,
        /** Of what an option or a budget allows. */
        PERCENT_OF_BOUND,
        /** The 99th percentile of a latency. */
        NANOS,
        /** The 50th percentile of a latency. */
        NANOS_MIDDLE,
        /** How much it grew in the last minute, as the following. */
        COUNT_A_MINUTE,
        BYTES_A_MINUTE,
        SECONDS_A_MINUTE,
        /** Time of all together in the last minute. */
        NANOS_A_MINUTE
    }

    /** The figure with its unit, as people read it; empty if there is none. */
    public String figureText() {
        if (metric == null) {
            return "";
        }
        return switch (unit) {
            case COUNT -> Words.number(figure);
            case BYTES -> Words.bytes(figure);
            case PERCENT -> Words.number(figure) + " %";
            case PERCENT_OF_BOUND -> Words.number(figure) + " % of what it may be";
            case NANOS -> Words.millis(figure / 1e6) + " or more for one in a hundred";
            case NANOS_MIDDLE -> Words.millis(figure / 1e6) + " or more for every other one";
            case COUNT_A_MINUTE -> Words.number(figure) + " more in the last minute";
            case BYTES_A_MINUTE -> Words.bytes(figure) + " more in the last minute";
            case SECONDS_A_MINUTE -> Words.number(figure) + " s more in the last minute";
            case NANOS_A_MINUTE -> Words.millis(figure / 1e6) + " together in the last minute";
        };
    }

    /** As JSON has it. */
    public Map<String, @Nullable Object> toMap() {
        return Json.line()
                .put("level", level)
                .put("what", what)
                .put("metric", metric)
                .put("figure", metric == null ? null : figure)
                .put("unit", metric == null ? null : unit.name().toLowerCase(Locale.ROOT))
                .put("text", metric == null ? null : figureText())
                .put("advice", advice)
                .toMap();
    }
}
