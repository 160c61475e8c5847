package io.turbidite.feeds.command.common;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;

/** A print stream that fails when it fails, so that a query ends when nobody reads it any more. */
public final class RowOutput extends OutputStream {
    private final PrintStream out;

    public RowOutput(PrintStream out) {
        this.out = out;
    }

    @Override
    public void write(int b) throws IOException {
        out.write(b);
        check();
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        out.write(bytes, offset, length);
        check();
    }

    @Override
    public void flush() throws IOException {
        out.flush();
        check();
    }

    private void check() throws IOException {
        if (out.checkError()) {
            throw new IOException("standard output takes no more");
        }
    }
}
