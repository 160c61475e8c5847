package io.turbidite.feeds.web;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.web.http.Problem;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * The directory in which files may lie that clients name; without one they may name none.
 * <em>Immutable.</em>
 */
public final class FilesRoot {
    private final @Nullable Path root;

    private FilesRoot(@Nullable Path root) {
        this.root = root;
    }

    /** No file may be named. */
    public static FilesRoot none() {
        return new FilesRoot(null);
    }

    /**
     * Files below a directory may be named.
     *
     * @throws InvalidRequestException if there is none
     */
    public static FilesRoot of(Path directory) {
        try {
            Path real = directory.toRealPath();
            if (!Files.isDirectory(real)) {
                throw new InvalidRequestException(directory + " is no directory");
            }
            return new FilesRoot(real);
        } catch (IOException e) {
            throw new InvalidRequestException(
                    "%s is no directory that can be read".formatted(directory), e);
        }
    }

    /** The directory itself. */
    Path directory() {
        if (root == null) {
            throw Problem.of(403, "this server reads and writes no files for clients")
                    .advise("start it with --files DIR");
        }
        return root;
    }

    /**
     * What a client means by a path, links followed.
     *
     * @param what names the path in messages
     */
    Path resolve(String what, String text) {
        Path base = directory();
        try {
            Path path = base.resolve(text).normalize();
            Path there = path;
            while (there != null && !Files.exists(there, LinkOption.NOFOLLOW_LINKS)) {
                there = there.getParent(); // what is not there yet leads nowhere else
            }
            if (path.startsWith(base) && there != null && there.toRealPath().startsWith(base)) {
                return path;
            }
        } catch (NoSuchFileException linkToNothing) {
            throw leadsOut(what); // what it names may come to be anywhere
        } catch (InvalidPathException | IOException e) {
            throw Problem.of(400, "'%s' is no path: %s".formatted(what, e.getMessage()));
        }
        throw leadsOut(what);
    }

    private static Problem leadsOut(String what) {
        return Problem.of(
                403, "'%s' leads out of the directory that --files names".formatted(what));
    }
}
