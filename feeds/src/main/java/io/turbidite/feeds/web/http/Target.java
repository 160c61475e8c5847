package io.turbidite.feeds.web.http;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * What a request asks for: the segments of its path and its parameters, decoded. There is no way
 * upwards in it, no empty segment but the last, and no character that is none. <em>Immutable.</em>
 *
 * @param segments of the path; {@code /} has one, which is empty
 */
record Target(List<String> segments, Map<String, String> parameters) {
    private static final int PARAMETER_COUNT_MAX = 32;

    /** Addresses are written to logs, histories and headers of others: no secret belongs there. */
    private static final Set<String> SECRETS = Set.of("token", "access_token", "bearer", "key");

    Target {
        segments = List.copyOf(segments);
        parameters = Map.copyOf(parameters);
    }

    /**
     * Reads the target of a request.
     *
     * @throws Problem with what is wrong with it
     */
    static Target of(String uri) {
        if (!uri.startsWith("/")) {
            throw Problem.of(400, "the target of a request must begin with '/'");
        }
        if (uri.indexOf('#') >= 0) {
            throw Problem.of(400, "the target of a request has no fragment");
        }
        int question = uri.indexOf('?');
        String path = question < 0 ? uri : uri.substring(0, question);
        List<String> segments = new ArrayList<>();
        int from = 1;
        while (from <= path.length()) {
            int slash = path.indexOf('/', from);
            int end = slash < 0 ? path.length() : slash;
            String segment = decode(path.substring(from, end), false);
            if (segment.equals(".") || segment.equals("..")) {
                throw Problem.of(400, "'.' and '..' are no names in a path");
            }
            if (segment.isEmpty() && slash >= 0) {
                throw Problem.of(400, "a name in the path is empty");
            }
            segments.add(segment);
            from = end + 1;
        }
        return new Target(
                segments, question < 0 ? Map.of() : parametersOf(uri.substring(question + 1)));
    }

    private static Map<String, String> parametersOf(String query) {
        Map<String, String> parameters = new LinkedHashMap<>();
        int from = 0;
        while (from < query.length()) {
            int and = query.indexOf('&', from);
            int end = and < 0 ? query.length() : and;
            String pair = query.substring(from, end);
            int equals = pair.indexOf('=');
            String name = decode(equals < 0 ? pair : pair.substring(0, equals), true);
            String value = equals < 0 ? "" : decode(pair.substring(equals + 1), true);
            if (SECRETS.contains(name.toLowerCase(Locale.ROOT))) {
                throw Problem.of(400, "a token in an address is refused: logs keep addresses")
                        .advise("send it as header, Authorization: Bearer …, and make a new one");
            }
            if (parameters.put(name, value) != null || parameters.size() > PARAMETER_COUNT_MAX) {
                throw Problem.of(
                        400,
                        "parameters come once each, and at most %d of them"
                                .formatted(PARAMETER_COUNT_MAX));
            }
            from = end + 1;
        }
        return parameters;
    }

    /** Percent signs undone; what comes out is UTF-8 without control characters. */
    private static String decode(String text, boolean plusIsSpace) {
        byte[] bytes = new byte[text.length()];
        int length = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '%') {
                int high = i + 2 < text.length() ? Character.digit(text.charAt(i + 1), 16) : -1;
                int low = i + 2 < text.length() ? Character.digit(text.charAt(i + 2), 16) : -1;
                if (high < 0 || low < 0) {
                    throw Problem.of(
                            400, "a percent sign must stand before two digits from 0 to f");
                }
                bytes[length++] = (byte) ((high << 4) | low);
                i += 2;
            } else if (c <= ' ' || c >= 0x7f || c == '\\') {
                throw Problem.of(400, "characters such as this one are written with percent signs");
            } else {
                bytes[length++] = (byte) (c == '+' && plusIsSpace ? ' ' : c);
            }
        }
        String decoded;
        try {
            decoded = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, 0, length))
                    .toString();
        } catch (CharacterCodingException e) {
            throw Problem.of(400, "the target of a request is not UTF-8");
        }
        if (decoded.chars().anyMatch(Character::isISOControl)) {
            throw Problem.of(400, "the target of a request has control characters");
        }
        return decoded;
    }
}
