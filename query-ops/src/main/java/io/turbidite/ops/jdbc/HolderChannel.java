package io.turbidite.ops.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * Bytes to and from the process that holds a store, for one connection of JDBC. What they mean is
 * the affair of {@link HolderService}. <em>Streams are for one thread each;</em> {@link #cancel}
 * and {@link #close} are thread-safe.
 */
public interface HolderChannel extends AutoCloseable {
    /**
     * What the holder sends. It ends, by an {@link IOException} that says why where the holder said
     * so, when the holder lets go of the connection.
     */
    InputStream in();

    /** What the holder gets, when it is flushed. */
    OutputStream out();

    /** Has the holder end a run at once, whatever it does meanwhile. */
    void cancel(int run) throws IOException;

    /** Lets go of the holder; a second call does nothing. */
    @Override
    void close();
}
