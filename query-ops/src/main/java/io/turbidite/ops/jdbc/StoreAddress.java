package io.turbidite.ops.jdbc;

import io.turbidite.ops.sql.Sql;

import org.jspecify.annotations.Nullable;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Properties;

/**
 * What {@code jdbc:turbidite:/path[?readOnly=true&planningMillis=10000]} says.
 * <em>Immutable.</em>
 *
 * @param url as it was given
 * @param planningMillis what a statement may take to plan, of processor time
 */
record StoreAddress(String url, Path directory, boolean readOnly, long planningMillis) {
    static final String PREFIX = "jdbc:turbidite:";
    static final String READ_ONLY = "readOnly";
    static final String PLANNING_MILLIS = "planningMillis";
    static final String PLANNING_MILLIS_DEFAULT = String.valueOf(Sql.PLANNING_MAX.toMillis());

    static boolean isOne(@Nullable String url) {
        return url != null && url.startsWith(PREFIX);
    }

    static StoreAddress of(String url, Properties properties) throws SQLException {
        String rest = url.substring(PREFIX.length());
        int mark = rest.indexOf('?');
        String path = mark < 0 ? rest : rest.substring(0, mark);
        String readOnly = properties.getProperty(READ_ONLY, "false");
        String millis = properties.getProperty(PLANNING_MILLIS, PLANNING_MILLIS_DEFAULT);
        if (mark >= 0) {
            for (String option : rest.substring(mark + 1).split("&", -1)) {
                int equals = option.indexOf('=');
                switch (equals < 0 ? "" : option.substring(0, equals)) {
                    case READ_ONLY -> readOnly = option.substring(equals + 1);
                    case PLANNING_MILLIS -> millis = option.substring(equals + 1);
                    default -> throw wrong(url, "there is no option '%s'".formatted(option));
                }
            }
        }
        boolean isReadOnly = truth(url, readOnly);
        long planningMillis = millis(url, millis);
        if (path.isBlank()) {
            throw wrong(url, "it names no directory");
        }
        try {
            return new StoreAddress(url, Path.of(path), isReadOnly, planningMillis);
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

    private static long millis(String url, String text) throws SQLException {
        // digits of an int: a planning of weeks is none
        if (!text.matches("0*[1-9][0-9]{0,8}")) {
            throw wrong(
                    url,
                    "%s is a number from 1 to 999999999, not '%s'"
                            .formatted(PLANNING_MILLIS, text));
        }
        return Long.parseLong(text);
    }

    private static SQLException wrong(String url, String what) {
        return Errors.of(
                "%s: %s; the form is jdbc:turbidite:/path[?readOnly=true&planningMillis=10000]"
                        .formatted(url, what),
                Errors.NOT_OPENED);
    }
}
