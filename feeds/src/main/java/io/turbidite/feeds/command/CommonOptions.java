package io.turbidite.feeds.command;

import picocli.CommandLine.Option;

/** What every subcommand takes. Set by the parser. */
final class CommonOptions {
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this help.")
    boolean help;

    @Option(names = "--json", description = "Print for machines: one JSON object a line.")
    boolean json;

    @Option(names = "--debug", description = "Print the stack trace of an error.")
    boolean debug;
}
