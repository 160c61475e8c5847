package io.turbidite.ops.jdbc;

import org.jspecify.annotations.Nullable;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Properties;

/**
 * What {@code jdbc:turbidite:/path[?readOnly=true]} says. <em>Immutable.</em>
 *
 * @param url as it was given
 */
record StoreAddress(String url, Path directory, boolean readOnly) {
    static final String PREFIX = "jdbc:turbidite:";
    static final String READ_ONLY = "readOnly";

    static boolean isOne(@Nullable String url) {
        return url != null && url.startsWith(PREFIX);
    }

    static StoreAddress of(String url, Properties properties) throws SQLException {
        String rest = url.substring(PREFIX.length());
        int mark = rest.indexOf('?');
        String path = mark < 0 ? rest : rest.substring(0, mark);
        boolean readOnly = truth(url, properties.getProperty(READ_ONLY, "false"));
        if (mark >= 0) {
            for (String option : rest.substring(mark + 1).split("&", -1)) {
                int equals = option.indexOf('=');
                if (equals < 0 || !option.substring(0, equals).equals(READ_ONLY)) {
                    throw wrong(url, "there is no option '%s'".formatted(option));
                }
                readOnly = truth(url, option.substring(equals + 1));
            }
        }
        if (path.isBlank()) {
            throw wrong(url, "it names no directory");
        }
        try {
            return new StoreAddress(url, Path.of(path), readOnly);
        } catch (InvalidPathException e) {
            throw wrong(url, String.valueOf(e.getMessage()));
        }
    }

    private static boolean truth(String url, String text) throws SQLException {
        return switch (text) {
            case "true" -> true;
            case "false" -> false;
            default -> throw wrong(url, "%s is true or false, not '%s'".formatted(READ_ONLY, text));
        };
    }

    private static SQLException wrong(String url, String what) {
        return Errors.of(
                "%s: %s; the form is jdbc:turbidite:/path[?readOnly=true]".formatted(url, what),
                Errors.NOT_OPENED);
    }
}
