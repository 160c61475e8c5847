package io.turbidite.feeds.command;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.hashlog.LogQuery;

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
            paramLabel = "expression",
            description = "The expression is true, such as 'stars > 3 && type == \"PushEvent\"'.")
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
                    "To this address, excluded, or arrival time; times are as exact as pages are.")
    private @Nullable String to;

    @Option(names = "--limit", paramLabel = "n", description = "The newest n at most.")
    private @Nullable Long limit;

    @Option(names = "--scan", description = "Look at every record, even where a chain is shorter.")
    private boolean scan;

    LogQuery query() {
        LogQuery query = LogQuery.all();
        if (property != null) {
            String[] pair = LogCommand.pair("--psf", "name=value", property);
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
