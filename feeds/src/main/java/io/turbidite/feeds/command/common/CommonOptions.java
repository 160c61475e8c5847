package io.turbidite.feeds.command.common;

import picocli.CommandLine.Option;

/** What every subcommand takes. Set by the parser. */
public final class CommonOptions {
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this help.")
    boolean help;

    @Option(names = "--json", description = "Print for machines: one JSON object a line.")
    public boolean json;

    @Option(names = "--debug", description = "Print the stack trace of an error.")
    public boolean debug;
}
