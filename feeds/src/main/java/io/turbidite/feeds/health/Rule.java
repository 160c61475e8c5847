package io.turbidite.feeds.health;

import io.turbidite.feeds.health.Finding.Unit;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * What of a metric is worth a finding, as the page has it under "worry when". <em>Immutable.</em>
 *
 * @param metric whose row it is on the page
 * @param figure which is judged, as {@link Moment} names them
 * @param bound the figure that is still well
 * @param isBelow whether less than the bound is cause to worry, and not more
 * @param isOfFiles whether who opens a store that no process holds can tell
 * @param level {@code "warn"} or {@code "bad"}
 */
record Rule(
        String metric,
        String figure,
        Measure measure,
        long bound,
        boolean isBelow,
        Unit unit,
        boolean isOfFiles,
        String level,
        String what,
        String advice) {
    /** More than the bound is cause to worry. */
    static Rule warn(
            String metric, Measure measure, long max, Unit unit, String what, String advice) {
        return new Rule(
                metric,
                metric + measure.part(),
                measure,
                max,
                false,
                unit,
                false,
                "warn",
                what,
                advice);
    }

    /** The same, of what is lost or stands still. */
    static Rule bad(
            String metric, Measure measure, long max, Unit unit, String what, String advice) {
        return new Rule(metric, metric, measure, max, false, unit, false, "bad", what, advice);
    }

    /** Files alone tell it. */
    Rule ofFiles() {
        return new Rule(metric, figure, measure, bound, isBelow, unit, true, level, what, advice);
    }

    /** Less than the bound is cause to worry. */
    Rule below() {
        return new Rule(metric, figure, measure, bound, true, unit, isOfFiles, level, what, advice);
    }

    /** Only instruments with such a tag count. */
    Rule where(String tag, String pattern) {
        return new Rule(
                metric,
                "%s{%s=%s}".formatted(metric, tag, pattern),
                measure,
                bound,
                isBelow,
                unit,
                isOfFiles,
                level,
                what,
                advice);
    }

    /** The names of all figures that it looks at. */
    List<String> figures() {
        List<String> all = new ArrayList<>(measure.others());
        all.add(figure);
        return all;
    }

    /** The figure that breaks the rule; empty if none does. */
    OptionalLong broken(Minute minute) {
        OptionalLong value = measure.read().of(minute, figure);
        boolean breaks = value.isPresent()
                && (isBelow ? value.getAsLong() < bound : value.getAsLong() > bound);
        return breaks ? value : OptionalLong.empty();
    }
}
