package io.turbidite.feeds.web;

import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.Problem;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * The console's files, from the jar. A name is letters, digits and dots, so that no path leads
 * anywhere else. <em>Thread-safe.</em>
 */
final class ConsoleFiles {
    private static final String FOLDER = "/io/turbidite/feeds/console/";
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*");
    private static final int DEPTH_MAX = 4;
    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "mjs", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml",
            "json", "application/json",
            "txt", "text/plain; charset=utf-8",
            "png", "image/png",
            "ico", "image/x-icon",
            "woff2", "font/woff2");

    /** Those that were asked for; at most as many as there are. */
    private final Map<String, Asset> known = new ConcurrentHashMap<>();

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Asset(String type, byte[] bytes, String tag) {}

    /** Answers with a file, or with nothing new to a client that has it. */
    void answer(Exchange exchange) throws IOException {
        Asset asset = find(exchange.path());
        if (asset == null) {
            throw Problem.of(404, "there is no " + exchange.path());
        }
        Map<String, String> headers = Map.of("ETag", asset.tag(), "Cache-Control", "no-cache");
        if (asset.tag().equals(exchange.header("If-None-Match"))) {
            exchange.answer(304, asset.type(), new byte[0], headers);
        } else {
            exchange.answer(200, asset.type(), asset.bytes(), headers);
        }
    }

    private @Nullable Asset find(String path) throws IOException {
        String name = path.equals("/") ? "index.html" : path.substring(1);
        Asset before = known.get(name);
        if (before != null) {
            return before;
        }
        List<String> parts = List.of(name.split("/", -1));
        int dot = name.lastIndexOf('.');
        String type = TYPES.get(name.substring(dot + 1));
        if (type == null
                || parts.size() > DEPTH_MAX
                || !parts.stream().allMatch(part -> NAME.matcher(part).matches())) {
            return null;
        }
        try (InputStream in = ConsoleFiles.class.getResourceAsStream(FOLDER + name)) {
            if (in == null) {
                return null;
            }
            byte[] bytes = in.readAllBytes();
            Asset asset = new Asset(type, bytes, tagOf(bytes));
            known.put(name, asset);
            return asset;
        }
    }

    private static String tagOf(byte[] bytes) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
            return '"' + HexFormat.of().formatHex(digest, 0, 16) + '"';
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
