package io.turbidite.core.file;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The files that this process has locked, by what the file system knows them by. The system's locks
 * belong to the process, and closing <em>any</em> channel of a file gives its lock up; so a second
 * opening must be refused before it opens the file.
 *
 * <p><em>Thread-safe.</em> Static: the process has one set of locks.
 */
final class HeldLocks {
    private static final Set<Object> KEYS = ConcurrentHashMap.newKeySet();

    private HeldLocks() {}

    /** What the file at the path is known by, under whatever name; null if there is none. */
    static @Nullable Object keyOf(Path path) throws IOException {
        try {
            Object key = Files.readAttributes(
                            path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                    .fileKey();
            return key == null ? path : key; // a system without such keys
        } catch (NoSuchFileException none) {
            return null;
        }
    }

    static boolean contains(Path path) throws IOException {
        Object key = KEYS.isEmpty() ? null : keyOf(path);
        return key != null && KEYS.contains(key);
    }

    /** False if it is there already. */
    static boolean add(Object key) {
        return KEYS.add(key);
    }

    static void remove(Object key) {
        KEYS.remove(key);
    }
}
