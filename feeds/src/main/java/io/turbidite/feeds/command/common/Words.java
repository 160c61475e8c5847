package io.turbidite.feeds.command.common;

import java.util.Locale;

/** Numbers and names as people read them. Static, without state. */
public final class Words {
    private static final double NANOS_PER_MILLI = 1e6;

    private Words() {}

    /** {@code 1 row}, {@code 2,512 rows}. */
    public static String count(long count, String noun) {
        return String.format(Locale.ROOT, "%,d %s%s", count, noun, count == 1 ? "" : "s");
    }

    public static String number(long count) {
        return String.format(Locale.ROOT, "%,d", count);
    }

    /** {@code 0.4 ms}, {@code 1,250 ms}. */
    public static String millis(double millis) {
        return String.format(Locale.ROOT, millis < 100 ? "%.1f ms" : "%,.0f ms", millis);
    }

    public static double toMillis(long nanos) {
        return Math.round(nanos / NANOS_PER_MILLI * 1e3) / 1e3;
    }

    public static String seconds(double seconds) {
        return String.format(Locale.ROOT, "%.1f s", seconds);
    }

    /** {@code 34.5 MiB}. */
    public static String bytes(long bytes) {
        String[] units = {"B", "KiB", "MiB", "GiB", "TiB"};
        double value = bytes;
        int unit = 0;
        while (value >= 1024 && unit < units.length - 1) {
            value /= 1024;
            unit++;
        }
        return String.format(Locale.ROOT, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    }

    /** That a component is not in a copy. */
    public static String leftOut(String file, String store) {
        return "note: %s is in quarantine and left out; ./turbidite quarantine %s says what it held"
                .formatted(file, store);
    }
}
