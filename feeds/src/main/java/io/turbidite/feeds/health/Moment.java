package io.turbidite.feeds.health;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Instrument;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.Reading;
import io.turbidite.feeds.flow.FeedMeters;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The figures that rules look at, as they are at one moment. <em>Immutable.</em>
 *
 * <p>A figure is named as its instrument; {@code NAME{TAG=PATTERN}} is that of the instruments
 * whose tag matches. Those of one feed are summed over their other tags, those without a feed
 * likewise. Of a latency it is the time of all together since the opening; {@code NAME:count} how
 * many there were, {@code NAME:p50} and {@code NAME:p99} percentiles of the last minute, in
 * nanoseconds. {@code bound:NAME} is what an option allows.
 *
 * @param nanos by the monotonic clock
 * @param figures by name, then by feed; {@link #NO_FEED} for those of none
 */
record Moment(long nanos, Map<String, Map<String, Long>> figures) {
    static final String NO_FEED = "";
    static final String PART_MARK = ":";
    static final String BOUND = "bound:";

    /** Which figures are wanted of an instrument of one name. */
    private record Wanted(String figure, String tag, Pattern value) {
        static Wanted of(String figure) {
            int brace = figure.indexOf('{');
            if (brace < 0) {
                return new Wanted(figure, "", Pattern.compile(""));
            }
            int equals = figure.indexOf('=', brace);
            return new Wanted(
                    figure,
                    figure.substring(brace + 1, equals),
                    Pattern.compile(figure.substring(equals + 1, figure.length() - 1)));
        }

        boolean isOf(Map<String, String> tags) {
            return tag.isEmpty() || value.matcher(tags.getOrDefault(tag, "")).matches();
        }

        String part() {
            int mark = figure.indexOf(PART_MARK);
            return mark < 0 ? "" : figure.substring(mark + 1);
        }
    }

    /** The figures that rules look at, by the names of their instruments. */
    static final class Names {
        private final Map<String, List<Wanted>> wanted = new HashMap<>();

        Names(Set<String> figures) {
            for (String figure : figures) {
                int end = 0;
                while (end < figure.length() && "{:".indexOf(figure.charAt(end)) < 0) {
                    end++;
                }
                wanted.computeIfAbsent(figure.substring(0, end), name -> new ArrayList<>())
                        .add(Wanted.of(figure));
            }
        }

        /** Of several stores of instruments together. */
        Moment at(long nanos, Collection<Meters> all) {
            Map<String, Map<String, Long>> figures = new HashMap<>();
            for (Meters meters : all) {
                meters.bounds()
                        .forEach((name, value) -> figures.computeIfAbsent(
                                        BOUND + name, made -> new HashMap<>())
                                .merge(NO_FEED, value, Long::sum));
                for (Instrument one : meters.instruments()) {
                    String feed = one.tags().getOrDefault(FeedMeters.FEED_TAG, NO_FEED);
                    for (Wanted want : wanted.getOrDefault(one.name(), List.of())) {
                        if (want.isOf(one.tags())) {
                            figures.computeIfAbsent(want.figure(), made -> new HashMap<>())
                                    .merge(feed, value(one, want.part()), Long::sum);
                        }
                    }
                }
            }
            return new Moment(nanos, figures);
        }

        private static long value(Instrument one, String part) {
            return switch (one) {
                case Counter counter -> counter.sum();
                case Reading reading -> reading.value();
                case Latency latency ->
                    switch (part) {
                        case "" -> latency.nanosSum();
                        case "count" -> latency.count();
                        case "p50" -> latency.summary().p50Nanos();
                        case "p99" -> latency.summary().p99Nanos();
                        default ->
                            throw new IllegalArgumentException(
                                    "latency %s has no part '%s'".formatted(one.name(), part));
                    };
            };
        }
    }

    /** The feeds that have a figure. */
    Set<String> feedsOf(String figure) {
        return figures.getOrDefault(figure, Map.of()).keySet();
    }

    /** A feed's figure; where it has none of its own, that of no feed. */
    OptionalLong of(String figure, String feed) {
        Map<String, Long> there = figures.getOrDefault(figure, Map.of());
        Long value = there.getOrDefault(feed, there.get(NO_FEED));
        return value == null ? OptionalLong.empty() : OptionalLong.of(value);
    }
}
