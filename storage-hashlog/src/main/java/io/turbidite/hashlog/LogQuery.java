package io.turbidite.hashlog;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

/**
 * The description of a search in a log. <em>Immutable;</em> each method gives another query.
 *
 * <pre>{@code
 * LogQuery.property("type", "PushEvent").where("repo.id > 10").limit(100)
 * LogQuery.expression("stars > 3 && useful > 5").arrivedBetween(from, to)
 * }</pre>
 *
 * @param psf name of a PSF whose value is wanted, or null
 * @param value its value as text: a string between quotes, a number, {@code true}, {@code false},
 *     or any other text, which is a string as it stands; null exactly if {@code psf} is null
 * @param expression that must be true too, or null
 * @param from lowest record address, inclusive. May be any address: the first record is the one
 *     that starts there or above
 * @param to highest, exclusive; the query does not look at records that are not visible at its
 *     start
 * @param arrivedFromMicros wall clock, inclusive. The log knows arrival by page: a record counts if
 *     its page has records of the time
 * @param arrivedToMicros inclusive
 * @param limit most records, newest first
 * @param scanOnly true uses no chains; for comparison
 */
public record LogQuery(
        @Nullable String psf,
        @Nullable String value,
        @Nullable String expression,
        long from,
        long to,
        long arrivedFromMicros,
        long arrivedToMicros,
        long limit,
        boolean scanOnly) {

    public LogQuery {
        if ((psf == null) != (value == null)) {
            throw new InvalidRequestException("a PSF and its value are given together");
        }
        if (from < 0 || to < from || arrivedToMicros < arrivedFromMicros) {
            throw new InvalidRequestException("ranges ascend: addresses %d to %d, arrival %d to %d"
                    .formatted(from, to, arrivedFromMicros, arrivedToMicros));
        }
        if (limit < 0) {
            throw new InvalidRequestException("limit is %d but must be 0 or more".formatted(limit));
        }
    }

    /** Every record. */
    public static LogQuery all() {
        return new LogQuery(
                null,
                null,
                null,
                0,
                Long.MAX_VALUE,
                Long.MIN_VALUE,
                Long.MAX_VALUE,
                Long.MAX_VALUE,
                false);
    }

    /** The records for which PSF {@code psf} has this value. */
    public static LogQuery property(String psf, String value) {
        LogQuery all = all();
        return new LogQuery(
                psf,
                value,
                null,
                all.from,
                all.to,
                all.arrivedFromMicros,
                all.arrivedToMicros,
                all.limit,
                false);
    }

    /** The records for which {@code expression} is true, by full scan. */
    public static LogQuery expression(String expression) {
        return all().where(expression);
    }

    /** This query, restricted to records for which {@code expression} is true. */
    public LogQuery where(String expression) {
        return new LogQuery(
                psf,
                value,
                expression,
                from,
                to,
                arrivedFromMicros,
                arrivedToMicros,
                limit,
                scanOnly);
    }

    /**
     * This query, restricted to addresses from {@code from}, inclusive, to {@code to}, exclusive.
     */
    public LogQuery between(long from, long to) {
        return new LogQuery(
                psf,
                value,
                expression,
                from,
                to,
                arrivedFromMicros,
                arrivedToMicros,
                limit,
                scanOnly);
    }

    /**
     * This query, restricted to pages that took records from {@code fromMicros} to {@code
     * toMicros}.
     */
    public LogQuery arrivedBetween(long fromMicros, long toMicros) {
        return new LogQuery(
                psf, value, expression, from, to, fromMicros, toMicros, limit, scanOnly);
    }

    /** This query, restricted to the newest {@code count} records. */
    public LogQuery limit(long count) {
        return new LogQuery(
                psf,
                value,
                expression,
                from,
                to,
                arrivedFromMicros,
                arrivedToMicros,
                count,
                scanOnly);
    }

    /** This query without the use of chains. */
    public LogQuery byScan() {
        return new LogQuery(
                psf, value, expression, from, to, arrivedFromMicros, arrivedToMicros, limit, true);
    }
}
