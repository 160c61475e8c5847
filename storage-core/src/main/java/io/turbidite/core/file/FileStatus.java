package io.turbidite.core.file;

/**
 * What a name leads to, as the file system says. <em>Immutable.</em>
 *
 * @param kind what it is
 * @param byteCount of a file, 0 of anything else
 * @param modifiedMicros when the content was changed last, in microseconds since 1970 by the file
 *     system's clock, which need not be this machine's
 * @param identity of a file: the same under whatever name, another for each file that is there at a
 *     time; empty if the file system has none
 */
public record FileStatus(Kind kind, long byteCount, long modifiedMicros, String identity) {
    /** Kinds of names. */
    public enum Kind {
        /** A file. */
        FILE,
        /** A directory; it has no size. */
        DIRECTORY,
        /** A symbolic link, a pipe, a socket or a device: opening one may wait for ever. */
        OTHER
    }
}
