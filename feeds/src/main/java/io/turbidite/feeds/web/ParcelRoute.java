package io.turbidite.feeds.web;

import io.netty.handler.codec.http.HttpUtil;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedDefinition.FormatPart;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.health.Readiness;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.manage.FeedStatus;
import io.turbidite.feeds.source.Rejection;
import io.turbidite.feeds.source.parcel.HttpKind;
import io.turbidite.feeds.source.parcel.Parcel;
import io.turbidite.feeds.source.parcel.Receipt;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.Problem;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Records that a client sends to a feed. The whole body is there before the feed sees any of it: a
 * client that leaves in its middle has sent nothing. The answer comes when all of it is durable.
 * <em>Thread-safe.</em>
 */
final class ParcelRoute {
    /** The parameter that names who numbers the records. */
    static final String PRODUCER = "producer";

    /** The parameter with the number of the first record. */
    static final String SEQUENCE = "sequence";

    /** As many as the greatest one has; {@link Long#parseLong} would take a sign, too. */
    private static final Pattern SEQUENCE_DIGITS = Pattern.compile("[0-9]{1,16}");

    private static final Set<String> CHARSETS = Set.of("utf-8", "utf8", "us-ascii", "ascii");

    /**
     * So long a request waits for the feed, if the server gives it as long; then the client is told
     * to send it again.
     */
    private static final long WAIT_MICROS = 30_000_000;

    private static final Set<String> JSON_TYPES = Set.of(
            "application/x-ndjson", "application/ndjson", "application/jsonl", "application/json");

    private static final Set<String> CSV_TYPES = Set.of("text/csv");

    private final ServedStores stores;
    private final BodyBudget budget = new BodyBudget(BodyBudget.BYTES_MAX);

    ParcelRoute(ServedStores stores) {
        this.stores = stores;
    }

    void take(Exchange exchange, String store, FeedManager manager, FeedStatus status)
            throws IOException {
        FeedDefinition definition = manager.definition(status.name());
        checkState(status);
        if (definition == null) {
            throw Problem.of(409, "the definition of feed %s is wrong".formatted(status.name()));
        }
        if (!definition.source().kind().equals(HttpKind.NAME)) {
            throw Problem.of(
                    409,
                    "feed %s has the source %s, and takes no records over HTTP"
                            .formatted(status.name(), definition.source().kind()));
        }
        checkType(exchange.header("Content-Type"), definition.format());
        Readiness.of(Objects.requireNonNull(stores.all().get(store))).ifPresent(why -> {
            throw Problem.of(503, why).retry(WebServer.RETRY_SECONDS);
        });
        // closed, for what unpacks zstd has memory that no collector knows of
        try (BodyBudget.Share share = budget.share();
                InputStream body =
                        Unpacking.of(exchange.headers("Content-Encoding"), exchange.body())) {
            Parcel parcel = numbered(exchange, share.readAll(body));
            Receipt receipt = manager.send(status.name(), parcel, waitMicros(exchange));
            if (receipt instanceof Receipt.Taken) {
                share.giveBack(); // else a reader may be at it still
            }
            answer(exchange, status.name(), receipt);
        }
    }

    private static long waitMicros(Exchange exchange) {
        return Math.min(WAIT_MICROS, exchange.options().requestMillisMax() * 1_000);
    }

    private static void checkState(FeedStatus status) {
        switch (status.state()) {
            case STARTING, RUNNING, WAITING -> {}
            case RETRYING ->
                throw Problem.of(
                                503,
                                "feed %s tries again: %s"
                                        .formatted(status.name(), String.valueOf(status.cause())))
                        .retry(1);
            case PAUSED, FAILED, ENDED ->
                throw Problem.of(
                                409,
                                "feed %s is %s%s"
                                        .formatted(
                                                status.name(),
                                                status.state().label(),
                                                status.state() == FeedState.FAILED
                                                        ? ": " + status.cause()
                                                        : ""))
                        .advise("resume it: POST /v1/feeds/%s/resume".formatted(status.name()));
        }
    }

    private static void checkType(@Nullable String header, FormatPart format) {
        if (header == null) {
            return;
        }
        int end = header.indexOf(';');
        String type =
                (end < 0 ? header : header.substring(0, end)).strip().toLowerCase(Locale.ROOT);
        boolean isCsv = format instanceof FormatPart.Csv;
        if (!(isCsv ? CSV_TYPES : JSON_TYPES).contains(type)) {
            throw Problem.of(
                            415,
                            "the feed reads %s, not '%s'"
                                    .formatted(
                                            isCsv ? "CSV" : "JSON, an object a line or one array",
                                            type))
                    .advise("send it as Content-Type: "
                            + (isCsv ? "text/csv" : "application/x-ndjson"));
        }
        CharSequence charset = HttpUtil.getCharsetAsSequence(header);
        if (charset != null && !isUtf8(charset.toString())) {
            throw Problem.of(415, "records are UTF-8, not '%s'".formatted(charset));
        }
    }

    /** ASCII is UTF-8 too. */
    private static boolean isUtf8(String charset) {
        return CHARSETS.contains(charset.replace("\"", "").toLowerCase(Locale.ROOT));
    }

    private static Parcel numbered(Exchange exchange, Parcel parcel) {
        String producer = exchange.parameter(PRODUCER);
        String sequence = exchange.parameter(SEQUENCE);
        if (producer == null && sequence == null) {
            return parcel;
        }
        if (producer == null || sequence == null) {
            throw Problem.of(
                    400, "'producer' and 'sequence' belong together: one of them is missing");
        }
        if (!SEQUENCE_DIGITS.matcher(sequence).matches()) {
            throw Problem.of(
                    400,
                    "'sequence' must be a whole number from 1 to %d, in digits alone"
                            .formatted(Parcel.SEQUENCE_MAX));
        }
        try {
            return parcel.from(owner(exchange), producer, Long.parseLong(sequence));
        } catch (InvalidRequestException e) {
            throw Problem.of(400, String.valueOf(e.getMessage()));
        }
    }

    /** A producer belongs to a token, by its name. */
    private static String owner(Exchange exchange) {
        return exchange.caller().name().replace("%", "%25").replace("/", "%2F");
    }

    private static void answer(Exchange exchange, String feed, Receipt receipt) {
        switch (receipt) {
            case Receipt.Taken taken ->
                exchange.answer(200, toMap(taken, exchange.parameter(PRODUCER) != null));
            case Receipt.Gap(long expected) ->
                throw Problem.of(
                                409,
                                "records are missing before %s: the next one of producer %s is number %d"
                                        .formatted(
                                                exchange.parameter(SEQUENCE),
                                                exchange.parameter(PRODUCER),
                                                expected))
                        .advise("send from sequence=%d on".formatted(expected));
            case Receipt.TooManyProducers(int countMax) ->
                throw Problem.of(
                        409,
                        "feed %s has %d producers, as many as may be".formatted(feed, countMax));
            case Receipt.Malformed(String why) -> throw Problem.of(400, why);
            case Receipt.Full(String why) -> throw Problem.of(429, why).retry(1);
            case Receipt.Away(String why) -> throw Problem.of(503, why).retry(1);
            case Receipt.Cut(long taken, String why) ->
                throw Problem.of(
                                503,
                                "%s; %d of its records are durable for sure".formatted(why, taken))
                        .advise("send it again")
                        .retry(1);
        }
    }

    private static Map<String, @Nullable Object> toMap(Receipt.Taken taken, boolean isNumbered) {
        Json.Line line =
                Json.line().put("accepted", taken.accepted()).put("rejected", taken.rejected());
        if (taken.dropped() > 0) {
            line.put("dropped", taken.dropped());
        }
        if (isNumbered) {
            line.put("repeated", taken.repeated()).put("last", taken.last());
        }
        return line.put(
                        "reasons",
                        taken.reasons().stream().map(ParcelRoute::toMap).toList())
                .toMap();
    }

    private static Map<String, @Nullable Object> toMap(Rejection rejection) {
        return Json.line()
                .put("line", rejection.line())
                .put("reason", rejection.reason())
                .toMap();
    }
}
