package io.turbidite.core.file;

import java.nio.file.FileSystems;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Attributes of what is made: its owner alone may read and write it. Records lie in files as they
 * are, and the usual mask lets everybody read.
 *
 * <p>Where the system knows no such permissions (Windows), a file gets those of its directory. What
 * is there already keeps what it has.
 */
public final class OwnerOnly {
    private static final FileAttribute<?>[] NONE = {};

    private static final boolean POSIX =
            FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

    private OwnerOnly() {}

    /** Of a new file: mode 0600. */
    public static FileAttribute<?>[] file() {
        return of("rw-------");
    }

    /** Of a new directory: mode 0700. */
    public static FileAttribute<?>[] directory() {
        return of("rwx------");
    }

    private static FileAttribute<?>[] of(String permissions) {
        return POSIX
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(
                            PosixFilePermissions.fromString(permissions))
                }
                : NONE;
    }
}
