package io.turbidite.feeds.command.common;

import io.turbidite.core.time.Clock;

import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Path;

/**
 * What a command talks to. <em>Immutable.</em>
 *
 * @param in what is piped in; may be closed by another thread to end a read
 * @param out answers
 * @param err everything else
 * @param terminal whether somebody watches {@code err}: progress is drawn only then
 * @param directory what relative paths are relative to
 * @param home where the project lies, with its samples
 * @param interrupts how the user asks to stop
 * @param clock measures what is reported
 */
public record Console(
        InputStream in,
        PrintStream out,
        PrintStream err,
        boolean terminal,
        Path directory,
        Path home,
        Interrupts interrupts,
        Clock clock) {}
