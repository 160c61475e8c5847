package io.turbidite.feeds.web.http;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a server does for one kind of request. <em>Immutable.</em>
 *
 * @param method of HTTP; {@code GET} answers {@code HEAD} too
 * @param template of the path; {@code {name}} stands for one name
 * @param right what a caller needs
 * @param isLight it never waits and so runs on the loop, however busy the server is
 * @param bodyBytesMax of the body; negative: as the server's options say
 */
public record Route(
        String method,
        String template,
        Right right,
        boolean isLight,
        long bodyBytesMax,
        Action action) {
    /** Does what a request asks, and answers. */
    @FunctionalInterface
    public interface Action {
        /**
         * Answers the request. What it throws becomes the answer, if there is none yet.
         *
         * @throws Exception whatever is wrong
         */
        void run(Exchange exchange) throws Exception;
    }

    /** One that waits, with a body as the server allows it. */
    public static Route of(String method, String template, Right right, Action action) {
        return new Route(method, template, right, false, -1, action);
    }

    /** One that never waits. */
    public static Route light(String method, String template, Right right, Action action) {
        return new Route(method, template, right, true, 0, action);
    }

    /** The same with another bound of bodies. */
    public Route withBodyBytesMax(long bytes) {
        return new Route(method, template, right, isLight, bytes, action);
    }

    private List<String> parts() {
        List<String> parts = new ArrayList<>();
        int from = 1;
        while (from <= template.length()) {
            int slash = template.indexOf('/', from);
            int end = slash < 0 ? template.length() : slash;
            parts.add(template.substring(from, end));
            from = end + 1;
        }
        return parts;
    }

    /** Whether a path is one of the template's; fills {@code names} if so. */
    boolean matches(List<String> segments, Map<String, String> names) {
        List<String> parts = parts();
        if (parts.size() != segments.size()) {
            return false;
        }
        Map<String, String> found = new LinkedHashMap<>();
        for (int i = 0; i < parts.size(); i++) {
            String part = parts.get(i);
            if (part.startsWith("{")) {
                if (segments.get(i).isEmpty()) {
                    return false;
                }
                found.put(part.substring(1, part.length() - 1), segments.get(i));
            } else if (!part.equals(segments.get(i))) {
                return false;
            }
        }
        names.putAll(found);
        return true;
    }
}
