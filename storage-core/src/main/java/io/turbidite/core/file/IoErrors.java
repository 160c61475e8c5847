package io.turbidite.core.file;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.StorageIoException.Kind;

import java.io.IOException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** Turns an {@link IOException} into the kind that a caller can act on. */
final class IoErrors {
    private IoErrors() {}

    static StorageIoException translate(String operation, String file, IOException error) {
        return new StorageIoException(kindOf(error), operation, file, reason(error), error);
    }

    /** As {@link #translate}, of a file in a directory of the store's. */
    static StorageIoException translate(
            String operation, String file, String directory, IOException error) {
        return new StorageIoException(
                kindOf(error), operation, file, directory, reason(error), error);
    }

    /**
     * As {@link #translate}, for what takes space. The system's messages are translated to the
     * user's language, so that {@code usableBytes} decides where the message says nothing we know.
     */
    static StorageIoException translate(
            String operation,
            String file,
            String directory,
            IOException error,
            long wantedBytes,
            long usableBytes) {
        Kind kind = kindOf(error);
        if (kind == Kind.IO && usableBytes < wantedBytes) {
            kind = Kind.NO_SPACE;
        }
        return new StorageIoException(kind, operation, file, directory, reason(error), error);
    }

    static Kind kindOf(IOException error) {
        return switch (error) {
            case NoSuchFileException e -> Kind.NOT_FOUND;
            case FileAlreadyExistsException e -> Kind.ALREADY_EXISTS;
            case AccessDeniedException e -> Kind.ACCESS_DENIED;
            default -> kindOfMessage(String.valueOf(error.getMessage()));
        };
    }

    private static Kind kindOfMessage(String message) {
        if (message.contains("No space left") || message.contains("uota exceeded")) {
            return Kind.NO_SPACE;
        }
        if (message.contains("Too many open files")) {
            return Kind.TOO_MANY_FILES;
        }
        if (message.contains("Permission denied")
                || message.contains("Read-only file system")
                || message.contains("Operation not permitted")) {
            return Kind.ACCESS_DENIED;
        }
        return Kind.IO;
    }

    private static String reason(IOException error) {
        return switch (error) {
            case NoSuchFileException e -> "no such file or directory";
            case FileAlreadyExistsException e -> "it exists already";
            case AccessDeniedException e -> "permission denied";
            case ClosedByInterruptException e -> "the thread was interrupted";
            case AsynchronousCloseException e -> "the file was closed meanwhile";
            case ClosedChannelException e ->
                "the file is closed, perhaps by an interrupt of a thread that used it";
            case NotDirectoryException e -> "it is not a directory";
            case DirectoryNotEmptyException e -> "the directory is not empty";
            case FileSystemException e when e.getReason() != null -> e.getReason();
            default -> error.getMessage() == null ? error.toString() : error.getMessage();
        };
    }
}
