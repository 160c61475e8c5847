package io.turbidite.feeds.command.common;

import io.turbidite.core.StorageIoException;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** What somebody answers to a question. Static, without state. */
public final class Answers {
    private static final int BYTES_MAX = 256;

    private Answers() {}

    /** The next line, without blanks around it; empty at the end of the input. */
    public static String line(InputStream in) {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        try {
            int next = in.read();
            while (next >= 0 && next != '\n' && line.size() < BYTES_MAX) {
                line.write(next);
                next = in.read();
            }
        } catch (IOException e) {
            throw new StorageIoException(
                    StorageIoException.Kind.IO,
                    "read",
                    "standard input",
                    String.valueOf(e.getMessage()),
                    e);
        }
        return line.toString(StandardCharsets.UTF_8).strip();
    }
}
