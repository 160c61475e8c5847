package io.turbidite.feeds.command.server;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.DefinitionException;
import io.turbidite.feeds.manage.FeedManager;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * A feed that a file behind a store defines. <em>Immutable.</em>
 *
 * @param name of the feed
 * @param file as it was given
 * @param directory to which paths in it are relative
 * @param text of the definition; right by itself, be there a store that it fits or not
 */
record GivenFeed(String name, Path file, Path directory, String text) {
    /**
     * Reads and checks one.
     *
     * @param home to which the file's path is relative
     * @throws DefinitionException naming the file and every problem
     * @throws InvalidRequestException if the file can't be read
     */
    static GivenFeed read(Path home, Path file) {
        Path path = home.resolve(file);
        try {
            Path parent = path.toAbsolutePath().normalize().getParent();
            Path directory = parent == null ? home : parent;
            String text = Files.readString(path);
            return new GivenFeed(FeedManager.check(text, directory), file, directory, text);
        } catch (DefinitionException e) {
            throw e.inFile(file.toString());
        } catch (NoSuchFileException e) {
            throw new InvalidRequestException("there is no file " + file, e);
        } catch (IOException e) {
            throw new InvalidRequestException(
                    "%s can't be read: %s".formatted(file, e.getMessage()), e);
        }
    }
}
