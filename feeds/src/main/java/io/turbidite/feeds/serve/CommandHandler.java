package io.turbidite.feeds.serve;

import java.io.OutputStream;
import java.util.List;

/** Runs commands of other processes against the store that this one holds. <em>Thread-safe.</em> */
@FunctionalInterface
public interface CommandHandler {
    /**
     * Runs a command on a thread of its own.
     *
     * @return its exit code
     */
    int run(Request request);

    /**
     * A command and where its output goes.
     *
     * @param directory the client's working directory
     * @param terminal whether somebody watches the client's standard error
     * @param arguments the command line
     * @param out takes the output at the client's pace; fails when the client has gone
     * @param err likewise
     * @param departure tells when the client has gone
     */
    record Request(
            String directory,
            boolean terminal,
            List<String> arguments,
            OutputStream out,
            OutputStream err,
            Departure departure) {}
}
