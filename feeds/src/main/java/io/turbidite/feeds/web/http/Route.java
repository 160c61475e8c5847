package io.turbidite.feeds.web.http;

import io.turbidite.core.NearestName;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a server does for one kind of request. <em>Immutable.</em>
 *
 * @param method of HTTP; {@code GET} answers {@code HEAD} too
 * @param template of the path; {@code {name}} stands for one name
 * @param right what a caller needs
 * @param isLight it never waits and so runs on the loop, however busy the server is
 * @param bodyBytesMax of the body; negative: as the server's options say
 * @param parameters what may stand behind the question mark
 */
public record Route(
        String method,
        String template,
        Right right,
        boolean isLight,
        long bodyBytesMax,
        Set<String> parameters,
        Action action) {
    /** Takes any parameter: who scrapes or probes may add some of its own. */
    private static final Set<String> ANY = Set.of("*");

    public Route {
        parameters = Set.copyOf(parameters);
    }

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
        return new Route(method, template, right, false, -1, Set.of(), action);
    }

    /** One that never waits. */
    public static Route light(String method, String template, Right right, Action action) {
        return new Route(method, template, right, true, 0, Set.of(), action);
    }

    /** The same with another bound of bodies. */
    public Route withBodyBytesMax(long bytes) {
        return new Route(method, template, right, isLight, bytes, parameters, action);
    }

    /** The same with parameters that may stand behind the question mark. */
    public Route withParameters(String... names) {
        return new Route(method, template, right, isLight, bodyBytesMax, Set.of(names), action);
    }

    /** The same with whatever stands behind the question mark. */
    public Route withAnyParameters() {
        return new Route(method, template, right, isLight, bodyBytesMax, ANY, action);
    }

    /**
     * Refuses what would be passed over: a misspelt {@code producer} would make a sender's records
     * come twice.
     *
     * @throws Problem that names the parameter and what there is
     */
    void checkParameters(Set<String> given) {
        if (parameters.equals(ANY)) {
            return;
        }
        for (String name : given) {
            if (!parameters.contains(name)) {
                throw Problem.of(
                        400,
                        "there is no parameter '%s' here%s"
                                .formatted(
                                        name,
                                        parameters.isEmpty()
                                                ? ""
                                                : "; there are "
                                                        + new TreeSet<>(parameters)
                                                        + NearestName.hint(
                                                                name, List.copyOf(parameters))));
            }
        }
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
