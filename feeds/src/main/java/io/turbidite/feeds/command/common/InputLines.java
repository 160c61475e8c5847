package io.turbidite.feeds.command.common;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Reads what is piped in, line by line. <em>Confined to one thread.</em> */
public final class InputLines {
    private final InputStream in;
    private final int bytesMax;
    private final ByteSink line;
    private long number;

    /**
     * @param bytesMax of a line, without its end
     */
    public InputLines(InputStream in, int bytesMax) {
        this.in = new BufferedInputStream(in);
        this.bytesMax = bytesMax;
        this.line = new ByteSink(1 << 10, bytesMax);
    }

    /**
     * Moves to the next line that is not blank.
     *
     * @return false at the end
     * @throws InvalidRequestException if the line is too long
     */
    public boolean next() {
        boolean isBlank = true;
        boolean isAtEnd = false;
        while (isBlank && !isAtEnd) {
            number++;
            line.clear();
            int next = read();
            while (next >= 0 && next != '\n') {
                if (line.length() == bytesMax) {
                    throw new InvalidRequestException(
                            "line %d is longer than %d bytes".formatted(number, bytesMax));
                }
                isBlank &= next == ' ' || next == '\t' || next == '\r';
                line.putByte((byte) next);
                next = read();
            }
            isAtEnd = next < 0;
        }
        return !isBlank;
    }

    private int read() {
        try {
            return in.read();
        } catch (IOException e) {
            throw new StorageIoException(
                    StorageIoException.Kind.IO,
                    "read",
                    "standard input",
                    String.valueOf(e.getMessage()),
                    e);
        }
    }

    /** The line; valid until the next move. */
    public Slice line(Slice slice) {
        return line.asSlice(slice);
    }

    /** Its number, from 1; blank ones count. */
    public long number() {
        return number;
    }
}
