package io.turbidite.feeds.web;

import io.turbidite.feeds.web.http.Doorkeeper;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.Right;

import org.jspecify.annotations.Nullable;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a caller may see of events and figures: those of the stores that they may read, of these the
 * feeds that they may read, and the server's own if they may read the server as a whole.
 * <em>Immutable.</em>
 */
final class Sight {
    /** A label as Prometheus writes it: in values, quotes and backslashes have one before them. */
    private static final Pattern LABEL =
            Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\]|\\\\.)*)\",?");

    private final Doorkeeper.Caller caller;
    private final boolean isWhole;

    private Sight(Doorkeeper.Caller caller) {
        this.caller = caller;
        this.isWhole = caller.may(Right.READ, "", "") && caller.may(Right.READ, "feed", "*");
    }

    /**
     * The caller's.
     *
     * @param stores all there are
     * @throws io.turbidite.feeds.web.http.Problem with 401 or 403 if they may read none of them
     */
    static Sight of(Exchange exchange, Iterable<String> stores) {
        for (String store : stores) {
            if (exchange.caller().may(Right.READ, "store", store)) {
                return new Sight(exchange.caller());
            }
        }
        exchange.require(Right.READ, "", "");
        return new Sight(exchange.caller());
    }

    /** Whether nothing is kept from them. */
    boolean isWhole() {
        return isWhole;
    }

    boolean sees(@Nullable Object store, @Nullable Object feed) {
        return isWhole
                || (store == null
                        ? caller.may(Right.READ, "", "")
                        : caller.may(Right.READ, "store", store.toString())
                                && (feed == null
                                        || caller.may(Right.READ, "feed", feed.toString())));
    }

    /** Whether they see an event, or the figures of a feed. */
    boolean sees(Map<?, ?> fields) {
        return sees(fields.get("store"), fields.get("feed"));
    }

    /** What they see of the figures of all stores, by name. */
    Map<String, Object> ofStores(Map<String, ?> stores) {
        Map<String, Object> seen = new LinkedHashMap<>();
        stores.forEach((name, figures) -> {
            if (sees(name, null)) {
                seen.put(name, figures);
            }
        });
        return seen;
    }

    /** What they see of the figures of all feeds. */
    Map<String, Object> ofFeeds(Map<String, ?> feeds) {
        Map<String, Object> seen = new LinkedHashMap<>();
        feeds.forEach((name, figures) -> {
            if (figures instanceof Map<?, ?> fields && sees(fields)) {
                seen.put(name, figures);
            }
        });
        return seen;
    }

    /** The text of a scrape without the series that they don't see. */
    String ofSeries(String text) {
        if (isWhole) {
            return text;
        }
        StringBuilder seen = new StringBuilder();
        text.lines().filter(this::seesLine).forEach(line -> seen.append(line).append('\n'));
        return seen.toString();
    }

    private boolean seesLine(String line) {
        if (line.startsWith("#")) {
            return true;
        }
        String store = null;
        String feed = null;
        int open = line.indexOf('{');
        Matcher label = LABEL.matcher(line);
        int at = open + 1;
        while (open >= 0 && label.find(at) && label.start() == at) {
            switch (label.group(1)) {
                case "store" -> store = plain(label.group(2));
                case "feed" -> feed = plain(label.group(2));
                default -> {}
            }
            at = label.end();
        }
        return sees(store, feed);
    }

    private static String plain(String escaped) {
        return escaped.replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\");
    }
}
