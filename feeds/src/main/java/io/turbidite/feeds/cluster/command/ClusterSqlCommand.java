package io.turbidite.feeds.cluster.command;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.query.SqlRun;
import io.turbidite.ops.sql.Sql;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Asks a cluster in SQL. */
@Command(
        name = "sql",
        customSynopsis = "./turbidite cluster sql \"STATEMENT\" --dir DIR [options]",
        description = {
            "Run a statement of SQL on the nodes. Print its rows, or how many records it changed.",
            "SELECT, EXPLAIN, SHOW, DESCRIBE; CREATE and DROP of datasets and indexes; INSERT and UPSERT of values.",
        },
        sortOptions = false)
final class ClusterSqlCommand implements Callable<Integer> {
    private final ClusterAccess access;

    @Parameters(index = "0", paramLabel = "STATEMENT", description = "One statement.")
    private String statement = "";

    @Mixin
    private final DirectoryOption given = new DirectoryOption();

    @Option(names = "--csv", description = "Print the rows as CSV.")
    private boolean csv;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    ClusterSqlCommand(ClusterAccess access) {
        this.access = access;
    }

    @Override
    public Integer call() {
        if (csv && common.json) {
            throw new InvalidRequestException("--csv and --json: choose one");
        }
        List<String> arguments = new ArrayList<>(List.of("sql", "--dir", given.directory));
        if (csv) {
            arguments.add("--csv");
        }
        if (common.json) {
            arguments.add("--json");
        }
        if (common.debug) {
            arguments.add("--debug");
        }
        arguments.addAll(List.of("--", statement));
        return access.ask(
                given.directory,
                arguments,
                door -> new SqlRun(
                                access.console(), common.json, csv, common.debug, Sql.PLANNING_MAX)
                        .on(door.sql(), door.options(), statement));
    }
}
