package io.turbidite.feeds.command.common;

import org.jspecify.annotations.Nullable;

import java.io.BufferedOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/**
 * The process's standard output, which remembers why it failed: a print stream does not tell.
 * <em>Confined to one thread.</em>
 */
public final class StandardOutput extends FilterOutputStream {
    private static final int BUFFER_BYTES = 64 << 10;

    private @Nullable IOException failure;

    public StandardOutput(OutputStream out) {
        super(new BufferedOutputStream(out, BUFFER_BYTES));
    }

    /**
     * Whether it failed because its reader has gone, as {@code head} does: nothing to complain
     * about.
     */
    public boolean isReaderGone() {
        return failure != null && String.valueOf(failure.getMessage()).contains("Broken pipe");
    }

    @Override
    public void write(int b) throws IOException {
        remembering(() -> out.write(b));
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        remembering(() -> out.write(bytes, offset, length));
    }

    @Override
    public void flush() throws IOException {
        remembering(out::flush);
    }

    private void remembering(Write write) throws IOException {
        try {
            write.run();
        } catch (IOException e) {
            failure = failure == null ? e : failure;
            throw e;
        }
    }

    private interface Write {
        void run() throws IOException;
    }
}
