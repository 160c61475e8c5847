package io.turbidite.core.file;

import io.turbidite.core.InvalidRequestException;

/**
 * The rules for names on a {@link Disk}, the same for the real and the simulated one.
 *
 * <p>A name is one or more parts joined by {@code /}. A part is neither empty nor {@code .} nor
 * {@code ..}, is at most 255 characters long, and has no backslash, colon or control character; so
 * a name cannot leave the root on any file system.
 */
public final class DiskName {
    private static final int PART_LENGTH_MAX = 255;

    private DiskName() {}

    /**
     * Returns {@code name} if it may name a file or a directory other than the root.
     *
     * @throws InvalidRequestException otherwise
     */
    public static String check(String name) {
        int start = 0;
        for (int end = 0; start <= name.length(); start = end + 1) {
            end = name.indexOf('/', start);
            if (end < 0) {
                end = name.length();
            }
            checkPart(name, start, end);
        }
        return name;
    }

    /** As {@link #check}, but {@code ""} names the root. */
    public static String checkDirectory(String name) {
        return name.isEmpty() ? name : check(name);
    }

    /** The directory that {@code name} is in; {@code ""} is the root. */
    public static String parent(String name) {
        int slash = name.lastIndexOf('/');
        return slash < 0 ? "" : name.substring(0, slash);
    }

    /** The last part of {@code name}. */
    public static String lastPart(String name) {
        return name.substring(name.lastIndexOf('/') + 1);
    }

    private static void checkPart(String name, int start, int end) {
        int length = end - start;
        boolean dots = (length == 1 || length == 2)
                && name.charAt(start) == '.'
                && name.charAt(end - 1) == '.';
        if (length == 0 || length > PART_LENGTH_MAX || dots) {
            throw refused(name);
        }
        for (int i = start; i < end; i++) {
            char c = name.charAt(i);
            if (c == '\\' || c == ':' || Character.isISOControl(c)) {
                throw refused(name);
            }
        }
    }

    private static InvalidRequestException refused(String name) {
        StringBuilder shown = new StringBuilder();
        name.chars()
                .limit(80)
                .forEach(c -> shown.append(Character.isISOControl(c) ? '?' : (char) c));
        return new InvalidRequestException("'%s' is no file name inside a store".formatted(shown));
    }
}
