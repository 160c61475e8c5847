package io.turbidite.feeds.command.log;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.log.LogPsfs;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.LogCursor;
import io.turbidite.hashlog.LogQuery;
import io.turbidite.hashlog.psf.PsfDefinition;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Option;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The options that say which records of a log are meant. Set by the parser. */
final class LogQuestion {
    @Option(
            names = "--psf",
            paramLabel = "name=value",
            hideParamSyntax = true,
            description = "The PSF has this value; for where(...) it is true.")
    private @Nullable String property;

    @Option(
            names = "--where",
            paramLabel = "condition",
            description = "The condition is true, such as \"stars > 3 and type = 'PushEvent'\".")
    private @Nullable String expression;

    @Option(
            names = "--from",
            paramLabel = "place",
            description =
                    "From this address, or arrival time such as 2026-07-04T10:15:00Z, both included.")
    private @Nullable String from;

    @Option(
            names = "--to",
            paramLabel = "place",
            description =
                    "To this address, excluded, or arrival time; times are exact to a tenth of a second.")
    private @Nullable String to;

    @Option(names = "--limit", paramLabel = "n", description = "The newest n at most.")
    private @Nullable Long limit;

    @Option(names = "--scan", description = "Look at every record, even where a chain is shorter.")
    private boolean scan;

    LogQuery query() {
        return query(property);
    }

    /** Tells somebody who found nothing what may have been meant. */
    void hintTo(Console console, HashLog log) {
        String hint = hint(log);
        if (hint != null) {
            console.err().println(hint);
        }
    }

    /**
     * What to tell somebody who found nothing: that the value that was meant may be of another
     * type.
     *
     * @return null if there is nothing of it either
     */
    private @Nullable String hint(HashLog log) {
        if (property == null) {
            return null;
        }
        String[] pair = LogCommand.pair("--psf", "name=value", property);
        String other = otherType(pair[1]);
        PsfDefinition definition = LogPsfs.newest(log, pair[0]);
        boolean isTyped = definition instanceof PsfDefinition.Field
                || definition instanceof PsfDefinition.Function;
        if (other == null || !isTyped) {
            return null;
        }
        // what was asked first may have been found, and nothing of a dataset to go with it
        try (LogCursor asked = log.find(query().limit(1));
                LogCursor cursor = log.find(query(pair[0] + "=" + other).limit(1))) {
            return !asked.next() && cursor.next()
                    ? "note: no record there has the %s %s, but some have the %s: --psf '%s=%s'"
                            .formatted(typeOf(pair[1]), pair[1], typeOf(other), pair[0], other)
                    : null;
        }
    }

    private static String typeOf(String value) {
        if (value.startsWith("\"")) {
            return "text";
        }
        return isNumber(value) ? "number" : "boolean";
    }

    private static boolean isNumber(String text) {
        return text.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");
    }

    /** The text for a number or a boolean, and the other way round; null if there is none. */
    private static @Nullable String otherType(String value) {
        if (isNumber(value) || value.equals("true") || value.equals("false")) {
            return "\"" + value + "\"";
        }
        boolean isText = value.length() > 2 && value.startsWith("\"") && value.endsWith("\"");
        String inner = isText ? value.substring(1, value.length() - 1) : "";
        return isNumber(inner) || inner.equals("true") || inner.equals("false") ? inner : null;
    }

    private LogQuery query(@Nullable String wanted) {
        LogQuery query = LogQuery.all();
        if (wanted != null) {
            String[] pair = LogCommand.pair("--psf", "name=value", wanted);
            query = LogQuery.property(pair[0], pair[1]);
        }
        if (expression != null) {
            query = query.where(expression);
        }
        query = range(query);
        if (limit != null) {
            query = query.limit(limit);
        }
        return scan ? query.byScan() : query;
    }

    private LogQuery range(LogQuery query) {
        long fromAddress = query.from();
        long toAddress = query.to();
        long fromMicros = query.arrivedFromMicros();
        long toMicros = query.arrivedToMicros();
        if (from != null) {
            if (isAddress(from)) {
                fromAddress = Long.parseLong(from);
            } else {
                fromMicros = micros("--from", from);
            }
        }
        if (to != null) {
            if (isAddress(to)) {
                toAddress = Long.parseLong(to);
            } else {
                toMicros = micros("--to", to);
            }
        }
        return query.between(fromAddress, toAddress).arrivedBetween(fromMicros, toMicros);
    }

    private static boolean isAddress(String text) {
        return text.matches("[0-9]{1,18}");
    }

    private static long micros(String option, String text) {
        try {
            return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse(text));
        } catch (DateTimeException | ArithmeticException e) {
            throw new InvalidRequestException(
                    "%s '%s' is neither an address nor a time such as 2026-07-04T10:15:00Z"
                            .formatted(option, text),
                    e);
        }
    }
}
