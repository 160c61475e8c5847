package io.turbidite.feeds.cluster.command;

import picocli.CommandLine.Option;

/** The option that names the cluster. Set by the parser. */
final class DirectoryOption {
    @Option(
            names = "--dir",
            required = true,
            paramLabel = "DIR",
            description = "Directory of the cluster.")
    String directory = "";
}
